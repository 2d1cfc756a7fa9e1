"""What a query finds in C++ text."""

from __future__ import annotations

from tracer.index.cpp_parsing import captures, read_nodes

_SOURCE = "void f() {\n" + "".join(f"    g<{n}>(h({n}));\n" for n in range(200)) + "}\n"


def test_nodes_come_in_the_order_of_the_text_an_outer_one_before_what_is_in_it() -> None:
    data, root = read_nodes(_SOURCE)
    calls = captures("(call_expression) @call", root)["call"]
    texts = [data[node.start_byte : node.end_byte].decode() for node in calls]
    assert texts == [text for n in range(200) for text in (f"g<{n}>(h({n}))", f"h({n})")]
