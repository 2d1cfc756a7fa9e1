"""Under which conditions a line of C++ runs: a file's text and a line in, the enclosing conditions out."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tracer.index.cpp_parsing import read_nodes

if TYPE_CHECKING:
    from tree_sitter import Node

_LIMIT = 4


def conditions_at(source: str, line: int) -> tuple[str, ...]:
    """The conditions of the `if`, `else`, `switch` and `case` around a line, as written, innermost first.

    Args:
        source: the file's bytes decoded as Latin-1.
        line: 1-based line.
    """
    data, root = _parsed(source)
    child = root.descendant_for_point_range((line - 1, 0), (line - 1, 10_000))
    lines = source.split("\n")
    if line <= len(lines):
        column = len(lines[line - 1]) - len(lines[line - 1].lstrip())
        child = root.descendant_for_point_range((line - 1, column), (line - 1, column + 1))
    found: list[str] = []
    while child is not None and len(found) < _LIMIT:
        node = child.parent
        if node is None or node.type == "function_definition":
            break
        if node.type == "if_statement":
            condition = node.child_by_field_name("condition")
            if condition is not None and not _inside(child, condition):
                text = " ".join(data[condition.start_byte : condition.end_byte].decode("latin-1").split())
                otherwise = child.type == "else_clause" or child == node.child_by_field_name("alternative")
                found.append(f"not {text}" if otherwise else text)
        elif node.type == "case_statement":
            value = node.child_by_field_name("value")
            label = "default" if value is None else data[value.start_byte : value.end_byte].decode("latin-1")
            found.append(f"case {label}" if value is not None else label)
        child = node
    return tuple(found)


@lru_cache(maxsize=32)
def _parsed(source: str) -> tuple[bytes, Node]:
    return read_nodes(source)


def _inside(node: Node, outer: Node) -> bool:
    return node.start_byte >= outer.start_byte and node.end_byte <= outer.end_byte
