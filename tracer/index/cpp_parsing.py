"""C++ text as tree-sitter reads it: a file's text in, bytes and nodes out, and what a query finds among them."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from tracer.aiter.cpp_parser import language, parse
from tracer.index.cpp_text import prepare

if TYPE_CHECKING:
    from tree_sitter import Node, Query


@cache
def _query(text: str) -> Query:
    import tree_sitter

    return tree_sitter.Query(language(), text)


def captures(query: str, root: Node) -> dict[str, list[Node]]:
    """The nodes below a root that a query captures, by the names that it gives them, in the order of the text.

    tree-sitter itself keeps no order: it gives the nodes of a name as a set.
    """
    import tree_sitter

    found = tree_sitter.QueryCursor(_query(query)).captures(root)
    return {name: sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte)) for name, nodes in found.items()}


@lru_cache(maxsize=32)
def read_nodes(source: str) -> tuple[bytes, Node]:
    """A file's text (its bytes decoded as Latin-1), prepared: the bytes that nodes index, and the root of the nodes."""
    data = prepare(source).text.encode("latin-1")
    return data, parse(data)
