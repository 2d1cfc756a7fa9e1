"""C++ that a Python script writes: the script's source in, the functions in its string templates out.

aiter and CK generate instances before a build. Their templates are Python strings: f-strings, `.format` templates, or
both in turn. Each long string is read as C++ with its placeholders as names (`{k.name}` becomes `KTRACE_k_name`), so
that what the generated code will call can be followed, and cited where it stands: in the generator.
"""

from __future__ import annotations

import ast
import re

import msgspec

from tracer.index.cpp_facts import Function, TypeAlias
from tracer.index.cpp_file import read_fragment

#: changes whenever the facts mean something else; part of the cache's key
FACTS_VERSION = 7

#: the name that stands for a placeholder begins with this
HOLE = "KTRACE_"
_CODE = re.compile(r"[;{}]\s*(?:\n|\Z|\\)|\)\s*;|#\s*define\b|<<<")
#: a call that a script puts into templates by a variable's name
_BARE_CALL = re.compile(r"[A-Za-z_][\w:]{3,}\([\w\s.&*:]+(?:,[\w\s.&*:]+)+\)")
_WORD = re.compile(r"[A-Za-z_]\w{5,60}")
_PREFIX = re.compile(r"(?:\b([rRbBuUfF]{1,2}))?('''|\"\"\"|'|\")")
_ALONE = re.compile(r"^[ \t]*\{[\w.\[\]'\"]+\}[ \t]*;?[ \t]*$", re.MULTILINE)


class ScriptFacts(msgspec.Struct, frozen=True, array_like=True):
    """What one generator script states.

    Attributes:
        functions: functions, macros and fragments in its templates; a fragment is named after the Python variable.
        types: classes and aliases in its templates.
        imports: modules it imports from its own folder or package, as dotted names.
        includes: what its templates include, placeholders in braces (`common{quanttype}.cuh`).
        capitals: macro names that its text mentions; one that ends with `{` is the beginning of a name.
        words: identifier-like string literals (an instance name begins with one of them).
        error: why it could not be parsed, or "".
    """

    functions: tuple[Function, ...] = ()
    types: tuple[TypeAlias, ...] = ()
    imports: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    capitals: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    error: str = ""


def read_script(data: bytes) -> ScriptFacts:
    """The facts of a generator script's bytes."""
    text = data.decode("utf-8", errors="replace")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return ScriptFacts(error=str(error))
    lines = text.split("\n")
    functions: list[Function] = []
    types: list[TypeAlias] = []
    words: set[str] = set()
    for name, node in _strings(tree):
        segment = _segment(lines, node)
        word = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if _WORD.fullmatch(word):
            words.add(word)
        bare_call = _BARE_CALL.fullmatch(word) is not None
        if not bare_call and (len(segment) < 40 or not _CODE.search(segment)):
            continue
        code = word + ";" if bare_call else template_code(segment)
        if code is not None:
            found, named = read_fragment(code.encode("latin-1", "replace").decode("latin-1"), node.lineno, name)
            functions += found
            types += named
    includes = dict.fromkeys(re.findall(r'#\s*include\s*"([^"\n]+)"', text))
    capitals = sorted(set(re.findall(r"\b[A-Z][A-Z0-9_]{7,}\{?", text)))
    return ScriptFacts(
        tuple(functions),
        tuple(types),
        tuple(_imports(tree)),
        tuple(includes),
        tuple(capitals),
        tuple(sorted(words)),
    )


def _imports(tree: ast.Module) -> list[str]:
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(dict.fromkeys(a.name for a in node.names))
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            found[base] = None
            found.update(dict.fromkeys(f"{base}.{a.name}" if node.module else base + a.name for a in node.names))
    return list(found)


def _strings(tree: ast.Module) -> list[tuple[str, ast.expr]]:
    """The outermost string expressions but docstrings, with the name that each is assigned to or stands in."""
    out: list[tuple[str, ast.expr]] = []
    stack: list[tuple[str, ast.AST]] = [("", tree)]
    while stack:
        name, node = stack.pop()
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            out.append((name, node))
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Attribute):
            name = ast.unparse(node.targets[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        stack += [(name, child) for child in ast.iter_child_nodes(node)]
    out.sort(key=lambda item: item[1].lineno)
    return out


def _segment(lines: list[str], node: ast.expr) -> str:
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    if first == last:
        return lines[first].encode()[node.col_offset : node.end_col_offset].decode("utf-8", "replace")
    head = lines[first].encode()[node.col_offset :].decode("utf-8", "replace")
    tail = lines[last].encode()[: node.end_col_offset].decode("utf-8", "replace")
    return "\n".join([head, *lines[first + 1 : last], tail])


def template_code(segment: str) -> str | None:
    """The C++ of a string expression's source text, line for line; None when it is no chain of literals."""
    parts: list[str] = []
    at = 0
    formatted = False
    while at < len(segment):
        m = _PREFIX.search(segment, at)
        if m is None:
            parts.append("\n" * segment.count("\n", at))
            break
        prefix, quote = (m.group(1) or "").lower(), m.group(2)
        parts.append("\n" * segment.count("\n", at, m.start()))
        end = _literal_end(segment, m.end(), quote)
        if end < 0:
            return None
        body = segment[m.end() : end]
        if "r" not in prefix:
            body = _unescape(body)
        if "f" in prefix:
            formatted = True
            body = _fill(body)
        parts.append(body)
        at = end + len(quote)
    code = "".join(parts)
    while "{{" in code or (not formatted and _ALONE.search(code)):
        before = code
        code = _fill(code)
        formatted = True
        if code == before:
            break
    return code


def _literal_end(text: str, start: int, quote: str) -> int:
    i = start
    while i < len(text):
        if text[i] == "\\":
            i += 2
            continue
        if text.startswith(quote, i):
            return i
        i += 1
    return -1


def _unescape(body: str) -> str:
    """Escapes, without moving lines: an escaped line end becomes a space, a doubled backslash one."""
    return re.sub(
        r"\\(\n|.)", lambda m: {"\n": " \n", "\\": "\\", "n": "  ", "t": "  "}.get(m.group(1), m.group(1)), body
    )


def _fill(code: str) -> str:
    """One round of formatting: doubled braces become single ones, placeholders become names."""
    out: list[str] = []
    i = 0
    while i < len(code):
        c = code[i]
        if code.startswith("{{", i) or code.startswith("}}", i):
            out.append(c)
            i += 2
        elif c == "{":
            end = _placeholder_end(code, i)
            if end < 0:
                out.append(c)
                i += 1
                continue
            name = hole_name(code[i + 1 : end])
            alone = code.rfind("\n", 0, i) + 1
            rest = code[end + 1 : code.find("\n", end) if code.find("\n", end) >= 0 else len(code)]
            if not code[alone:i].strip() and not rest.strip():
                name += "();"  # a placeholder on a line of its own stands for statements or declarations
            out.append(name + "\n" * code.count("\n", i, end))
            i = end + 1
        else:
            out.append(c)
            i += 1
    return "".join(out)


def _placeholder_end(code: str, start: int) -> int:
    depth = 0
    for i in range(start, min(len(code), start + 400)):
        depth += (code[i] == "{") - (code[i] == "}")
        if depth == 0:
            return i
    return -1


def hole_name(expression: str) -> str:
    """The name that stands for a placeholder: its last word (`k.name` -> `KTRACE_k_name`)."""
    words = re.findall(r"[A-Za-z_]\w*", expression.split("!")[0].split(":")[0]) or re.findall(r"\w+", expression)
    return HOLE + "_".join(words[:4])
