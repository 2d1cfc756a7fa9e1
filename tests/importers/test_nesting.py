"""The spans around an instant: the fast sweep agrees with looking at every span."""

from __future__ import annotations

import itertools
from array import array
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracer.importers.nesting import NONE, nest
from tracer.importers.spans import FULL_BLOCK, Block, SpanStore

Span = tuple[float, float]


def add(
    to: SpanStore, thread: int, start: list[float], end: list[float], name: list[int], extra: array[int] | None = None
) -> None:
    own = Block(thread, array("d", start), array("d", end), array("q", name), array("q") if extra is None else extra)
    to.add(own, ascending=start == sorted(start))


def nested_spans(numbers: list[int]) -> list[Span]:
    """Spans that lie in each other or apart, outer before inner, from any list of numbers."""
    spans: list[Span] = []
    at = 0.0
    open_spans: list[int] = []
    for number in numbers:
        at += 1 + number % 5
        if number % 3 and open_spans:
            index = open_spans.pop()
            spans[index] = (spans[index][0], at)
        else:
            open_spans.append(len(spans))
            spans.append((at, at))
    for index in reversed(open_spans):
        at += 1
        spans[index] = (spans[index][0], at)
    return spans


def store(spans: list[Span], cuts: list[int], held: int = 1 << 20, full: int = FULL_BLOCK) -> SpanStore:
    own = SpanStore(held)
    edges = [0, *sorted(min(c, len(spans)) for c in cuts), len(spans)]
    with mock.patch("tracer.importers.spans.FULL_BLOCK", full):
        for first, last in itertools.pairwise(edges):
            rows = range(first, last)
            add(own, 0, [spans[i][0] for i in rows], [spans[i][1] for i in rows], list(rows), array("q", rows))
    return own


def around(spans: list[Span], instant: float) -> list[int]:
    """Every span that holds an instant, outermost first."""
    return [i for i, (start, end) in enumerate(spans) if start <= instant <= end]


_NUMBERS = st.lists(st.integers(0, 40), max_size=60)
_INSTANTS = st.lists(st.integers(0, 160).map(lambda n: n / 2), max_size=25).map(sorted)
_CUTS = st.lists(st.integers(0, 40), max_size=4)


@given(_NUMBERS, _INSTANTS, _CUTS, st.sampled_from([1, 5, FULL_BLOCK]))
@example([0], [1.0], [], FULL_BLOCK)
@settings(max_examples=400, deadline=None)
def test_the_chain_of_an_instant_is_every_span_that_holds_it(
    numbers: list[int], instants: list[float], cuts: list[int], full: int
) -> None:
    spans = nested_spans(numbers)
    nested = nest(store(spans, cuts, full=full), {0: instants})
    found = [[nested.name[i] for i in nested.chain(index)] for index in nested.innermost[0]]
    assert found == [around(spans, instant) for instant in instants]
    kept = {i for instant in instants for i in around(spans, instant)}
    assert sorted(nested.name) == sorted(kept)


