"""Small readings of tree-sitter's C++ nodes and of the names in them."""

from __future__ import annotations

import bisect
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

CAST_NAMES = frozenset((
    "static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "sizeof", "decltype", "defined", "if", "while",
    "for",
))  # fmt: skip
PLAIN_TYPES = frozenset((
    "int", "float", "double", "bool", "char", "auto", "void", "size_t", "int64_t", "uint64_t", "int32_t", "uint32_t",
    "uint16_t", "uint8_t", "dim3", "hipStream_t", "const", "unsigned", "long", "short", "constexpr", "torch::Tensor",
    "at::Tensor", "hipError_t",
))  # fmt: skip


#: the keyword before a member template of a dependent class
_DEPENDENT = re.compile(r"(?<=::)\s*template\s+")


def function_declarator(node: Node | None) -> Node | None:
    """The function declarator inside pointer and reference declarators."""
    while node is not None and node.type != "function_declarator":
        if node.type not in ("pointer_declarator", "reference_declarator", "init_declarator", "attributed_declarator"):
            return None
        children = node.named_children
        node = (
            children[-1] if node.type == "reference_declarator" and children else node.child_by_field_name("declarator")
        )
    return node


def count(arguments: Node) -> int:
    """How many arguments a list holds."""
    return sum(1 for c in arguments.named_children if c.type not in ("comment", "ERROR"))


def between(marks: tuple[int, ...], start: int, end: int) -> bool:
    """Whether one of some sorted offsets lies in a range."""
    i = bisect.bisect_right(marks, start)
    return i < len(marks) and marks[i] < end


def split_template(text: str) -> tuple[str, str]:
    """`ns::f<A, B>` -> (`ns::f`, `A, B`); brackets and `template` inside the qualifier are dropped."""
    text = text.strip()
    if text.startswith("template "):
        text = text[9:].strip()
    template = ""
    if text.endswith(">") and "<" in text:
        depth = 0
        for i in range(len(text) - 1, -1, -1):
            depth += (text[i] == ">") - (text[i] == "<")
            if depth == 0:
                template = " ".join(text[i + 1 : -1].split())
                text = text[:i]
                break
    name = _DEPENDENT.sub("", without_template(text))
    return re.sub(r"\s+", "", name).removeprefix("::"), template


def without_template(text: str) -> str:
    """A name without everything in angle brackets."""
    if "<" not in text or "operator" in text:
        return text
    out = []
    depth = 0
    for c in text:
        if c == "<":
            depth += 1
        elif c == ">" and depth:
            depth -= 1
        elif not depth:
            out.append(c)
    return "".join(out)
