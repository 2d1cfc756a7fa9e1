"""HIP C++ made readable for a C++ parser: source text in, text of the same lines out that tree-sitter-cpp can parse.

tree-sitter's C++ grammar knows neither `<<<...>>>` nor attributes hidden in macros nor conditional branches that open the
same brace twice. They are blanked or rewritten here without moving any line; launches and kernel marks are noted first.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping

import msgspec

#: words that only decorate a declaration; CK's, HIP's and aiter's own spellings
_ATTRIBUTE_WORDS = frozenset(
    "__global__ __device__ __host__ __forceinline__ __noinline__ __inline__ __restrict__ __restrict __shared__ "
    "__constant__ __HOST_DEVICE__ CK_TILE_HOST_DEVICE CK_TILE_DEVICE CK_TILE_HOST CK_TILE_HOST_DEVICE_EXTERN "
    "CK_TILE_DEVICE_EXTERN CK_TILE_LDS_ADDR CK_LDS_ADDR C10_EXPORT C10_HOST_DEVICE".split()
)
#: what CK's spellings stand for; its headers are not always at hand
_MEANINGS = {
    "CK_TILE_HOST_DEVICE": "__host__ __device__", "CK_TILE_DEVICE": "__device__", "CK_TILE_HOST": "__host__",
    "CK_TILE_HOST_DEVICE_EXTERN": "__host__ __device__", "CK_TILE_DEVICE_EXTERN": "__device__",
}  # fmt: skip
_ATTRIBUTE_CALLS = re.compile(r"\b(?:__launch_bounds__|__attribute__|__align__|alignas|__cluster_dims__|_BitInt)\s*\(")
_COMMENT_OR_STRING = re.compile(
    r"//(?:[^\n\\]|\\\n|\\.)*"
    r"|/\*.*?(?:\*/|\Z)"
    r'|\bR"([^()\s\\]{0,16})\(.*?(?:\)\1"|\Z)'
    r'|"(?:[^"\\\n]|\\.|\\\n)*"?'
    r"|(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)*'?",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_OTHER_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?!include|define)\w+(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*", re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^()]*\))?((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_ASM = re.compile(r"\b(?:__asm__|asm)\b\s*(?:volatile|__volatile__)?\s*\(")
_BIT_CAST = re.compile(r"\b__builtin_bit_cast\s*\(")
_MACRO_LINE = re.compile(
    r"(?:^|(?<=[;{}:)]))[ \t]*(_?[A-Z][A-Z0-9_]{3,}(?:_[A-Za-z]+)?)[ \t]*(?=[(\n};])", re.MULTILINE
)
_EMPTY_DEFAULT = re.compile(r"=(\s*)\{\s*\}(?=\s*[,)>])")
_BARE_LAMBDA = re.compile(r"\[([&=]?)\](\s*)->")
_DEPENDENT = re.compile(r"(?<=[.>])(\s*)template(?=\s+\w+\s*\()")
_EXTERN_TEMPLATE = re.compile(r"\bextern(?=\s+template\b)")
_PRAGMA = re.compile(r"\b_Pragma\s*\(\s*\"[^\"\n]*\"\s*\)")
_LAUNCH_TAIL = re.compile(r"[\w:>)\s]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAMESPACE = re.compile(r"(?:\bnamespace\b[^;{}()]*|\bextern\s*\"[^\"]*\"\s*)\Z")
#: a macro body made of nothing but these is an attribute
_DECORATION = re.compile(
    r"(?:\b(?:inline|static|constexpr|extern|const|volatile|_Pragma)\b|\"C\"|__\w+__(?:\s*\([\w\s,*+]*\))?|__attribute__\s*\(\([^()]*(?:\([^()]*\))?[^()]*\)\)|"
    r"\bvisibility\b|\[\[[^\]]*\]\]|\s)*\Z"
)


class Macro(msgspec.Struct, frozen=True):
    """One `#define`.

    Attributes:
        name: its name.
        parameters: its parameters, or None for an object-like macro.
        body: replacement text with comments blanked and line continuations as plain line ends.
        line: 1-based line of the `#define`.
        end_line: its last line.
        body_line: line on which the body begins.
    """

    name: str
    parameters: tuple[str, ...] | None
    body: str
    line: int
    end_line: int
    body_line: int

    @property
    def is_attribute(self) -> bool:
        """Whether it stands for declaration specifiers only (`extern "C" __attribute__(...)`, `__device__ inline`)."""
        return self.parameters is None and bool(_DECORATION.match(self.body))


class Launch(msgspec.Struct, frozen=True):
    """One `kernel<<<grid, block, ...>>>` as it stands in the text.

    Attributes:
        kernel: the kernel expression before `<<<`, white space squeezed.
        configuration: the text between the chevrons.
        offset: offset of `<<<` in the prepared text.
    """

    kernel: str
    configuration: str
    offset: int


class Prepared(msgspec.Struct, frozen=True):
    """Text ready for the parser.

    Attributes:
        text: the prepared text (Latin-1 characters, so offsets are byte offsets); line numbers are those of the source.
        launches: the triple-chevron launches.
        global_marks: offsets at which `__global__` stood.
        device_marks: offsets at which `__device__` stood.
        host_marks: offsets at which `__host__` stood.
        extern_c_marks: offsets at which an `extern "C"` (or a macro that means it) stood.
        macros: the `#define`s of this file.
        macro_uses: (name, argument text, line, offset) of macro calls written as statements or declarations of their own.
    """

    text: str
    launches: tuple[Launch, ...]
    global_marks: tuple[int, ...]
    device_marks: tuple[int, ...]
    host_marks: tuple[int, ...]
    extern_c_marks: tuple[int, ...]
    macros: tuple[Macro, ...]
    macro_uses: tuple[tuple[str, str, int, int], ...] = ()


def blank(text: str) -> str:
    """Spaces of the same shape: line ends stay."""
    return re.sub(r"[^\n]", " ", text)


def mask(text: str, *, strings: bool = False) -> str:
    """The text with comments blanked, and with the contents of string and character literals blanked when asked."""

    def replace(m: re.Match[str]) -> str:
        found = m.group()
        if found.startswith("/"):
            return blank(found)
        if not strings:
            return found
        if len(found) < 2:
            return found
        return found[0] + blank(found[1:-1]) + found[-1]

    return _COMMENT_OR_STRING.sub(replace, text)


def closing(text: str, start: int, limit: int = 200_000) -> int:
    """Offset of the bracket that closes the one at `start`, or -1. Strings must be masked."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    stack: list[str] = []
    for m in re.compile(r"[()\[\]{}]").finditer(text, start, start + limit):
        c = m.group()
        if c in pairs:
            stack.append(pairs[c])
        elif not stack or stack.pop() != c:
            return -1
        if not stack:
            return m.start()
    return -1


