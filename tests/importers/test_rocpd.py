"""SQLite traces: rocprofv3's rocpd in its two shapes, RPD, and files that are damaged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.importers.handmade import kernels, lost
from tracer.errors import TraceError
from tracer.importers.formats import read_timeline
from tracer.importers.joins import join
from tracer.importers.launches import blocks_of, shape_of
from tracer.importers.losses import Losses
from tracer.importers.rocpd import read_sqlite
from tracer.model.evidence import GridUnit

COMMON = """
    CREATE TABLE "rocpd_string{u}" (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
    CREATE TABLE "rocpd_info_agent{u}" (id INTEGER PRIMARY KEY, type TEXT, name TEXT, product_name TEXT, extdata TEXT);
    CREATE TABLE "rocpd_info_kernel_symbol{u}" (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT,
        sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER);
    CREATE TABLE "rocpd_event{u}" (id INTEGER PRIMARY KEY, stack_id INTEGER, parent_stack_id INTEGER,
        correlation_id INTEGER);
    CREATE TABLE "rocpd_memory_copy{u}" (id INTEGER PRIMARY KEY, start BIGINT, end BIGINT, dst_agent_id INTEGER,
        src_agent_id INTEGER);
    INSERT INTO "rocpd_string{u}" VALUES (1, '', 'hipLaunchKernel'), (2, '', 'hipStreamSynchronize');
    INSERT INTO "rocpd_info_agent{u}" VALUES (0, 'CPU', 'EPYC', 'EPYC', '{{}}'),
        (2, 'GPU', 'gfx942', 'AMD Instinct MI300X', '{{"cu_count": 304, "wave_front_size": 64}}');
    INSERT INTO "rocpd_info_kernel_symbol{u}" VALUES (9, '_Z1kv.kd', 'k()', 48, 32, 4);
    INSERT INTO "rocpd_event{u}" VALUES (1, 70, 0, 0), (2, 70, 0, 0), (3, 71, 0, 0);
    INSERT INTO "rocpd_memory_copy{u}" VALUES (1, 3000, 3500, 2, 0);
"""
SCHEMA_3 = """
    CREATE TABLE "rocpd_kernel_dispatch{u}" (id INTEGER PRIMARY KEY, tid INTEGER, agent_id INTEGER, kernel_id INTEGER,
        queue_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT, private_segment_size INTEGER,
        group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER,
        grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
    CREATE TABLE "rocpd_region{u}" (id INTEGER PRIMARY KEY, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER,
        event_id INTEGER);
    INSERT INTO "rocpd_kernel_dispatch{u}" VALUES
        (1, 5, 2, 9, 1, 3, 1000, 3500, 0, 4096, 256, 1, 1, 49152, 1, 1, 2),
        (2, 5, 2, 8, 1, 3, 4000, 4500, 0, 0, 64, 1, 1, 64, 1, 1, NULL);
    INSERT INTO "rocpd_region{u}" VALUES (1, 5, 900, 950, 1, 1), (2, 5, 960, 990, 2, 3);
"""
SCHEMA_4 = """
    CREATE TABLE "rocpd_track{u}" (id INTEGER PRIMARY KEY, tid INTEGER, agent_id INTEGER, queue_id INTEGER,
        stream_id INTEGER);
    CREATE TABLE "rocpd_kernel_dispatch{u}" (id INTEGER PRIMARY KEY, track_id INTEGER, kernel_id INTEGER,
        start BIGINT, end BIGINT, private_segment_size INTEGER, group_segment_size INTEGER,
        workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER,
        grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
    CREATE TABLE "rocpd_region{u}" (id INTEGER PRIMARY KEY, track_id INTEGER, start BIGINT, end BIGINT,
        name_id INTEGER, event_id INTEGER);
    INSERT INTO "rocpd_track{u}" VALUES (1, 5, 2, 1, 3);
    INSERT INTO "rocpd_kernel_dispatch{u}" VALUES
        (1, 1, 9, 1000, 3500, 0, 4096, 256, 1, 1, 49152, 1, 1, 2),
        (2, 1, 8, 4000, 4500, 0, 0, 64, 1, 1, 64, 1, 1, NULL);
    INSERT INTO "rocpd_region{u}" VALUES (1, 1, 900, 950, 1, 1), (2, 1, 960, 990, 2, 3);
"""
RPD = """
    CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
    CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER, start INTEGER,
        end INTEGER, description_id INTEGER, opType_id INTEGER);
    CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER,
        apiName_id INTEGER);
    CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
    CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, workgroupX INTEGER,
        workgroupY INTEGER, workgroupZ INTEGER);
    INSERT INTO rocpd_string VALUES (1, 'k()'), (2, 'KernelExecution'), (3, 'hipExtModuleLaunchKernel'),
        (4, 'CopyHostToDevice'), (5, '');
    INSERT INTO rocpd_op VALUES (1, 2, 1, 0, 1000, 3500, 1, 2), (2, 2, 1, 0, 4000, 5000, 5, 4);
    INSERT INTO rocpd_api VALUES (7, 1, 5, 900, 950, 3);
    INSERT INTO rocpd_api_ops VALUES (1, 7, 1);
    INSERT INTO rocpd_kernelapi VALUES (7, 49152, 1, 1, 256, 1, 1);
