"""How each op looks its tuned config up: an op's name in, the key columns and padding levels of its look-up out.

The columns, the levels and the config variable are read from the text of aiter's own look-up function, so an answer
holds for the aiter at hand and cites the line where it stands.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from tracer.aiter import text
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError

#: op -> the Python file and the function in it that consults the tuned config
ENTRIES: dict[str, tuple[str, str]] = {
    "gemm_a8w8": ("aiter/ops/gemm_op_a8w8.py", "gemm_a8w8_CK"),
    "gemm_a8w8_ASM": ("aiter/ops/gemm_op_a8w8.py", "gemm_a8w8_ASM"),
    "gemm_a8w8_bpreshuffle": ("aiter/ops/gemm_op_a8w8.py", "gemm_a8w8_bpreshuffle"),
    "gemm_a8w8_blockscale": ("aiter/ops/gemm_op_a8w8.py", "gemm_a8w8_blockscale"),
    "gemm_a8w8_blockscale_bpreshuffle": ("aiter/ops/gemm_op_a8w8.py", "gemm_a8w8_blockscale_bpreshuffle"),
    "gemm_a4w4": ("aiter/ops/gemm_op_a4w4.py", "gemm_a4w4"),
    "batched_gemm_a8w8": ("aiter/ops/batched_gemm_op_a8w8.py", "batched_gemm_a8w8_CK"),
    "batched_gemm_bf16": ("aiter/ops/batched_gemm_op_bf16.py", "batched_gemm_bf16_CK"),
    "gemm_a16w16": ("aiter/tuned_gemm.py", "gemm_a16w16"),
    "fused_moe": ("aiter/fused_moe.py", "fused_moe_"),
}
#: the op whose rows are told apart by tokens, experts and both widths in place of M, N and K
FUSED_MOE = "fused_moe"
_VARIABLE = re.compile(r"\b(AITER_CONFIG_\w+)_FILE\b")


class LookupRule(msgspec.Struct, frozen=True):
    """One op's look-up.

    Attributes:
        op: the op.
        file, line: the look-up function.
        function: its name.
        variable: the environment variable of the CSVs.
        keys: the index columns that the function builds its table with, first choice first (main takes the one
            with `gfx` where the table has that column).
        levels: padding levels that are tried, in order (None: M as it is).
        ignored: key columns that in effect are not compared.
        first_wins: of rows with one key the first counts (else aiter's look-up raises).
    """

    op: str
    file: str
    line: int
    function: str
    variable: str
    keys: tuple[tuple[str, ...], ...]
    levels: tuple[int | None, ...]
    ignored: tuple[str, ...] = ()
    first_wins: bool = False


def ops() -> tuple[str, ...]:
    """The ops whose look-ups ktrace knows."""
    return tuple(ENTRIES)


def lookup_rule(tree: AiterTree, op: str) -> LookupRule:
    """The look-up of an op, read from this aiter.

    Raises:
        KeyError: no such op is known.
        SourceTreeError: the function is not there, or looks nothing up in a way that ktrace knows.
    """
    file, entry = ENTRIES[op]
    path = tree.absolute(file)
    return _rule(text.read(path), path, op, file, entry)


@lru_cache(maxsize=32)
def _rule(source: str, path: Path, op: str, file: str, entry: str) -> LookupRule:
    del source  # part of the cache's key
    functions = {n.name: n for n in ast.walk(text.python_module(path)) if isinstance(n, ast.FunctionDef)}
    if entry not in functions:
        raise SourceTreeError(f"{file} defines no function {entry}", hint="this aiter has no such op")
    for call in _calls(functions[entry]):
        name = _called(call)
        if name not in functions or name == entry:
            continue
        function = functions[name]
        helpers = [functions[n] for c in _calls(function) if (n := _called(c)) in functions and n != name]
        keys = tuple(dict.fromkeys(columns for node in (function, *helpers) for columns in _index_columns(node)))
        if not keys:
            continue
        variable = next(
            (v for node in (call, function, *helpers) for v in _VARIABLE.findall(ast.unparse(node)) if v), None
        )
        if variable is not None:
            return LookupRule(
                op,
                file,
                function.lineno,
                name,
                variable,
                keys,
                _levels(function),
                tuple(dict.fromkeys(c for node in (function, *helpers) for c in _ignored(node, keys[0]))),
                any("duplicated(" in ast.unparse(node) for node in (function, *helpers)),
            )
    raise SourceTreeError(
        f"{file}: {entry} consults no tuned config in a way that ktrace knows",
        expected="a call of a function that builds a table with set_index([...])",
    )


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    found = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    return iter(sorted(found, key=lambda n: (n.lineno, n.col_offset)))


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _index_columns(function: ast.FunctionDef) -> Iterator[tuple[str, ...]]:
    named = {ast.unparse(node.targets[0]): node.value for node in ast.walk(function) if isinstance(node, ast.Assign)}
    for call in _calls(function):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "set_index" and call.args:
            columns = named.get(ast.unparse(call.args[0]), call.args[0])
            if isinstance(columns, ast.List) and all(isinstance(item, ast.Constant) for item in columns.elts):
                yield tuple(str(item.value) for item in columns.elts if isinstance(item, ast.Constant))


def _ignored(function: ast.FunctionDef, columns: tuple[str, ...]) -> tuple[str, ...]:
    """`act_type`, where the key holds the enum itself: it never equals the CSV's text, and any row then fits."""
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "keys"
            and isinstance(node.value, ast.Tuple)
        ):
            written = dict(zip(columns, map(ast.unparse, node.value.elts), strict=False))
            return ("act_type",) if written.get("act_type") == "activation" else ()
    return ()


