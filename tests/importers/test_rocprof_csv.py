"""Kernel tables as CSV: columns by name, names as they stand, rows that can't be read counted with their place."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.importers.handmade import kernels, lost
from tracer.importers.joins import join
from tracer.importers.launches import blocks_of, shape_of
from tracer.importers.losses import Losses
from tracer.importers.rocprof_csv import columns_of, read_rocprof_csv
from tracer.importers.timeline import NO_DURATION, NO_START, NO_TIME, Timeline

HEADER = (
    '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
    '"Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
    '"Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"'
)


def row(name: str = "k", start: int = 1000, end: int = 3000, agent: str = '"Agent 4"') -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return f'"KERNEL_DISPATCH",{agent},1,2,3,1,11,{quoted},5,{start},{end},512,0,32,4,48,64,1,1,1024,1024,1'


def read(text: str | bytes, block: int = 90) -> Timeline:
    content = text.encode() if isinstance(text, str) else text
    return read_rocprof_csv((content[at : at + block] for at in range(0, len(content), block)), Losses())


@pytest.mark.parametrize(
    "name",
    [
        "_ZN5aiter3runEv.kd",
        "void addition_kernel<float>(float*, float const*, int, int)",
        "addition_kernel",
        'a "b", c\nd',
    ],
)
def test_names_are_kept_mangled_demangled_or_cut(name: str) -> None:
    timeline = read(f"{HEADER}\n{row(name)}\n")
    assert kernels(timeline) == [(name, 0.0, 2.0)]
    shape, unit = shape_of(join(timeline), 0)
    assert blocks_of(shape.grid, shape.block, unit) == (16, 1024, 1)
    assert (shape.lds_bytes, shape.vgprs, shape.agprs, shape.sgprs) == (512, 32, 4, 48)
    assert (timeline.kernels.device[0], timeline.kernels.stream[0]) == (4, 2)


@pytest.mark.parametrize(
    ("header", "line", "expected"),
    [
        ("Kernel_Name,Start_Timestamp,End_Timestamp", "k,1,2", ("k", 0.0, 0.001)),
        (
            '"Index","KernelName","gpu-id","grd","wgr","BeginNs","EndNs","DurationNs"',
            '0,"k",2,512,64,10,30,20',
            ("k", 0.0, 0.02),
        ),
        ("End_Timestamp,Kernel_Name,Start_Timestamp,Extra", "9000,k,1000,", ("k", 0.0, 8.0)),
    ],
)
def test_columns_are_found_by_name_whatever_the_tool(
    header: str, line: str, expected: tuple[str, float, float]
) -> None:
    assert kernels(read(f"{header}\n{line}\n")) == [expected]


def test_statistics_stand_for_all_their_executions() -> None:
    timeline = read('"Name","Calls","TotalDurationNs","AverageNs"\n"k",40,80000,2000\n"l",1,500,500\n')
    assert list(timeline.kernels.count) == [40, 1]
    assert timeline.total_us() == 80.5


def test_a_counter_table_counts_each_execution_once() -> None:
    header = "Dispatch_Id,Agent_Id,Process_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp"
    lines = [f"{n},4,1,k,{counter},1.0,{n}000,{n}500" for n in (1, 2) for counter in ("A", "B", "C")]
    assert kernels(read("\n".join([header, *lines]))) == [("k", 0.0, 0.5), ("k", 1.0, 0.5)]


def test_rows_that_cannot_be_read_are_counted_with_their_place() -> None:
    text = f"{HEADER}\n{row()}\nbroken,row\n{row()}\n" + row()[:60]
    timeline = read(text)
    assert len(timeline.kernels) == 2
    (loss,) = timeline.losses.entries()
    assert (loss.what, loss.count) == ("rows that could not be read", 2)
    assert f"byte {text.index('broken')} " in (loss.detail or "")


@pytest.mark.parametrize("name", ['void k<"abc">(int)', 'void k<"a,b">(int, int)', 'a "q"', 'say("x","y")'])
def test_a_name_with_quotes_that_are_not_doubled_is_read_as_it_was_meant_and_counted(name: str) -> None:
    text = f"{HEADER}\n{row()}\n{row('?').replace('?', name)}\n{row()}\n"
    timeline = read(text)
    assert kernels(timeline) == [("k", 0.0, 2.0), (name, 0.0, 2.0), ("k", 0.0, 2.0)]
    assert lost(timeline) == {"unescaped quotes or backslashes in a string (repaired)": 1}
    assert (timeline.kernels.device[1], timeline.kernels.correlation[1]) == (4, 5)


@pytest.mark.parametrize("after", [1, 3, 3000])
def test_a_name_whose_quote_is_not_closed_costs_its_own_row_alone(after: int) -> None:
    broken = row("?").replace('"?"', '"k(int*)')
    assert broken != row("?")
    text = "\n".join([HEADER, row(), broken, *[row(f"after {n}") for n in range(after)]])
    timeline = read(text)
    assert [name for name, _, _ in kernels(timeline)] == ["k", *[f"after {n}" for n in range(after)]]
    assert lost(timeline) == {"rows that could not be read": 1}


def test_a_line_longer_than_any_row_is_counted_as_one_that_could_not_be_read() -> None:
    timeline = read("\n".join([HEADER, row(), row("k" * 200_000), row("after")]), 1 << 16)
    assert [name for name, _, _ in kernels(timeline)] == ["k", "after"]
    assert lost(timeline) == {"rows that could not be read": 1}


def test_a_row_with_more_columns_than_the_header_is_not_taken_for_another_kernel() -> None:
    timeline = read(f"{HEADER}\n{row(agent='1,2')}\n{row()}\n")
    assert kernels(timeline) == [("k", 0.0, 2.0)]
    assert lost(timeline) == {"rows that could not be read": 1}


def test_bytes_that_are_no_text_are_replaced_and_counted() -> None:
    timeline = read(f"{HEADER}\n".encode() + row("a\u00e9b").encode("latin-1") + b"\n" + row("n\0l").encode())
    assert [name for name, _, _ in kernels(timeline)] == ["a\ufffdb", "n\ufffdl"]
    assert lost(timeline) == {
        "invalid UTF-8 in a string (replaced)": 1,
        "control characters in a string (kept)": 1,
    }


@pytest.mark.parametrize(
    "header", ["", "a,b,c", "Name,Value,Other", '"Kernel_Name","Start_Timestamp"', "{", "Function,Start,End"]
)
def test_other_tables_are_no_table_of_kernels(header: str) -> None:
    assert columns_of(header) is None


@given(
    st.lists(
        st.tuples(
            st.text(min_size=1).filter(lambda s: "\0" not in s and "\r" not in s),
            st.integers(0, 2**62),
            st.integers(0, 2**40),
        ),
        max_size=20,
    ),
    st.integers(10, 400),
)
@settings(max_examples=80, deadline=None)
def test_kernels_and_their_time_are_conserved(rows: list[tuple[str, int, int]], block: int) -> None:
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(["Kernel_Name", "Start_Timestamp", "End_Timestamp"])
    table.writerows((name, start, start + length) for name, start, length in rows)
    timeline = read(file.getvalue(), block)
    assert [(name, round(us * 1000)) for name, _, us in kernels(timeline)] == [
        (name, length) for name, _, length in rows
    ]


@pytest.mark.parametrize("calls", ["1" + "0" * 30, "many", "0", ""])
def test_a_number_of_calls_that_is_none_counts_as_one_and_is_told(calls: str) -> None:
    timeline = read(f'"Name","Calls","TotalDurationNs","AverageNs"\n"k",{calls},80000,2000\n"l",2,500,250\n')
    assert list(timeline.kernels.count) == [1, 2]
    assert lost(timeline) == {"rows whose number of calls could not be read (counted as 1)": 1}


@pytest.mark.parametrize("figure", ["1" + "0" * 40, "1" + "0" * 400, "9" * 5000])
def test_numbers_beyond_all_reason_cost_no_row(figure: str) -> None:
    rows = [row(), row(start=figure), row(agent=figure), row().replace(",512,", f",{figure},")]  # type: ignore[arg-type]
    timeline = read("\n".join([HEADER, *rows]))
    assert len(timeline.kernels) == 4
    assert lost(timeline) == {NO_DURATION: 1, NO_START: 1}


def test_a_kernel_whose_times_are_no_numbers_is_kept_and_a_repeated_header_is_none() -> None:
    timeline = read("\n".join([HEADER, row(), row(start="abc"), HEADER, row()]))  # type: ignore[arg-type]
    assert kernels(timeline) == [("k", 0.0, 2.0), ("k", NO_TIME, 0.0), ("k", 0.0, 2.0)]
    assert lost(timeline) == {NO_DURATION: 1, NO_START: 1, "rows that could not be read": 1}


def test_a_row_without_a_name_or_with_nothing_but_a_count_is_kept() -> None:
    timeline = read(f"{HEADER}\n{row('')}\n{row()}\n")
    assert kernels(timeline) == [("", 0.0, 2.0), ("k", 0.0, 2.0)]
    sums = read('"Name","Calls","TotalDurationNs","AverageNs"\n"j",7,,2000\n')
    assert (list(sums.kernels.count), lost(sums)) == ([7], {NO_DURATION: 1})


def test_a_table_of_sums_lacks_no_start() -> None:
    timeline = read('"Name","Calls","TotalDurationNs","AverageNs"\n"k",1,80000,2000\n')
    assert (lost(timeline), list(timeline.kernels.start_us)) == ({}, [NO_TIME])