"""


def database(folder: Path, script: str, name: str = "trace with blanks #1.db") -> Path:
    path = folder / name
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


@pytest.mark.parametrize("schema", [SCHEMA_3, SCHEMA_4])
@pytest.mark.parametrize("suffix", ["", "_0198_ab"])
def test_rocpd_is_read_in_both_shapes(tmp_path: Path, schema: str, suffix: str) -> None:
    path = database(tmp_path, (COMMON + schema).format(u=suffix))
    before = path.read_bytes()
    joined = join(read_sqlite(path, Losses()))
    timeline = joined.timeline
    # time 0 is the first call's start
    assert kernels(timeline) == [("k()", 0.1, 2.5), ("kernel id 8", 3.1, 0.5)]
    assert list(joined.call) == [0, -1]
    assert timeline.names.values_[timeline.calls.name[0]] == "hipLaunchKernel"
    shape, unit = shape_of(joined, 0)
    assert blocks_of(shape.grid, shape.block, unit) == (192, 1, 1)
    assert (shape.vgprs, shape.agprs, shape.sgprs, shape.lds_bytes) == (32, 4, 48, 4096)
    (device,) = timeline.devices
    assert (device.id, device.arch, device.compute_units) == (2, "gfx942", 304)
    assert timeline.copies_us == [(2, 2.1, 0.5)]
    assert lost(timeline) == {
        "kernels whose symbol is not in the file (named by number)": 1,
        "kernels without a runtime call": 1,
    }
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("size", ["x'00ff'", "'many'", "NULL", "-3.5"])
@pytest.mark.parametrize("schema", [SCHEMA_3, SCHEMA_4])
def test_a_size_that_is_no_number_costs_the_grid_alone(tmp_path: Path, schema: str, size: str) -> None:
    change = f'UPDATE "rocpd_kernel_dispatch" SET workgroup_size_x = {size}, grid_size_y = {size};'
    joined = join(read_sqlite(database(tmp_path, (COMMON + schema).format(u="") + change), Losses()))
    assert kernels(joined.timeline) == [("k()", 0.1, 2.5), ("kernel id 8", 3.1, 0.5)]
    shape, unit = shape_of(joined, 0)
    assert blocks_of(shape.grid, shape.block, unit) is None


def test_two_processes_in_one_database_are_both_read(tmp_path: Path) -> None:
    path = database(tmp_path, (COMMON + SCHEMA_3).format(u="_a") + (COMMON + SCHEMA_3).format(u="_b"))
    joined = join(read_sqlite(path, Losses()))
    assert len(joined.timeline.kernels) == 4
    assert sorted(call for call in joined.call if call >= 0) == [0, 1]


def test_rpd_is_read_with_the_grid_of_its_launch_call(tmp_path: Path) -> None:
    joined = join(read_sqlite(database(tmp_path, RPD), Losses()))
    assert kernels(joined.timeline) == [("k()", 0.1, 2.5)]
    shape, unit = shape_of(joined, 0)
    assert (unit, blocks_of(shape.grid, shape.block, unit)) == (GridUnit.WORK_ITEMS, (192, 1, 1))
    assert joined.timeline.copies_us == [(2, 3.1, 1.0)]


def test_a_kernel_of_rpd_without_a_name_is_kept_and_counted(tmp_path: Path) -> None:
    unnamed = "INSERT INTO rocpd_op VALUES (3, 2, 1, 0, 6000, 6500, 5, 2), (4, 2, 1, 0, 7000, 7500, NULL, 2);"
    timeline = read_sqlite(database(tmp_path, RPD + unnamed), Losses())
    assert [name for name, _, _ in kernels(timeline)] == ["k()", "operation 3", "operation 4"]
    assert lost(timeline) == {"kernels whose symbol is not in the file (named by number)": 2}


def test_another_database_is_refused_with_its_tables(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="its tables are books"):
        read_sqlite(database(tmp_path, "CREATE TABLE books (title TEXT);"), Losses())


def test_a_database_cut_short_gives_what_stands_before_the_cut_or_says_why_not(tmp_path: Path) -> None:
    path = database(tmp_path, (COMMON + SCHEMA_3).format(u=""))
    connection = sqlite3.connect(path)
    values = ", ".join(f"({n}, 5, 2, 9, 1, 3, {n}000, {n}500, 0, 0, 64, 1, 1, 64, 1, 1, NULL)" for n in range(10, 3000))
    connection.execute(f"INSERT INTO rocpd_kernel_dispatch VALUES {values}")
    connection.commit()
    connection.close()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 3 // 4])
    losses = Losses()
    timeline = read_sqlite(path, losses)
    assert 0 < len(timeline.kernels) < 2992
    assert "damaged database: kernels could not be read to their end" in losses


def test_a_file_that_only_begins_like_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.db"
    path.write_bytes(b"SQLite format 3\0" + bytes(3000))
    with pytest.raises(TraceError, match="can't be read"):
        read_sqlite(path, Losses())


@pytest.mark.parametrize(
    ("script", "gone", "why"),
    [
        ((COMMON + SCHEMA_3).format(u=""), "rocpd_info_kernel_symbol", "kernels could not be read"),
        ((COMMON + SCHEMA_4).format(u=""), "rocpd_track", "no such table: rocpd_track"),
        (RPD, "rocpd_string", "operations could not be read to their end: no such table: rocpd_string"),
    ],
)
def test_a_database_of_whose_kernels_none_can_be_read_is_refused_with_the_reason(
    tmp_path: Path, script: str, gone: str, why: str
) -> None:
    path = database(tmp_path, script + f"DROP TABLE {gone};")
    with pytest.raises(TraceError, match=why) as refused:
        read_timeline(path)
    assert str(path) in refused.value.message


def test_a_database_whose_pages_are_overwritten_is_refused(tmp_path: Path) -> None:
    path = database(tmp_path, (COMMON + SCHEMA_3).format(u=""))
    content = path.read_bytes()
    page = int.from_bytes(content[16:18], "big")
    path.write_bytes(content[:page] + b"\xff" * (len(content) - page))
    with pytest.raises(TraceError, match="malformed"):
        read_timeline(path)


def test_a_database_without_dispatches_is_read_and_says_that_it_holds_no_kernels(tmp_path: Path) -> None:
    path = database(tmp_path, (COMMON + SCHEMA_3).format(u="") + "DELETE FROM rocpd_kernel_dispatch;")
    timeline = read_timeline(path)
    assert not len(timeline.kernels)
    assert "no kernels are in the trace" in lost(timeline)
