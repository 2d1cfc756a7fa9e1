"""Under which conditions a line of C++ runs: a file's text and a line in, the enclosing conditions out."""

from __future__ import annotations

from functools import lru_cache

from tracer.index.cpp_text import prepare

_LIMIT = 4


def conditions_at(source: str, line: int) -> tuple[str, ...]:
    """The conditions of the `if`, `else`, `switch` and `case` around a line, as written, innermost first.

    Args:
        source: the file's bytes decoded as Latin-1.
        line: 1-based line.
    """
    tree, data = _parsed(source)
    node = tree.root_node.descendant_for_point_range((line - 1, 0), (line - 1, 10_000))
    start = node
    lines = source.split("\n")
    if line <= len(lines):
        column = len(lines[line - 1]) - len(lines[line - 1].lstrip())
        start = tree.root_node.descendant_for_point_range((line - 1, column), (line - 1, column + 1))
    found: list[str] = []
    child = start
    node = start.parent if start is not None else None
    while node is not None and len(found) < _LIMIT and node.type != "function_definition":
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
        node = node.parent
    return tuple(found)


@lru_cache(maxsize=32)
def _parsed(source: str):  # type: ignore[no-untyped-def]  # tree_sitter's types are not needed at import
    import tree_sitter
    import tree_sitter_cpp

    data = prepare(source).text.encode("latin-1")
    language = tree_sitter.Language(tree_sitter_cpp.language())
    return tree_sitter.Parser(language).parse(data), data


def _inside(node, outer) -> bool:  # type: ignore[no-untyped-def]  # as above
    return bool(node.start_byte >= outer.start_byte and node.end_byte <= outer.end_byte)
