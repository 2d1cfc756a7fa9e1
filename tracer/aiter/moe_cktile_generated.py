"""What aiter's generator writes for the two-stage MoE on CK-tile: a target in, instances and choosing functions out.

The whole script is evaluated as the JIT runs it, its `__main__` part included; the files that it writes stay in memory.
The wheel writes one function template a stage that chooses by block size, main (2026) one specialised struct for each
set of types, activation, bias and split of K. Their lines are led back to the templates in the table module.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any

import msgspec

from tracer.aiter import text
from tracer.aiter.cpp_source import CppSource
from tracer.aiter.evaluate import Evaluator
from tracer.aiter.generator_run import arguments, ended, functions, instantiations, surroundings, texts
from tracer.aiter.instances import Instance, instances_of
from tracer.aiter.records import WrittenFile
from tracer.aiter.tree import AiterTree

MODULE = "module_moe_cktile2stages"
FAMILY = "moe_cktile2stages"
FOLDER = "csrc/ck_tile_gemm_moe_2stages"
GENERATOR = f"{FOLDER}/gen_instances.py"
TABLES = f"{FOLDER}/moe_cktile2stages_common.py"
HEADER = f"{FOLDER}/include/moe_cktile2stages.h"
_TEMPLATES = "heuristic_dispatch_dict"
_BY_NAME = re.compile(r'\{"(\w+)", \1<([^<>]*)>\}')
_SPECIALISED = re.compile(r"\btemplate\s*<>\s*struct\s+(\w+)<([^<>]*)>\s*\{")
_CHOOSES = re.compile(r"_heuristic_dispatch(?!_common)\w*\.h$")
_ALIAS = re.compile(r"^using\s+(\w+)\s*=\s*([\w:]+);", re.MULTILINE)


class Chooser(msgspec.Struct, frozen=True, kw_only=True):
    """A generated function that chooses an instance.

    Attributes:
        name: the function template, or the struct whose `dispatch` it is.
        entry: the function in `source`.
        arguments: the template arguments that it is written for; () for a template of any.
        source: its C++; lines are those of the generated header.
        offset: what to add to a line to have the one in TABLES that it comes from.
    """

    name: str
    entry: str
    arguments: tuple[str, ...]
    source: CppSource
    offset: int


class TileGenerated(msgspec.Struct, frozen=True, kw_only=True):
    """What the generator writes.

    Attributes:
        instances: instance name -> the instance, from the tables.
        compiled: instance name -> the argument lists that it is instantiated with, plainly written.
        by_name: instance name -> the argument list that the look-up by name has; empty where there is no such look-up.
        choosers: the functions that choose.
        types: C++ names of aiter's header and the types that they stand for.
        functions: instance name -> the C++ that defines its function.
    """

    instances: dict[str, Instance]
    compiled: dict[str, tuple[tuple[str, ...], ...]]
    by_name: dict[str, tuple[str, ...]]
    choosers: tuple[Chooser, ...]
    types: dict[str, str]
    functions: dict[str, str]

    def chooser(self, name: str, arguments: tuple[str, ...]) -> Chooser | None:
        """The function that C++ picks for a name with its template arguments; None for the general template."""
        wanted = self.plain(arguments)
        for chooser in self.choosers:
            if chooser.name == name and (not chooser.arguments or self.plain(chooser.arguments) == wanted):
                return chooser
        return None

    def plain(self, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """Template arguments with aliases replaced by what they stand for."""
        return tuple(self.types.get(argument, argument) for argument in arguments)


def tile_generated(tree: AiterTree, arch: str) -> TileGenerated:
    """What the generator writes on a target.

    Raises:
        SourceTreeError: the generator or its tables can't be read, or not be evaluated.
    """
    scripts = tuple(text.read(tree.absolute(file)) for file in (GENERATOR, TABLES, HEADER))
    return _generated(tree, arch, scripts)


@lru_cache(maxsize=8)
def _generated(tree: AiterTree, arch: str, scripts: tuple[str, ...]) -> TileGenerated:
    files: dict[str, WrittenFile] = {}
    instances: dict[str, Instance] = {}
    tables = Evaluator(tree.absolute(TABLES), {"get_gfx": lambda: arch})
    asked: list[str] = [""]  # the tag of the template that was asked for last, and of the one that each file is made of
    tags: dict[str, str] = {}

    def kernels(stage: int) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            tag, made = tables.call(f"get_gemm{stage}_kernels_list", *args, **keywords)
            # the records change when the next list is asked for, so their names are taken now
            found = instances_of(made, FAMILY, TABLES, f"gemm{stage}_kernels_dict")
            instances.update({instance.name: instance for instance in found.values()})
            return tag, made

        return call

    def template(tag: str) -> Any:
        asked[0] = tag
        return tables.call("get_heuristic_dispatch_template", tag)

    def opened(path: str, mode: str = "w") -> WrittenFile:
        files[path] = WrittenFile()  # what is written again replaces what was there
        tags[path] = asked[0]
        return files[path]

    given = {
        "get_gemm1_kernels_list": kernels(1),
        "get_gemm2_kernels_list": kernels(2),
        "get_heuristic_dispatch_template": template,
    }
    script = Evaluator(tree.absolute(GENERATOR), {**tables.scope, **surroundings(files, opened, arch), **given})
    ended(script)
    written = texts(files)
    lines = _template_lines(tree)
    return TileGenerated(
        instances=instances,
        compiled=instantiations(written),
        by_name={
            name: arguments(types)
            for path, content in written.items()
            if path.endswith("_name_dispatch.h")
            for name, types in _BY_NAME.findall(content)
        },
        choosers=tuple(
            chooser
            for path, content in written.items()
            if tags[path] in lines and _CHOOSES.search(path)
            for chooser in _choosers(tree, content, lines[tags[path]] - 1)
        ),
        types=dict(_ALIAS.findall(scripts[2])),
        functions=functions(written),
    )


def _template_lines(tree: AiterTree) -> dict[str, int]:
    """Where the template of each tag begins in TABLES: the variable that the table of templates names."""
    starts: dict[str, int] = {}
    lines: dict[str, int] = {}
    for node in text.python_module(tree.absolute(TABLES)).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        if isinstance(node.value, ast.Constant):
            starts[node.targets[0].id] = node.value.lineno
        elif isinstance(node.value, ast.Dict) and node.targets[0].id == _TEMPLATES:
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Name) and value.id in starts:
                    lines[str(key.value)] = starts[value.id]
    return lines


def _choosers(tree: AiterTree, content: str, offset: int) -> list[Chooser]:
    """The functions of one generated header: of main's structs each, of the wheel's templates each."""
    path = tree.absolute(TABLES)
    structs = list(_SPECIALISED.finditer(content))
    if not structs:
        source = CppSource(path, content)
        return [Chooser(name=name, entry=name, arguments=(), source=source, offset=offset) for name in source.functions]
    found = []
    for number, struct in enumerate(structs):
        end = structs[number + 1].start() if number + 1 < len(structs) else len(content)
        alone = re.sub(r"[^\n]", " ", content[: struct.start()]) + content[struct.start() : end]
        found.append(
            Chooser(
                name=struct.group(1),
                entry="dispatch",
                arguments=arguments(struct.group(2)),
                source=CppSource(path, alone),
                offset=offset,
            )
        )
    return found