def _levels(function: ast.FunctionDef) -> tuple[int | None, ...]:
    for node in ast.walk(function):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.List | ast.Tuple):
            values = [item.value for item in node.iter.elts if isinstance(item, ast.Constant)]
            if len(values) == len(node.iter.elts) and all(v is None or isinstance(v, int) for v in values):
                return tuple(v if isinstance(v, int) else None for v in values)
    return (None,)


def fp8_dtype(tree: AiterTree, arch: str) -> str | None:
    """The fp8 type that this aiter takes on a target ("torch.float8_e4m3fnuz"); None when it states none for it."""
    path = tree.absolute("aiter/utility/dtypes.py")
    if not path.is_file():
        return None
    for node in text.python_module(path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "defaultDtypes":
            assert isinstance(node.value, ast.Dict)
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == arch:
                    found = re.search(r"'fp8': (torch\.\w+)", ast.unparse(value))
                    return found.group(1) if found else None
    return None


def defaults(tree: AiterTree, op: str, arch: str | None) -> dict[str, str]:
    """What the key columns other than the shape are when a caller says nothing: the op's own defaults.

    `gemm_a8w8` on main looks rows up by the weight's type, which a caller decides: int8 stands in for it there.
    """
    if op == "gemm_a8w8_bpreshuffle" and arch is not None:
        dtype = fp8_dtype(tree, arch)
        return {"q_dtype_w": dtype} if dtype else {}
    if op in ("gemm_a8w8", "gemm_a8w8_ASM"):
        return {"q_dtype_w": "torch.int8"}
    if op == FUSED_MOE:
        return {
            "act_type": "ActivationType.Silu",
            "dtype": "torch.bfloat16",
            "q_dtype_a": "torch.bfloat16",
            "q_dtype_w": "torch.bfloat16",
            "q_type": "QuantType.No",
            "use_g1u1": "1",
            "doweight_stage1": "0",
        }
    if op == "gemm_a16w16":
        return {
            "bias": "False",
            "dtype": "torch.bfloat16",
            "outdtype": "torch.bfloat16",
            "scaleAB": "False",
            "bpreshuffle": "False",
        }
    return {}
