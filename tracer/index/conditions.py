"""Under which conditions a line of C++ runs: a file's text and a line in, the enclosing conditions out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracer.index.cpp_parsing import read_nodes

if TYPE_CHECKING:
    from tree_sitter import Node

_LIMIT = 4


def conditions_at(source: str, line: int) -> tuple[str, ...]:
    """The conditions under which a line runs, as written, innermost first.

    These are the `if`, `else`, `switch` and `case` around it, and before it the `if`s that leave the function.

    Args:
        source: the file's bytes decoded as Latin-1.
        line: 1-based line.
    """
    data, root = read_nodes(source)
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
                otherwise = child.type == "else_clause" or child == node.child_by_field_name("alternative")
                found.append(_text(data, condition, otherwise))
        elif node.type == "compound_statement":
            before = [sibling for sibling in node.named_children if sibling.end_byte <= child.start_byte]
            found += [_text(data, condition, True) for condition in _exits(before)]
        elif node.type == "case_statement":
            value = node.child_by_field_name("value")
            label = "default" if value is None else data[value.start_byte : value.end_byte].decode("latin-1")
            found.append(f"case {label}" if value is not None else label)
        child = node
    return tuple(found[:_LIMIT])


def _exits(statements: list[Node]) -> list[Node]:
    """The conditions under which some statements leave the function, last one first."""
    found: list[Node] = []
    for statement in reversed(statements):
        if statement.type == "compound_statement":
            found += _exits(statement.named_children)
        elif statement.type == "if_statement" and statement.child_by_field_name("alternative") is None:
            condition = statement.child_by_field_name("condition")
            if condition is not None and _leaves(statement.child_by_field_name("consequence")):
                found.append(condition)
    return found


def _leaves(statement: Node | None) -> bool:
    """Whether a statement ends by leaving the function."""
    while statement is not None and statement.type == "compound_statement":
        statement = statement.named_children[-1] if statement.named_children else None
    if statement is not None and statement.type == "expression_statement" and statement.named_children:
        statement = statement.named_children[0]
    return statement is not None and statement.type in ("return_statement", "throw_statement", "throw_expression")


def _text(data: bytes, condition: Node, otherwise: bool) -> str:
    text = " ".join(data[condition.start_byte : condition.end_byte].decode("latin-1").split())
    return f"not {text}" if otherwise else text


def _inside(node: Node, outer: Node) -> bool:
    return node.start_byte >= outer.start_byte and node.end_byte <= outer.end_byte
