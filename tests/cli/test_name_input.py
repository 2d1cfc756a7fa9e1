"""Names from files: plain text, CSV with a column, JSON lines with a key, and what is wrong in them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tracer.cli import name_input
from tracer.cli.name_input import Unreadable, lines, names
from tracer.errors import UsageError


class _Named(io.BytesIO):
    """A file with a name."""

    def __init__(self, data: bytes, name: str = "names.txt") -> None:
        super().__init__(data)
        self.name = name


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"a", [b"a"]),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\n\r\nb\rc", [b"a", b"", b"b\rc"]),
        (b"\n\na", [b"", b"", b"a"]),
    ],
)
def test_lines_end_with_lf_or_cr_lf_and_keep_everything_else(data: bytes, expected: list[bytes]) -> None:
    assert list(lines(io.BytesIO(data))) == expected


def test_lines_longer_than_a_read_come_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_input, "_CHUNK", 3)
    assert list(lines(io.BytesIO(b"abcdefgh\nij\n\nk"))) == [b"abcdefgh", b"ij", b"", b"k"]


def test_what_was_read_is_handed_on_before_more_is_waited_for() -> None:
    reads: list[int] = []
    taken = list(lines(io.BytesIO(b"a\nb\n"), idle=lambda: reads.append(1)))
    assert len(taken) == 2
    assert len(reads) == 2  # before the data, and before the end


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    assert list(names(_Named(b"\xef\xbb\xbfa\n\xef\xbb\xbfb"))) == ["a", "\ufeffb"]


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ("M,N,kernelName,us", ["c"]),
        ("M,kernelName1,kernelName2,us", ["b", "c"]),
        ("id,knl_name,co_name,x", ["b"]),
        ("Kernel_Name,Name,x,y", ["a"]),
        ("x,y,z,Name", ["d"]),
        ("x,Kernel Name,Kernel,y", ["b"]),
    ],
)
def test_the_column_that_looks_like_a_kernels_name_is_found(header: str, taken: list[str]) -> None:
    assert list(names(_Named(f"{header}\na,b,c,d\n".encode(), "tuned.CSV"))) == taken


def test_columns_asked_for_are_taken_row_by_row() -> None:
    data = b'm;name;n\n1;"a;b";c\n2;d;\n3\n\n4;e;f'
    assert list(names(_Named(data), columns=["n", "name"])) == ["c", "a;b", "", "d", "", "", "f", "e"]


def test_comments_above_the_header_are_passed_over_and_tabs_separate_too() -> None:
    data = b"// made by a tool\n# and another\n\nname\tx\nfirst\t1\n"
    assert list(names(_Named(data, "t.tsv"))) == ["first"]


def test_a_column_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="no column 'kernel'") as told:
        list(names(_Named(b"M,N\n1,2\n"), columns=["kernel"]))
    assert "'M', 'N'" in str(told.value)
    with pytest.raises(UsageError, match="no column looks like"):
        list(names(_Named(b"M,N\n1,2\n", "t.csv")))
    with pytest.raises(UsageError, match="it has none"):
        list(names(_Named(b"", "t.csv")))


def test_a_quotation_mark_that_is_never_closed_costs_one_answer_and_not_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(name_input, "_LONGEST_CELL", 40)
    data = b'name\nfirst\n"open\n' + b"x" * 60 + b"\nlast\n"
    entries = list(names(_Named(data, "t.csv")))
    assert entries[0] == "first"
    assert isinstance(entries[1], Unreadable)
    assert "t.csv: row" in entries[1].reason
    assert entries[2:] == ["last"]
    assert csv.field_size_limit() > 40


def test_bytes_that_are_no_utf_8_and_nul_pass_through_csv() -> None:
    (name,) = names(_Named(b"name\n\xffa\0b\n", "t.csv"))
    assert isinstance(name, str)
    assert name.encode("utf-8", "surrogateescape") == b"\xffa\0b"


def test_json_lines_give_the_value_under_the_key() -> None:
    data = b'{"name": "a", "k": "x"}\n{"k": "y \\ud800", "name": "b"}\n'
    assert list(names(_Named(data, "c.jsonl"))) == ["a", "b"]
    assert list(names(_Named(data), key="k")) == ["x", "y \ud800"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "no JSON object"),
        (b"{broken", "no JSON object"),
        (b"[1]", "no JSON object"),
        (b"[" * 100_000, "no JSON object"),
        (b'{"other": 1}', "has no key 'name'"),
        (b'{"name": 3}', "has no text under 'name'"),
    ],
)
def test_a_json_line_without_a_name_is_an_answer_that_says_so(line: bytes, problem: str) -> None:
    data = b'{"name": "a"}\n' + line + b'\n{"name": "b"}\n'
    first, broken, last = names(_Named(data, "c.ndjson"))
    assert (first, last) == ("a", "b")
    assert isinstance(broken, Unreadable)
    assert broken.text == line.decode()
    assert "c.ndjson: line 2" in broken.reason
    assert problem in broken.reason


def test_json_lines_without_a_likely_key_are_wrong_usage() -> None:
    with pytest.raises(UsageError, match="no key looks like"):
        list(names(_Named(b'{"a": "b"}\n', "c.jsonl")))


def test_a_file_is_read_by_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("kernelName\nk\n", encoding="utf-8")
    with path.open("rb") as file:
        assert list(names(file)) == ["k"]
    other = path.rename(tmp_path / "t.log")
    with other.open("rb") as file:
        assert list(names(file)) == ["kernelName", "k"]
