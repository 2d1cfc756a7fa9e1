"""aiter's build recipes: `optCompilerConfig.json` in, each JIT module's sources, include folders and generators out.

The file's strings are Python expressions that aiter evaluates. Here they are read, never run: f-strings over aiter's
folder names become paths named as in the repository; anything else stays as text and is reported as not interpreted.
"""

from __future__ import annotations

import ast
import json
import re

import msgspec

from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError

CONFIG = "aiter/jit/optCompilerConfig.json"
CK = "3rdparty/composable_kernel"

#: aiter's folder variables (aiter/jit/core.py), as paths of the repository
_FOLDERS = {
    "AITER_CSRC_DIR": "csrc",
    "AITER_META_DIR": "",
    "AITER_ROOT_DIR": "",
    "AITER_GRADLIB_DIR": "gradlib",
    "AITER_ASM_DIR": "hsa/{arch}",
    "CK_DIR": CK,
    "CK_3RDPARTY_DIR": CK,
    "CK_HELPER_DIR": "3rdparty/ck_helper",
}
_SOURCE_SUFFIXES = (".cu", ".cpp", ".cuh", ".h", ".hpp")


class Generator(msgspec.Struct, frozen=True):
    """A command that writes sources before the build (`blob_gen_cmd`).

    Attributes:
        script: the Python script, as a path of the repository; `{arch}` stands for the target.
        arguments: the rest of the command line, as written; `{}` is the output folder.
    """

    script: str
    arguments: str


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """How one JIT module is built.

    Attributes:
        module: its name in the file (`module_gemm_a8w8`).
        line: 1-based line of its entry.
        sources: source files, as paths of the repository; a folder in the recipe is listed file by file.
        missing: sources that the recipe names and the tree lacks.
        includes: further include folders.
        generators: commands that write sources first.
    """

    module: str
    line: int
    sources: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    generators: tuple[Generator, ...] = ()


def interpret(expression: str) -> str | None:
    """The text that a recipe's expression stands for, or None when it cannot be known without running it.

    Known are string literals, f-strings over aiter's folder variables, `get_asm_dir()`, the CSV variables (which
    become `{NAME}`) and `os.environ.get(NAME, default)` (which becomes its default).
    """
    try:
        node = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return _text(node)


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return str(node.value) if isinstance(node.value, str | int | float) else None
    if isinstance(node, ast.JoinedStr):
        parts = [_text(v.value) if isinstance(v, ast.FormattedValue) else _text(v) for v in node.values]
        return None if None in parts else "".join(p for p in parts if p is not None)
    if isinstance(node, ast.Name):
        if node.id in _FOLDERS:
            return _FOLDERS[node.id]
        return "{" + node.id + "}" if node.id.startswith("AITER_CONFIG") else None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "AITER_CONFIGS":
        return "{" + node.attr + "}"
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        if name == "get_asm_dir" and not node.args:
            return _FOLDERS["AITER_ASM_DIR"]
        if name == "get_gfx" and not node.args:
            return "{arch}"
        if name == "os.environ.get" and len(node.args) == 2:
            return _text(node.args[1])
    return None


def read_recipes(tree: AiterTree, text: str | None = None) -> dict[str, Recipe]:
    """All recipes of a tree, by module.

    Raises:
        SourceTreeError: the file is missing or no JSON object.
    """
    path = tree.absolute(CONFIG)
    try:
        text = path.read_text(encoding="utf-8") if text is None else text
        entries = json.loads(text)
    except (OSError, ValueError) as error:
        raise SourceTreeError(
            f"{path} cannot be read: {error}",
            expected="aiter's build recipes, a JSON object of modules",
            hint="install aiter again, or check the checkout",
        ) from error
    if not isinstance(entries, dict):
        raise SourceTreeError(f"{path} holds no JSON object", expected="module -> recipe", hint="check the checkout")
    lines = {
        m.group(1): text.count("\n", 0, m.start(1)) + 1 for m in re.finditer(r'^\s*"([\w.]+)"\s*:\s*\{', text, re.M)
    }
    return {
        name: _recipe(tree, name, lines.get(name, 1), entry)
        for name, entry in entries.items()
        if isinstance(entry, dict)
    }


def _recipe(tree: AiterTree, module: str, line: int, entry: dict[str, object]) -> Recipe:
    def texts(field: str) -> list[str]:
        value = entry.get(field, [])
        out = []
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, str):
                continue
            found = interpret(item)
            if found is not None and found.strip():
                out.append(found.strip())
        return out

    sources: list[str] = []
    missing: list[str] = []
    for source in texts("srcs"):
        name = re.sub(r"/{2,}", "/", source).lstrip("/")
        path = tree.absolute(name.rstrip("/"))
        if path.is_dir():
            inside = sorted(p.name for p in path.iterdir() if p.suffix in _SOURCE_SUFFIXES[:2])
            sources += [f"{name.rstrip('/')}/{leaf}" for leaf in inside]
        elif path.is_file():
            sources.append(name)
        else:
            missing.append(name)
    generators = []
    for command in texts("blob_gen_cmd"):
        script, _, arguments = command.partition(" ")
        generators.append(Generator(script.lstrip("/"), arguments.strip()))
    return Recipe(
        module=module,
        line=line,
        sources=tuple(sources),
        missing=tuple(missing),
        includes=tuple(re.sub(r"/{2,}", "/", i).strip("/") for i in texts("extra_include")),
        generators=tuple(generators),
    )
