"""What aiter's generator writes for a module of the two-stage CK MoE: a module's name in, look-up and heuristics out.

aiter builds one module for each set of types, activation and quantisation, and the generator writes both the look-up
table by name and the C++ that chooses where no name is passed. Its own Python is evaluated; nothing is run or written.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

import msgspec

from tracer.aiter import text
from tracer.aiter.cpp_source import CppSource
from tracer.aiter.evaluate import Evaluator
from tracer.aiter.instances import Instance, instances_of
from tracer.aiter.records import Namespace, Record, WrittenFile
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError

FAMILY = "moe_ck2stages"
MODULE = f"module_{FAMILY}"
FOLDER = "csrc/ck_gemm_moe_2stages_codegen"
GENERATOR = f"{FOLDER}/gen_instances.py"
TABLES = f"{FOLDER}/gemm_moe_ck2stages_common.py"
_CLASS = "ck_moe_2stage_gemm_codegen"
_LOOKUP = "gemm_moe_ck2stages_lookup.h"
_NAME = re.compile(
    rf"{MODULE}_(?P<a>[a-z0-9]+)_(?P<b>[a-z0-9]+)_preshuffle_(?P<preshuffle>on|off)_(?P<c>[a-z0-9]+)_(?P<act>[a-z0-9]+)"
    r"_(?P<quant>\w+?)_mulWeightStage(?P<stage>[12])(?P<splitk>_splitk)?$"
)


class MoeModule(msgspec.Struct, frozen=True):
    """What a module's name says it is built for: the words that aiter's `get_moe_stage_module` puts into it."""

    a: str
    b: str
    c: str
    activation: str
    quant: str
    weight_stage: int
    preshuffle: bool
    splitk: bool

    @property
    def name(self) -> str:
        """The module's name, as aiter's `get_moe_stage_module` writes it."""
        words = (
            *(MODULE, self.a, self.b, "preshuffle", "on" if self.preshuffle else "off", self.c, self.activation),
            *(self.quant, f"mulWeightStage{self.weight_stage}", *(["splitk"] if self.splitk else [])),
        )
        return "_".join(words)


class Generated(msgspec.Struct, frozen=True):
    """What the generator writes.

    Attributes:
        lookup: instance name -> the kernel's C++ template with its arguments, plainly written.
        heuristics: stage -> the C++ that chooses, parsed; lines are those of the generated header.
        lines: stage -> line of the generated header -> line of the generator script that it comes from.
        instances: instance name -> the instance, from the tables.
        headers: instance name -> aiter's header that defines the kernel's function.
    """

    lookup: dict[str, str]
    heuristics: dict[int, CppSource]
    lines: dict[int, dict[int, int]]
    instances: dict[str, Instance]
    headers: dict[str, str]

    def named(self, template: str) -> str | None:
        """The instance that a template with its arguments is; None for one that the module does not have."""
        wanted = plain(template)
        return next((name for name, written in self.lookup.items() if written == wanted), None)


def module_of(name: str) -> MoeModule | None:
    """What a JIT module's name says; None for the name of another module."""
    found = _NAME.match(name)
    if found is None:
        return None
    return MoeModule(
        found["a"],
        found["b"],
        found["c"],
        found["act"],
        found["quant"],
        int(found["stage"]),
        found["preshuffle"] == "on",
        found["splitk"] is not None,
    )


def generated(tree: AiterTree, module: MoeModule, arch: str) -> Generated:
    """What the generator writes for a module on a target.

    Raises:
        SourceTreeError: the generator or its tables can't be read, or not be evaluated, or they raise.
    """
    scripts = tuple(text.read(tree.absolute(file)) for file in (GENERATOR, TABLES))
    try:
        return _generated(tree, module, arch, scripts)
    except ValueError as error:
        raise SourceTreeError(f"{GENERATOR} refuses to write such a module: {error}") from None


@lru_cache(maxsize=16)
def _generated(tree: AiterTree, module: MoeModule, arch: str, scripts: tuple[str, str]) -> Generated:
    files: dict[str, WrittenFile] = {}
    kept: list[dict[int, Record]] = []
    tables = Evaluator(tree.absolute(TABLES), {"get_gfx": lambda: arch})

    def kernels(name: str) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            tag, made = tables.call(name, *args, **keywords)
            kept.append(made)
            return tag, made

        return call

    given = {
        "get_gemm1_kernels_list": kernels("get_gemm1_kernels_list"),
        "get_gemm2_kernels_list": kernels("get_gemm2_kernels_list"),
        "ACT_OP_MAP": tables.scope.get("ACT_OP_MAP"),
        "open": lambda path, mode="r": files.setdefault(path, WrittenFile()),
        "os": Namespace({
            "path": Namespace({"join": lambda *parts: "/".join(parts), "exists": lambda path: path in files}),
            "makedirs": lambda path, exist_ok=False: None,
            "remove": lambda path: None,
        }),
    }  # fmt: skip
    script = Evaluator(tree.absolute(GENERATOR), given)
    script.call("generate_instance_and_lookUpTable_head", "")
    _codegen(script, module, scripts[0]).get("generate_instance_and_lookUpTable")()
    script.call("generate_instance_and_lookUpTable_end", "")
    written = {PurePosixPath(path).name: "".join(file.pieces) for path, file in files.items()}
    heuristics, lines = {}, {}
    for stage in (1, 2):
        content = written.get(f"ck2stages_moe_stage{stage}_heuristic_dispatch.hpp", "")
        heuristics[stage] = CppSource(tree.absolute(GENERATOR), _simple(content))
        lines[stage] = _lines(script, content)
    return Generated(
        {name: plain(template) for name, template in _entries(written.get(_LOOKUP, ""))},
        heuristics,
        lines,
        _instances(tables, kept),
        _headers(written),
    )


