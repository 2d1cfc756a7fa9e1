"""Large JSON in blocks: whatever the blocks and the white space, the elements come out as they went in."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracer.importers.arrays import ArrayStream
from tracer.importers.elements import Elements
from tracer.importers.losses import Losses

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_ELEMENTS = st.lists(
    st.builds(lambda ph, args: {"ph": ph, **args}, st.sampled_from("XsfiM"), st.fixed_dictionaries({"args": _VALUES})),
    max_size=12,
)
_LAYOUTS = st.sampled_from([(None, (", ", ": ")), (None, (",", ":")), (2, (",", ": ")), (4, (", ", ": "))])


def decode(text: bytes | memoryview) -> list[dict[str, Any]]:
    return msgspec.json.decode(bytes(text), type=list[dict[str, Any]])


def as_it_is(value: dict[str, Any], byte: int) -> dict[str, Any]:
    return value


ANYTHING: Elements[dict[str, Any]] = Elements(first_keys=("ph", "name"), decode=decode, loosen=as_it_is)


def read(text: bytes, block: int) -> tuple[list[dict[str, Any]], list[int], Losses, bytes]:
    losses = Losses()
    stream = ArrayStream(
        (text[at : at + block] for at in range(0, len(text), block)), {"traceEvents": ANYTHING, "": ANYTHING}, losses
    )
    items: list[dict[str, Any]] = []
    offsets = []
    for batch in stream:
        items += batch.items
        offsets.append(batch.offset)
    return items, offsets, losses, bytes(stream.outside)


@given(_ELEMENTS, _LAYOUTS, st.integers(1, 400))
@example([{"ph": "X", "args": [{"ph": "X"}, {"ph": "X"}]}] * 3, (None, (", ", ": ")), 30)
@settings(max_examples=300, deadline=None)
def test_every_element_comes_out_once_and_in_order(
    elements: list[dict[str, Any]], layout: tuple[int | None, tuple[str, str]], block: int
) -> None:
    indent, separators = layout
    whole = {"before": [1, {"a": "]"}], "traceEvents": elements, "after": {"x": [{"ph": 1}, {"ph": 2}]}}
    items, _, losses, outside = read(json.dumps(whole, indent=indent, separators=separators).encode(), block)
    assert items == elements
    assert not losses.entries()
    assert json.loads(outside) == {**whole, "traceEvents": []}


@given(_ELEMENTS, _LAYOUTS, st.integers(1, 400))
@settings(max_examples=100, deadline=None)
def test_a_bare_list_is_read_as_well(
    elements: list[dict[str, Any]], layout: tuple[int | None, tuple[str, str]], block: int
) -> None:
    indent, separators = layout
    items, _, losses, _ = read(json.dumps(elements, indent=indent, separators=separators).encode(), block)
    assert items == elements
    assert not losses.entries()


@given(_ELEMENTS.filter(len), st.integers(1, 400), st.data())
@settings(max_examples=200, deadline=None)
def test_a_text_cut_anywhere_loses_the_cut_element_at_most(
    elements: list[dict[str, Any]], block: int, data: st.DataObject
) -> None:
    text = json.dumps({"traceEvents": elements}).encode()
    start = text.index(b"[") + 1
    cut = data.draw(st.integers(start, len(text) - 2))
    items, _, losses, _ = read(text[:cut], block)
    whole = 0
    at = start
    for element in elements:
        at += len(json.dumps(element))
        if at <= cut:
            whole += 1
        at += 2
    assert items == elements[:whole]
    inside = text[:cut].rstrip(b", ") != text[: start + len(", ".join(map(json.dumps, elements[:whole])))].rstrip(b", ")
    # a list that ends inside the cut element may pass for the end of the array
    kinds = ("truncated: the text ends inside an event", "events that could not be read")
    assert any(kind in losses for kind in kinds) == inside


def test_offsets_are_those_of_the_unpacked_text() -> None:
    elements = [{"ph": "X", "n": number} for number in range(50)]
    text = json.dumps({"head": "x" * 40, "traceEvents": elements}).encode()
    losses = Losses()
    stream = ArrayStream((text[at : at + 64] for at in range(0, len(text), 64)), {"traceEvents": ANYTHING}, losses)
    for batch in stream:
        assert text[batch.offset :].startswith(json.dumps(batch.items[0]).encode())


def test_several_wanted_arrays_are_told_apart_and_counted() -> None:
    text = b'{"a":[{"ph":1},{"ph":2}],"skip":[{"ph":9}],"b":[],"c":{"a":[{"ph":3}]}}'
    for block in range(1, len(text) + 1):
        losses = Losses()
        blocks = (text[at : at + block] for at in range(0, len(text), block))
        seen = [
            (batch.key, batch.array, item["ph"])
            for batch in ArrayStream(blocks, {"a": ANYTHING, "b": ANYTHING}, losses)
            for item in batch.items
        ]
        assert seen == [("a", 1, 1), ("a", 1, 2), ("a", 3, 3)]
        assert not losses.entries()


def test_an_element_that_never_ends_is_dropped_and_the_next_is_found(monkeypatch: Any) -> None:
    monkeypatch.setattr("tracer.importers.arrays.LONGEST_ELEMENT_BYTES", 4096)
    huge = '{"ph": "X", "name": "' + "a" * 20000 + '"}'
    text = ('{"traceEvents": [{"ph": "X", "n": 1}, ' + huge + ', {"ph": "X", "n": 2}, {"ph": "X", "n": 3}]}').encode()
    items, _, losses, _ = read(text, 512)
    assert [item.get("n") for item in items] == [1, 2, 3]
    assert "text too long to be an event was dropped" in losses


def test_white_space_without_end_is_passed_over_in_little_memory() -> None:
    import tracemalloc

    tracemalloc.start()
    losses = Losses()
    blocks = [b'{"traceEvents": [', *[b" " * 65536] * 800, b'{"ph": "X"}', *[b"\n" * 65536] * 20, b"]}"]
    items = [item for batch in ArrayStream(blocks, {"traceEvents": ANYTHING}, losses) for item in batch.items]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert items == [{"ph": "X"}]
    assert peak < 8 << 20
