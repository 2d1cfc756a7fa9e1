"""tree-sitter's parser of C++, made once: bytes in, the root of their nodes out."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser


@cache
def language() -> Language:
    """The grammar, which queries are made for."""
    import tree_sitter
    import tree_sitter_cpp

    return tree_sitter.Language(tree_sitter_cpp.language())


@cache
def _parser() -> Parser:
    import tree_sitter

    return tree_sitter.Parser(language())


def parse(content: bytes) -> Node:
    """The root of a text's nodes; what can't be parsed stands in nodes of type ERROR."""
    return _parser().parse(content).root_node