def _codegen(script: Evaluator, module: MoeModule, source: str) -> Record:
    """The generator's object for a module, as the command line of aiter's recipe makes it."""
    quants: dict[str, int] = next(
        (
            ast.literal_eval(node.value)
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "quant_dict"
        ),
        {},
    )
    if module.quant not in quants:
        raise SourceTreeError(f"{GENERATOR} knows no quantisation {module.quant!r}", expected=", ".join(quants))
    # aiter passes --preshuffle for fp4 weights only; the class without `splitk` is that of 2025
    words = {
        "working_path": "",
        "a_dtype": module.a,
        "b_dtype": module.b,
        "c_dtype": module.c,
        "quant_type": quants[module.quant],
        "activation": module.activation,
        "mul_routed_weight_stage": module.weight_stage,
        "preshuffle": module.preshuffle and module.b == "fp4x2",
        "splitk": module.splitk,
    }
    classes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ClassDef) and n.name == _CLASS]
    named = [a.arg for node in classes for f in node.body if isinstance(f, ast.FunctionDef) for a in f.args.args]
    kind = script.value(_CLASS)
    made: Record = kind.make([], {word: value for word, value in words.items() if word in named}, 0)
    return made


def _entries(lookup: str) -> list[tuple[str, str]]:
    """(instance name, template) of the written look-up table."""
    joined = re.sub(r"\s*\\\n\s*", " ", lookup)
    return [(name, template) for name, template in re.findall(r'\{"([^"]+)",\s*(ck_moe_stage\d_gemm<.*?>)\}', joined)]


def plain(template: str) -> str:
    """A template with its arguments, comparable: constants worked out, one blank after each comma."""
    return re.sub(r"\s*,\s*", ", ", _simple(template)).strip()


#: bytes of the element types that the generator divides by (csrc/ck_gemm_moe_2stages_codegen/gemm_moe_ck2stages.h)
_SIZES = {"I4": 1, "I8": 1, "F8": 1, "FP4X2": 1, "F16": 2, "B16": 2, "F32": 4, "I32": 4}


def _simple(content: str) -> str:
    """Generated C++ with its constant expressions worked out, line for line."""
    content = re.sub(r"(\d+)\s*/\s*sizeof\((\w+)\)", lambda f: str(int(f[1]) // _SIZES.get(f[2], 1)), content)
    per_tensor = r"(\d+) == static_cast<int>\(QuantType::per_Tensor\)"
    content = re.sub(per_tensor, lambda f: "true" if f[1] == "1" else "false", content)
    return re.sub(r"dtype_checker<(\w+)>\{\}\(", r"is_\1(", content)


def _lines(script: Evaluator, content: str) -> dict[int, int]:
    """For each line of a generated header the line of the script's template that it comes from."""
    found: dict[int, int] = {}
    for node in text.python_module(script.path).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        template = node.value.value
        if not isinstance(template, str) or template.count("\n") < 3 or template.lstrip().startswith("#pragma once"):
            continue
        pattern = re.escape(template.strip("\n")).replace(r"\{\{", r"\{").replace(r"\}\}", r"\}")
        place = re.search(re.sub(r"\\\{\w+\\\}", r"[^\\n]*?", pattern), content)
        if place is not None:
            first = content.count("\n", 0, place.start()) + 1
            skipped = len(template) - len(template.lstrip("\n"))
            for offset in range(place.group(0).count("\n") + 1):
                found[first + offset] = node.lineno + skipped + offset
    return found


def _instances(tables: Evaluator, kept: list[dict[int, Record]]) -> dict[str, Instance]:
    known: dict[str, Instance] = {}
    for stage, records in enumerate(kept, 1):
        made = instances_of(records, FAMILY, TABLES, f"gemm{stage}_kernels_dict")
        known.update({instance.name: instance for instance in made.values()})
    return known


def _headers(written: dict[str, str]) -> dict[str, str]:
    found = {}
    for name, content in written.items():
        included = re.search(r'#include "(gemm_moe_ck2stages_common\w*\.cuh)"', content)
        if included is not None and name.endswith(".cu"):
            found[name.removesuffix(".cu")] = f"{FOLDER}/{included.group(1)}"
    return found
