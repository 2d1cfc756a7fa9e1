"""A run of one of aiter's generators as the JIT starts it: its script evaluated, the files that it writes in memory.

The command line names a folder to write to and nothing else; the disk is empty, and only the target is known.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from tracer.aiter.evaluate import Evaluator
from tracer.aiter.records import Namespace, WrittenFile
from tracer.aiter.tree import AiterTree

#: an instantiation as the generators write it: the instance's name, and its argument list
_MADE = re.compile(r"^template torch::Tensor\s+(\w+)<([^<>]*)>\(", re.MULTILINE)


def surroundings(files: dict[str, WrittenFile], opened: Callable[..., WrittenFile], arch: str) -> dict[str, Any]:
    """What a script finds around it.

    Args:
        files: what it has written so far, by path; `opened` adds to it.
        opened: what `open` and `Path` are.
        arch: the target.
    """
    command_line = Namespace({"working_path": ""})
    parser = Namespace({"add_argument": lambda *names, **how: None, "parse_args": lambda: command_line})
    return {
        "__name__": "__main__",
        "get_gfx": lambda: arch,
        "get_gfx_list": lambda: [arch],
        "argparse": Namespace({"ArgumentParser": lambda **how: parser}),
        "isinstance": isinstance,
        "itertools": Namespace({"product": lambda *lists: list(itertools.product(*lists))}),
        "open": opened,
        "Path": opened,
        "re": Namespace({"findall": re.findall}),
        "os": Namespace({
            "path": Namespace({"join": lambda *parts: "/".join(parts), "exists": lambda path: path in files}),
            "mkdir": lambda path: None,
        }),
    }  # fmt: skip


def written_files(tree: AiterTree, generator: str, tables: str, arch: str) -> dict[str, str]:
    """What a generator writes on a target, by path.

    Args:
        tree: the aiter.
        generator: its script, relative to the tree.
        tables: the module of its tables, whose names it imports.
        arch: the target.

    Raises:
        SourceTreeError: a script can't be read, or not be evaluated.
    """
    files: dict[str, WrittenFile] = {}

    def opened(path: str, mode: str = "w") -> WrittenFile:
        files[path] = WrittenFile()  # what is written again replaces what was there
        return files[path]

    scope = Evaluator(tree.absolute(tables), {"get_gfx": lambda: arch}).scope
    ended(Evaluator(tree.absolute(generator), {**scope, **surroundings(files, opened, arch)}))
    return texts(files)


def ended(script: Evaluator) -> None:
    """Sees that a script came to its end. Raises SourceTreeError with the reason when it could not be evaluated."""
    script.value("codegen")  # set in the `__main__` part


def texts(files: dict[str, WrittenFile]) -> dict[str, str]:
    """The text of each file."""
    return {path: "".join(file.pieces) for path, file in files.items()}


def instantiations(written: dict[str, str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Instance name -> the argument lists that written files instantiate it with."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for content in written.values():
        for name, types in _MADE.findall(content):
            found[name] = (*found.get(name, ()), arguments(types))
    return found


def functions(written: dict[str, str]) -> dict[str, str]:
    """Instance name -> the text of the file of its name, which defines its function."""
    return {PurePosixPath(path).stem: content for path, content in written.items() if path.endswith(".cuh")}


def arguments(types: str) -> tuple[str, ...]:
    """The arguments of a plainly written list."""
    return tuple(part.strip() for part in types.split(","))