def read_macros(text: str) -> tuple[Macro, ...]:
    """The `#define`s of a text whose comments are blanked."""
    starts = line_starts(text)
    macros = []
    for m in _DEFINE.finditer(text):
        parameters = m.group(2)
        names = None if parameters is None else tuple(p.strip() for p in parameters[1:-1].split(",") if p.strip())
        body = re.sub(r"\\(\r?\n)", r" \1", m.group(3))
        macros.append(
            Macro(
                m.group(1),
                names,
                body.rstrip(),
                line_at(starts, m.start(1)),
                line_at(starts, m.end() - 1 if m.end() > m.start() else m.end()),
                line_at(starts, m.start(3)),
            )
        )
    return tuple(macros)


def line_starts(text: str) -> list[int]:
    """Offsets at which the lines of a text begin."""
    return [0, *(m.end() for m in re.finditer(r"\n", text))]


def line_at(starts: list[int], offset: int) -> int:
    """1-based line of an offset."""
    return bisect.bisect_right(starts, offset)


def expand(macro: Macro, arguments: list[str], table: Mapping[str, Macro] | None = None, depth: int = 3) -> str:
    """A macro's body with its parameters replaced, on one line; `##` and `#` are carried out.

    With a `table`, function-like macros in the result are expanded too, `depth` levels deep.
    """
    body = " ".join(_PRAGMA.sub("", macro.body).split())
    if macro.parameters:
        names = list(macro.parameters)
        values = dict(zip(names, arguments, strict=False))
        if names[-1] == "...":
            values["__VA_ARGS__"] = ", ".join(arguments[len(names) - 1 :])
        for name in names:
            value = " ".join(values.get(name, "").split())
            body = re.sub(rf"(?<!#)#\s*{re.escape(name)}\b", lambda _, v=value: '"' + v.replace('"', "'") + '"', body)
        body = _WORD.sub(lambda m: " ".join(values.get(m.group(), m.group()).split()), body)
    body = re.sub(r"\s*##\s*", "", body)
    if not table or depth == 0:
        return body
    parts: list[str] = []
    done = 0
    masked = mask(body, strings=True)
    for m in re.finditer(r"\b(_?[A-Z][A-Z0-9_]{3,})\s*\(", masked):
        inner = table.get(m.group(1))
        end = closing(masked, m.end() - 1)
        if m.start() < done or inner is None or not inner.parameters or inner.name == macro.name or end < 0:
            continue
        parts += [body[done : m.start()], expand(inner, split_arguments(body[m.end() : end]), table, depth - 1)]
        done = end + 1
    return "".join([*parts, body[done:]])