@given(_NUMBERS, _INSTANTS, st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_blocks_out_of_order_give_the_same_answer(numbers: list[int], instants: list[float], order: object) -> None:
    spans = nested_spans(numbers)
    shuffled = list(enumerate(spans))
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    own = SpanStore()
    for number, (start, end) in shuffled:
        add(own, 0, [start], [end], [number], array("q", [number]))
    nested = nest(own, {0: instants})
    found = [sorted(nested.name[i] for i in nested.chain(index)) for index in nested.innermost[0]]
    assert found == [sorted(around(spans, instant)) for instant in instants]


@given(_NUMBERS, _INSTANTS, _CUTS)
@settings(max_examples=50, deadline=None)
def test_spans_on_disk_are_the_spans_in_memory(numbers: list[int], instants: list[float], cuts: list[int]) -> None:
    spans = nested_spans(numbers)
    spilled, held = store(spans, cuts, held=3), store(spans, cuts)
    assert [s for b in spilled.blocks() for s in b.start] == [s for b in held.blocks() for s in b.start]
    assert list(nest(spilled, {0: instants}).parent) == list(nest(held, {0: instants}).parent)


def test_a_full_disk_leaves_the_spans_in_memory(monkeypatch: object) -> None:
    def full(**_: object) -> object:
        raise OSError("No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)  # type: ignore[attr-defined]
    own = store([(float(n), n + 0.5) for n in range(10)], [3, 6], held=2)
    assert own.unspillable
    assert [s for block in own.blocks() for s in block.start] == [float(n) for n in range(10)]


def test_threads_are_kept_apart() -> None:
    own = SpanStore()
    add(own, 0, [0.0], [10.0], [100])
    add(own, 1, [0.0], [10.0], [200])
    nested = nest(own, {0: [5.0], 1: [5.0, 11.0], 2: [5.0]})
    named = {
        thread: [None if i == NONE else nested.name[i] for i in found] for thread, found in nested.innermost.items()
    }
    assert named == {0: [100], 1: [200, None], 2: [None]}


def test_equal_spans_of_a_trace_put_together_twice_count_once() -> None:
    spans = [(0.0, 10.0), (2.0, 8.0)]
    own = SpanStore()
    for _ in range(3):
        add(own, 0, [s for s, _ in spans], [e for _, e in spans], [1, 2], array("q", [0, 0]))
    nested = nest(own, {0: [5.0]})
    assert [nested.name[i] for i in nested.chain(nested.innermost[0][0])] == [1, 2]
    assert nested.duplicates == 4


def test_equal_times_of_different_functions_are_both_kept() -> None:
    own = SpanStore()
    add(own, 0, [0.0, 0.0, 0.0], [4.0, 4.0, 4.0], [1, 2, 3])
    nested = nest(own, {0: [1.0]})
    assert [nested.name[i] for i in nested.chain(nested.innermost[0][0])] == [1, 2, 3]
    assert nested.duplicates == 0


def test_an_inner_span_written_first_at_the_same_start_is_put_inside() -> None:
    own = SpanStore()
    add(own, 0, [0.0, 0.0], [4.0, 9.0], [2, 1])
    nested = nest(own, {0: [1.0, 6.0]})
    assert [[nested.name[i] for i in nested.chain(index)] for index in nested.innermost[0]] == [[1, 2], [1]]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), max_size=14, unique=True),
    _INSTANTS,
    st.lists(st.integers(0, 12), max_size=3),
)
@example([(0, 20), (1, 4), (2, 30), (6, 2), (12, 1)], [3.0, 7.0, 9.0, 12.0, 25.0], [])
@settings(max_examples=400, deadline=None)
def test_no_span_that_has_ended_is_around_an_instant_however_spans_cross(
    given_spans: list[tuple[int, int]], instants: list[float], cuts: list[int]
) -> None:
    spans = sorted(
        ((float(start), float(start + length)) for start, length in given_spans), key=lambda s: (s[0], -s[1])
    )
    nested = nest(store(spans, cuts), {0: instants})
    found = [[nested.name[i] for i in nested.chain(index)] for index in nested.innermost[0]]
    assert found == [around(spans, instant) for instant in instants]
    assert all(parent < index for index, parent in enumerate(nested.parent))


@pytest.mark.parametrize("apart", [False, True])
def test_a_span_that_outlives_the_one_it_begins_in_is_counted(apart: bool) -> None:
    own = SpanStore()
    with mock.patch("tracer.importers.spans.FULL_BLOCK", 1 if apart else FULL_BLOCK):
        add(own, 0, [0.0], [5.0], [1])
        add(own, 0, [3.0], [9.0], [2])
    assert len(list(own.blocks())) == 1 + apart
    nested = nest(own, {0: [4.0, 7.0]})
    assert nested.crossing == 1
    assert [nested.name[i] for i in nested.innermost[0]] == [2, 2]


def test_wanted_spans_are_kept_without_an_instant() -> None:
    own = SpanStore()
    add(own, 0, [0.0, 20.0, 30.0], [10.0, 25.0, 35.0], [1, 2, 3], array("q", [7, 8, 9]))
    nested = nest(own, {0: [5.0]}, frozenset({7, 9, 11}))
    assert sorted(zip(nested.name, nested.extra, strict=True)) == [(1, 7), (3, 9)]
