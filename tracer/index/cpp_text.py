"""HIP C++ made readable for a C++ parser: source text in, text of the same lines out that tree-sitter-cpp can parse.

tree-sitter's C++ grammar knows neither `<<<...>>>` nor attributes hidden in macros nor conditional branches that open
the same brace twice. They are blanked or rewritten here without moving any line; launches and kernel marks are
noted first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from tracer.aiter.conditionals import live_text
from tracer.index.cpp_macro_uses import macro_lines
from tracer.index.cpp_macros import DEFINE, Macro, blank, closing, line_at, line_starts, mask, read_macros

#: words that only decorate a declaration; CK's, HIP's and aiter's own spellings
_ATTRIBUTE_WORDS = frozenset((
    "__global__", "__device__", "__host__", "__forceinline__", "__noinline__", "__inline__", "__restrict__",
    "__restrict", "__shared__", "__constant__", "__HOST_DEVICE__", "CK_TILE_HOST_DEVICE", "CK_TILE_DEVICE",
    "CK_TILE_HOST", "CK_TILE_HOST_DEVICE_EXTERN", "CK_TILE_DEVICE_EXTERN", "CK_TILE_LDS_ADDR", "CK_LDS_ADDR",
    "C10_EXPORT", "C10_HOST_DEVICE",
))  # fmt: skip
#: what CK's spellings stand for; its headers are not always at hand
_MEANINGS = {
    "CK_TILE_HOST_DEVICE": "__host__ __device__", "CK_TILE_DEVICE": "__device__", "CK_TILE_HOST": "__host__",
    "CK_TILE_HOST_DEVICE_EXTERN": "__host__ __device__", "CK_TILE_DEVICE_EXTERN": "__device__",
}  # fmt: skip
_ATTRIBUTE_CALLS = re.compile(r"\b(?:__launch_bounds__|__attribute__|__align__|alignas|__cluster_dims__|_BitInt)\s*\(")
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_OTHER_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?!include|define)\w+(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_ASM = re.compile(r"\b(?:__asm__|asm)\b\s*(?:volatile|__volatile__)?\s*\(")
_BIT_CAST = re.compile(r"\b__builtin_bit_cast\s*\(")
_EMPTY_DEFAULT = re.compile(r"=(\s*)\{\s*\}(?=\s*[,)>])")
_BARE_LAMBDA = re.compile(r"\[([&=]?)\](\s*)->")
_DEPENDENT = re.compile(r"(?<=[.>])(\s*)template(?=\s+\w+\s*\()")
_EXTERN_TEMPLATE = re.compile(r"\bextern(?=\s+template\b)")
_PRAGMA = re.compile(r"\b_Pragma\s*\(\s*\"[^\"\n]*\"\s*\)")
_LAUNCH_TAIL = re.compile(r"[\w:>)\s]")
_WORD = re.compile(r"[A-Za-z_]\w*")


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
        macro_uses: (name, argument text, line, offset) of macro calls that stand as statements or declarations.
    """

    text: str
    launches: tuple[Launch, ...]
    global_marks: tuple[int, ...]
    device_marks: tuple[int, ...]
    host_marks: tuple[int, ...]
    extern_c_marks: tuple[int, ...]
    macros: tuple[Macro, ...]
    macro_uses: tuple[tuple[str, str, int, int], ...] = ()


def prepare(
    source: str, macros: Mapping[str, Macro] | None = None, attributes: Mapping[str, Macro] | None = None
) -> Prepared:
    """Prepares one source text (see the module's docstring).

    Args:
        source: the file's bytes decoded as Latin-1.
        macros: macros of other files that may be used at namespace scope here; they are expanded in place there.
        attributes: macros of other files that only decorate declarations.
    """
    code = mask(live_text(source))
    own = read_macros(code)
    table = {**(attributes or {}), **(macros or {}), **{m.name: m for m in own}}
    code = _one_branch(code)
    code = DEFINE.sub(lambda m: blank(m.group()), code)
    code = _OTHER_DIRECTIVE.sub(lambda m: blank(m.group()), code)
    code = _rewrite(_blank_asm(_blank_cast_types(code)))
    code, uses = macro_lines(code, table)
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
        tuple(marks["__global__"]),
        tuple(marks["__device__"]),
        tuple(marks["__host__"]),
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