def split_arguments(text: str) -> list[str]:
    """Splits an argument list at its top-level commas; brackets of all kinds nest, angle brackets do not."""
    parts: list[str] = []
    depth = 0
    start = 0
    for m in re.finditer(r"[()\[\]{},]", text):
        c = m.group()
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0:
            parts.append(text[start : m.start()].strip())
            start = m.end()
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


def prepare(
    source: str, macros: Mapping[str, Macro] | None = None, attributes: Mapping[str, Macro] | None = None
) -> Prepared:
    """Prepares one source text (see the module's docstring).

    Args:
        source: the file's bytes decoded as Latin-1.
        macros: macros of other files that may be used at namespace scope here; they are expanded in place there.
        attributes: macros of other files that only decorate declarations.
    """
    code = mask(source)
    own = read_macros(code)
    table = {**(attributes or {}), **(macros or {}), **{m.name: m for m in own}}
    code = _one_branch(code)
    code = _DEFINE.sub(lambda m: blank(m.group()), code)
    code = _OTHER_DIRECTIVE.sub(lambda m: blank(m.group()), code)
    code = _rewrite(_blank_asm(_blank_cast_types(code)))
    code, uses = _macro_lines(code, table)
    words = _ATTRIBUTE_WORDS.union(attributes or (), (m.name for m in own if m.is_attribute))
    return _attributes_and_launches(code, own, uses, words, table)


def _rewrite(code: str) -> str:
    """Spellings that the grammar refuses, in spellings of the same lines that it takes."""
    code = _EMPTY_DEFAULT.sub(lambda m: "=" + m.group(1) + "0" + blank(m.group()[2 + len(m.group(1)) :]), code)
    code = _BARE_LAMBDA.sub(r"[\1]()\2->", code)
    code = _DEPENDENT.sub(lambda m: m.group(1) + " " * len("template"), code)
    code = _EXTERN_TEMPLATE.sub("      ", code)
    return _PRAGMA.sub(lambda m: blank(m.group()), code)


def _blank_cast_types(code: str) -> str:
    """`__builtin_bit_cast(T, x)` takes a type as an argument, which the grammar refuses: the type is blanked."""
    parts: list[str] = []
    done = 0
    for m in _BIT_CAST.finditer(code):
        depth = 0
        for i in range(m.end(), min(len(code), m.end() + 200)):
            c = code[i]
            depth += (c in "<(") - (c in ">)")
            if depth < 0:
                break
            if c == "," and depth == 0:
                parts += [code[done : m.end()], blank(code[m.end() : i + 1])]
                done = i + 1
                break
    return "".join([*parts, code[done:]])


def _blank_asm(code: str) -> str:
    masked = mask(code, strings=True)
    parts: list[str] = []
    done = 0
    for m in _ASM.finditer(masked):
        if m.start() < done:
            continue
        end = closing(masked, m.end() - 1)
        if end < 0:
            continue
        parts += [code[done : m.start()], "0", blank(code[m.start() + 1 : end + 1])]
        done = end + 1
    return "".join([*parts, code[done:]])


def _one_branch(code: str) -> str:
    """Blanks conditional directives; of branches that leave the same brackets open, only the first is kept."""
    masked = mask(code, strings=True)
    stack: list[list[tuple[int, int, int]]] = []  # per #if: (start of branch, end of branch, -) and directive spans
    cuts: list[tuple[int, int]] = []
    for m in _DIRECTIVE.finditer(masked):
        word = m.group(1)
        if word in ("if", "ifdef", "ifndef"):
            stack.append([(m.start(), m.end(), 0)])
            continue
        if not stack:
            continue
        stack[-1].append((m.start(), m.end(), 0))
        if word == "endif":
            marks = stack.pop()
            branches = [(marks[i][1], marks[i + 1][0]) for i in range(len(marks) - 1)]
            if len(branches) > 1 and _balance(masked[slice(*branches[0])]) != (0, 0):
                cuts += branches[1:]
    out = _DIRECTIVE.sub(lambda m: blank(m.group()), code)
    for start, end in cuts:
        out = out[:start] + blank(out[start:end]) + out[end:]
    return out


