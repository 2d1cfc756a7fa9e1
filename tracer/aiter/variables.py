"""Which tuned CSVs aiter knows: `aiter/jit/core.py` in, the config variables and the merge rules of this aiter out.

The rules are read from aiter's own text (by its syntax tree, nothing is run), so no table of versions is needed.
"""

from __future__ import annotations

import ast
from functools import lru_cache

import msgspec

from tracer.aiter import text
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError

CORE = "aiter/jit/core.py"


class ConfigVariable(msgspec.Struct, frozen=True):
    """One environment variable that names tuned CSVs.

    Attributes:
        name: the environment variable ("AITER_CONFIG_GEMM_A8W8_BLOCKSCALE").
        default: the shipped file that is used when it is not set, relative to the tree.
        merge_name: stem of the merged file, and of the files under model_configs/ that join it.
        line: line of the `get_config_file` call in aiter/jit/core.py.
    """

    name: str
    default: str
    merge_name: str
    line: int

    @property
    def untuned(self) -> str:
        """The untuned CSV whose columns are the key of the merge: the last `tuned` in the stem becomes `untuned`."""
        return f"aiter/configs/{'untuned'.join(self.merge_name.rsplit('tuned', 1))}.csv"


class MergeRules(msgspec.Struct, frozen=True):
    """How `update_config_files` of this aiter merges several CSVs.

    Attributes:
        refuses_duplicates: rows of equal key raise (and rewrite the CSVs in place) instead of keeping the fastest.
        extra_keys: columns that join the untuned CSV's columns in the key, where the merged table has them.
        fills_columns: a column that one file lacks is filled in, instead of failing.
        pattern_end: how the glob over model_configs/ ends ("*" or "*.csv").
        untuned_in_path: the word `untuned` anywhere in the whole path excludes a file, not only in its name.
        line: line of the function in aiter/jit/core.py.
    """

    refuses_duplicates: bool
    extra_keys: tuple[str, ...]
    fills_columns: bool
    pattern_end: str
    untuned_in_path: bool
    line: int


def config_variables(tree: AiterTree) -> tuple[ConfigVariable, ...]:
    """Every config variable of this aiter, in the order of aiter/jit/core.py.

    Raises:
        SourceTreeError: core.py can't be read, or no variable is found in it.
    """
    return _scan(text.read(tree.absolute(CORE)))[0]


def config_variable(tree: AiterTree, name: str) -> ConfigVariable | None:
    """The config variable of this name; None when this aiter does not know it."""
    return next((v for v in config_variables(tree) if v.name == name), None)


def merge_rules(tree: AiterTree) -> MergeRules:
    """How this aiter merges. Raises SourceTreeError as config_variables does."""
    return _scan(text.read(tree.absolute(CORE)))[1]


@lru_cache(maxsize=8)
def _scan(source: str) -> tuple[tuple[ConfigVariable, ...], MergeRules]:
    module = ast.parse(source)
    defaults = {
        node.targets[0].id: _relative(node.value.args[1])
        for node in module.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and _name(node.value.func) == "getenv"
        and len(node.value.args) == 2
    }
    found: list[ConfigVariable] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _name(node.func) == "get_config_file" and len(node.args) == 3:
            env, default, stem = node.args
            if isinstance(env, ast.Constant) and isinstance(default, ast.Name) and isinstance(stem, ast.Constant):
                relative = defaults.get(default.id)
                if relative is not None:
                    found.append(ConfigVariable(str(env.value), relative, str(stem.value), node.lineno))
    functions = {node.name: node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}
    if not found or not {"update_config_files", "get_config_file"} <= functions.keys():
        raise SourceTreeError(
            f"{CORE} names no tuned configs in a way that ktrace knows",
            expected="get_config_file(...) calls, and the functions get_config_file and update_config_files",
            hint="this aiter is older or newer than the ones ktrace supports",
        )
    found.sort(key=lambda variable: variable.line)
    return tuple(found), _rules(functions["update_config_files"], functions["get_config_file"])


def _rules(update: ast.FunctionDef, get: ast.FunctionDef) -> MergeRules:
    raises = {_name(n.exc.func) for n in ast.walk(update) if isinstance(n, ast.Raise) and isinstance(n.exc, ast.Call)}
    appended = tuple(
        str(n.args[0].value)
        for n in ast.walk(update)
        if isinstance(n, ast.Call)
        and _name(n.func) == "append"
        and _name(getattr(n.func, "value", None)) == "keys"
        and isinstance(n.args[0], ast.Constant)
    )
    text_of_get = ast.unparse(get)
    return MergeRules(
        refuses_duplicates="RuntimeError" in raises,
        extra_keys=(*appended, *(("_tag",) if "'_tag'" in ast.unparse(update) else ())),
        fills_columns="_FILL_DEFAULTS" in ast.unparse(update),
        pattern_end="*.csv" if "*.csv" in text_of_get else "*",
        untuned_in_path="str(p)" in text_of_get and "p.name" not in text_of_get,
        line=update.lineno,
    )


def _name(node: ast.AST | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _relative(node: ast.expr) -> str:
    """`f"{AITER_ROOT_DIR}/aiter/configs/x.csv"` -> `aiter/configs/x.csv`."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant)).lstrip("/")
    return str(node.value) if isinstance(node, ast.Constant) else ""
