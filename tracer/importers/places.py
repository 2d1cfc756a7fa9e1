"""Names of Python functions as torch.profiler writes them: `path/file.py(123): function` in, function and place out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import msgspec

from tracer.model.capture import Frame
from tracer.model.source import SourceRef
from tracer.resolve.filters import hidden_by
from tracer.resolve.layers import recognise

#: line 123 is where the function is defined: the profiler reads it as the frame is entered
_FUNCTION = re.compile(r"(?P<file>.*)\((?P<line>-?\d+)\): (?P<function>.*)", re.DOTALL)
_PACKAGES = re.compile(r"(?:^|.*/)(?:site-packages|dist-packages)/(.+)")
_STANDARD_LIBRARY = re.compile(r"(?:^|.*/)lib(?:64)?/python3\.\d+/(.+)")
#: packages that people run from a checkout, so that the path says more than the package's own tree
_CHECKED_OUT = frozenset(
    {"aiter", "sglang", "vllm", "triton", "torch", "transformers", "flash_attn", "xformers", "atom"}
)

#: parts of a name that differ from run to run or from layer to layer: an object's address, a module's number
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MODULE_NUMBER = re.compile(r"^(nn\.Module: .*?)_\d+$")


class FrameName(msgspec.Struct, frozen=True):
    """A Python function's name in a trace, read.

    Attributes:
        function: the function's name; for anything but a Python file, the whole name.
        source: the file relative to its package's tree, and the line of the definition; None for C functions and
            modules.
    """

    function: str
    source: SourceRef | None = None


def _within_tree(path: str) -> tuple[str, str | None]:
    """The path inside its package's tree, and the tree's name where the path shows it."""
    installed = _PACKAGES.match(path)
    if installed is not None:
        return installed[1], installed[1].split("/")[0].removesuffix(".py")
    standard = _STANDARD_LIBRARY.match(path)
    if standard is not None:
        return standard[1], "python"
    parts = path.split("/")
    for index, part in enumerate(parts[:-1]):
        if part not in _CHECKED_OUT:
            continue
        # a checkout's folder carries its package's name, perhaps with python/ between
        inner = next((i for i in (index + 1, index + 2) if parts[i : i + 1] == [part] and i < len(parts) - 1), index)
        return "/".join(parts[inner:]), part
    if path.startswith("/"):
        return path.lstrip("/"), None
    return path, parts[0] if len(parts) > 1 else None


@cache
def read_frame_name(name: str) -> FrameName:
    """Reads one name."""
    found = _FUNCTION.fullmatch(name)
    if found is None or found["file"].startswith("<"):
        return FrameName(name)
    file, tree = _within_tree(found["file"].replace("\\", "/"))
    line = int(found["line"])
    return FrameName(found["function"], SourceRef(file, line if line > 0 else None, tree))


def general_name(name: str) -> str:
    """The name without what differs between equal calls: object addresses and module numbers."""
    if name.startswith("nn.Module: "):
        return _MODULE_NUMBER.sub(r"\1", name)
    return _ADDRESS.sub("", name) if name.startswith("<") else name


@cache
def _is_own(name: str) -> bool:
    read = read_frame_name(name)
    frame = Frame(id=0, function=read.function, source=read.source)
    return read.source is not None and recognise(frame) is None and hidden_by(frame) is None


def own_place(stack: Sequence[str]) -> str | None:
    """The innermost frame of a stack that is neither a library's machinery nor a JIT layer, as `function file:line`."""
    for name in reversed(stack):
        if _is_own(name):
            read = read_frame_name(name)
            assert read.source is not None
            return f"{read.function} {read.source.file}:{read.source.line}"
    return None