def _balance(text: str) -> tuple[int, int]:
    return text.count("{") - text.count("}"), text.count("(") - text.count(")")


def namespace_depths(masked: str) -> list[tuple[int, bool]]:
    """(offset, whether the code after it stands at namespace scope) at each brace; strings must be masked."""
    out: list[tuple[int, bool]] = [(0, True)]
    stack: list[bool] = []
    for m in re.finditer(r"[{}]", masked):
        if m.group() == "{":
            head = masked[max(0, m.start() - 160) : m.start()]
            stack.append((not stack or stack[-1]) and bool(_NAMESPACE.search(head)))
        elif stack:
            stack.pop()
        out.append((m.end(), all(stack)))
    return out


def _macro_lines(code: str, table: Mapping[str, Macro]) -> tuple[str, list[tuple[str, str, int]]]:
    """Makes macro calls that stand as statements or declarations parse.

    At namespace scope a known macro is expanded in place. Elsewhere its missing semicolon is added, and one whose
    arguments hold statements becomes a block. The uses are returned with their offset in the returned text.
    """
    masked = _INCLUDE.sub(lambda m: blank(m.group()), mask(code, strings=True))
    scopes = namespace_depths(masked)
    offsets = [o for o, _ in scopes]
    edits: list[tuple[int, int, str]] = []
    found: list[tuple[str, str, int]] = []
    done = 0  # where the macro handled last ends
    skip = 0  # nothing inside an expanded macro is looked at
    for m in _MACRO_LINE.finditer(masked):
        name, at = m.group(1), m.start(1)
        if at < skip:
            continue
        window = masked[max(0, at - 400) : at]
        head = window.rstrip()
        before = head[-1:]
        chained = 0 < done == at - len(window) + len(head)
        if before and before not in ";{}:" and not chained:
            continue
        if not chained and (head.endswith("::") or (before == "{" and _is_initializer(head))):
            continue
        macro = table.get(name)
        if macro is not None and macro.is_attribute:
            continue
        end = m.end(1)
        argument = None
        opening = m.end()
        if masked[opening : opening + 1] == "(":
            close = closing(masked, opening)
            if close < 0:
                continue
            argument, end = code[opening + 1 : close], close + 1
        follow = masked[end : end + 400].lstrip()[:1]
        outside = scopes[bisect.bisect_right(offsets, at) - 1][1]
        if outside and macro is not None and (macro.parameters is None) == (argument is None):
            text = expand(macro, split_arguments(argument or ""), table)
            if follow != "{" and not text.rstrip().endswith((";", "}")):
                text += ";"
            edits.append((at, end, text + "\n" * code.count("\n", at, end)))
            skip = end
        elif argument is not None and not outside and _holds_statements(masked[opening + 1 : end - 1]):
            edits.append((opening, opening + 1, ";{"))
            edits += [(at_, at_ + 1, ";") for at_ in _top_commas(masked, opening + 1, end - 1)]
            edits.append((end - 1, end, ";}"))
        elif follow == ";" and not outside:
            pass  # complete as it stands; only the use is noted
        elif follow in (";", ",", ".", "=", "-", "+", "*", "/", "?", ">", ")", "[") or (follow == "{" and argument):
            continue
        else:
            edits.append((end, end, ";"))
        found.append((name, (argument or "").strip(), at))
        done = end
    return _apply(code, edits, found)


def _apply(
    code: str, edits: list[tuple[int, int, str]], found: list[tuple[str, str, int]]
) -> tuple[str, list[tuple[str, str, int]]]:
    """Carries out replacements, and moves the offsets of what was found along."""
    edits.sort(key=lambda e: (e[0], e[1]))
    parts: list[str] = []
    shifts: list[tuple[int, int]] = [(0, 0)]
    done = shift = 0
    for start, end, text in edits:
        parts += [code[done:start], text]
        shift += len(text) - (end - start)
        shifts.append((end, shift))
        done = end
    keys = [s for s, _ in shifts]
    moved = [(n, a, at + shifts[bisect.bisect_right(keys, at) - 1][1]) for n, a, at in found]
    return "".join([*parts, code[done:]]), moved


