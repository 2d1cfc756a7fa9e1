"""Menus and index entries: one for each page, in an order that people expect."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tests import handmade
from tracer.pipeline import build_report
from tracer.render.nav import Entry, entry_of, in_order, load_entries, menu, menu_text


def entry(op: str, *shape: int, target: str = "gfx942") -> Entry:
    name = "x".join(map(str, shape))
    return Entry(folder=op, name=name, title=name, op=op, shape=name, sort_key=shape, mode="dry", target=target)


def test_an_entry_says_what_the_index_shows() -> None:
    found = entry_of(build_report(handmade.lost_row()))
    assert (found.op, found.shape, found.mode, found.target) == (
        "gemm_a8w8_blockscale",
        "M=128, N=1536, K=7168",
        "dry",
        "gfx942 (MI308X)",
    )
    assert (found.kernels, found.bound, found.tuned) == ((handmade.DEFAULT,), "unknown", ("miss",))


def test_a_long_configuration_is_cut_between_its_items() -> None:
    assert entry_of(build_report(handmade.triton())).detail == (
        "dtype=bf16, BLOCK_SIZE_M=16, NUM_KSPLIT=4, SPLITK_BLOCK_SIZE=768"
    )
    record = handmade.triton()
    call = msgspec.structs.replace(record.call, config={**(record.call.config or {}), "waves_per_eu": 2, "kpack": 1})
    found = entry_of(build_report(msgspec.structs.replace(record, call=call)))
    assert found.detail == "dtype=bf16, BLOCK_SIZE_M=16, NUM_KSPLIT=4, SPLITK_BLOCK_SIZE=768, …"


def test_shapes_are_ordered_as_numbers_within_their_op() -> None:
    entries = [entry("gemm", 128, 4), entry("gemm", 16, 4), entry("attention", 1), entry("gemm", 16, 32)]
    assert [e.name for e in in_order(entries)] == ["1", "16x4", "16x32", "128x4"]


def test_a_menu_has_the_index_and_a_section_an_op() -> None:
    entries = [entry("gemm", 128, 4), entry("gemm", 16, 4), entry("attention", 1)]
    assert (
        menu_text(menu(entries, "Source traces"))
        == """\
Source traces: index.md
attention
    1: attention/1.md
gemm
    16x4: gemm/16x4.md
    128x4: gemm/128x4.md
"""
    )


def test_names_that_look_like_html_are_text_in_the_menu() -> None:
    hostile = msgspec.structs.replace(entry("x", 1), op="<script>alert(1)</script>", title='"><svg onload=alert(2)>')
    text = menu_text(menu([hostile], "Source traces"))
    assert "<" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&quot;&gt;&lt;svg onload=alert(2)&gt;" in text


def test_entries_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_bytes(msgspec.json.encode(entry("gemm", 1)))
    (tmp_path / "half.json").write_bytes(msgspec.json.encode(entry("gemm", 2))[:40])
    (tmp_path / "other.json").write_text('{"title": 3}')
    assert [e.name for e in load_entries(tmp_path)] == ["1"]
    assert load_entries(tmp_path / "missing") == []