def _is_initializer(head: str) -> bool:
    """Whether the `{` that ends a text opens a list of values rather than a block."""
    rest = head[:-1].rstrip()
    if rest.endswith(("=", "(", ",", "{", "]", ">")) or rest.endswith("return"):
        return True
    word = re.search(r"(\w+)\Z", rest)
    if word is None or word.group(1) in ("else", "do", "try", "const", "noexcept", "override", "mutable", "namespace"):
        return False
    return not re.search(r"\b(?:namespace|struct|class|union|enum|extern)\b[^;{}]*\Z", rest)


def _holds_statements(masked: str) -> bool:
    """Whether macro arguments hold a semicolon outside braces."""
    depth = 0
    for m in re.finditer(r"[{};]", masked):
        c = m.group()
        if c == ";" and depth == 0:
            return True
        depth += (c == "{") - (c == "}")
    return False


def _top_commas(masked: str, start: int, end: int) -> list[int]:
    """Offsets of the commas that separate macro arguments; template arguments count as one piece."""
    found = []
    depth = angle = 0
    for m in re.compile(r"[()\[\]{},<>]").finditer(masked, start, end):
        c = m.group()
        at = m.start()
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth:
            continue
        elif c == "<":
            if re.match(r"\w", masked[at - 1 : at]) and masked[at + 1 : at + 2] not in ("<", " ", "="):
                angle += 1
        elif c == ">":
            if angle and masked[at - 1 : at] != "-" and masked[at : at + 3] != ">>>":
                angle -= 1
        elif angle == 0:
            found.append(at)
    return found


def _attributes_and_launches(
    code: str,
    own: tuple[Macro, ...],
    uses: list[tuple[str, str, int]],
    words: frozenset[str],
    table: Mapping[str, Macro],
) -> Prepared:
    out = list(code)
    marks: dict[str, list[int]] = {"__global__": [], "__device__": [], "__host__": []}
    extern_c: list[int] = [m.start() for m in re.finditer(r'\bextern\s*"C"', code)]

    def wipe(start: int, end: int) -> None:
        for i in range(start, end):
            if out[i] != "\n":
                out[i] = " "

    masked = mask(code, strings=True)
    for m in _WORD.finditer(masked):
        word = m.group()
        if word in words:
            macro = table.get(word)
            meaning = _MEANINGS.get(word) or (f"{word} {macro.body}" if macro is not None else word)
            for mark, places in marks.items():
                if mark in meaning:
                    places.append(m.start())
            if macro is not None and '"C"' in macro.body:
                extern_c.append(m.start())
            wipe(m.start(), m.end())
    for m in _ATTRIBUTE_CALLS.finditer(masked):
        if m.group().startswith("_BitInt"):
            end = closing(masked, m.end() - 1)
            if end > 0:
                wipe(m.start(), end + 1)
                out[m.start() : m.start() + 3] = "int"
            continue
        end = closing(masked, m.end() - 1)
        if end > 0:
            wipe(m.start(), end + 1)
    launches: list[Launch] = []
    for m in re.finditer("<<<", masked):
        end = masked.find(">>>", m.end())
        if end < 0 or end - m.end() > 1500:
            continue
        head = _kernel_before("".join(out[max(0, m.start() - 3000) : m.start()]))
        launches.append(Launch(" ".join(head.split()), " ".join(code[m.end() : end].split()), m.start()))
        wipe(m.start(), end + 3)
    text = "".join(out)
    starts = line_starts(text)
    return Prepared(
        text,
        tuple(launches),
        *(tuple(places) for places in marks.values()),
        tuple(sorted(extern_c)),
        own,
        tuple((name, argument, line_at(starts, at), at) for name, argument, at in uses),
    )


def _kernel_before(text: str) -> str:
    """The expression that ends a text: `ns::kernel<A, B>` or a name."""
    i = len(text.rstrip())
    end = i
    if text[i - 1 : i] == ">":
        depth = 0
        while i > 0:
            c = text[i - 1]
            if c == ">" and text[i - 2 : i - 1] != "-":
                depth += 1
            elif c == "<":
                depth -= 1
                if depth == 0:
                    i -= 1
                    break
            elif c in ";{}":
                break
            i -= 1
        i = len(text[:i].rstrip())
    elif text[i - 1 : i] == ")":
        return text[max(0, i - 80) : i].rpartition(";")[2]
    while i > 0 and _LAUNCH_TAIL.match(text[i - 1]) and not text[i - 1].isspace() and text[i - 1] not in ">)":
        i -= 1
    return text[i:end].strip()
