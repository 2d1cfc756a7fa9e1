"""What code objects state of their kernels: hand-made ones, broken ones, and every one that the wheel ships."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.codeobjects.handmade import GFX90A, GFX950, code_object, elf, kernel, note
from tracer.codeobjects.files import resources_of
from tracer.codeobjects.kernel import CodeObject, KernelArgument
from tracer.codeobjects.metadata import kernel_notes, read_code_object
from tracer.errors import CodeObjectError


def test_a_kernel_says_what_it_takes() -> None:
    stated = kernel(
        "scale",
        agpr_count=16,
        vgpr_spill_count=3,
        sgpr_spill_count=0,
        group_segment_fixed_size=20480,
        private_segment_fixed_size=104,
        kernarg_segment_size=56,
        max_flat_workgroup_size=256,
        reqd_workgroup_size=[256, 1, 1],
        uses_dynamic_stack=False,
        args=[{".name": "x", ".offset": 0, ".size": 8, ".value_kind": "global_buffer", ".address_space": "global"}],
    )
    code = read_code_object(code_object([stated]), "a.co")
    (found,) = code.kernels
    res = found.resources
    assert (str(code.target), code.version, code.lost) == ("gfx942", 5, ())
    assert (res.vgprs, res.agprs, res.sgprs, res.lds_bytes, res.scratch_bytes) == (128, 16, 32, 20480, 104)
    assert (res.vgpr_spills, res.sgpr_spills, found.wave_size, found.kernarg_bytes) == (3, 0, 64, 56)
    assert (found.max_block_threads, found.required_block, found.threads) == (256, (256, 1, 1), 256)
    assert found.arguments == (
        KernelArgument(name="x", kind="global_buffer", offset=0, size_bytes=8, address_space="global"),
    )


def test_what_is_not_stated_is_not_known() -> None:
    (found,) = read_code_object(code_object([{".name": "bare"}]), "a.co").kernels
    assert (found.resources.vgprs, found.resources.lds_bytes, found.wave_size, found.threads) == (None,) * 4
    assert found.arguments == ()


@pytest.mark.parametrize(("machine", "allocated"), [(GFX950, 128), (GFX90A, 128), (0x4E, 64)])
def test_the_descriptor_says_how_registers_are_allocated(machine: int, allocated: int) -> None:
    (found,) = read_code_object(code_object([kernel("k")], machine=machine), "a.co").kernels
    unified = machine in (GFX950, GFX90A)
    assert (found.allocated_vgprs, found.architectural_vgprs) == (allocated, 64 if unified else None)


def test_the_size_of_code_is_stated_or_reckoned_up_to_what_follows() -> None:
    kernels = [kernel("first"), kernel("second"), kernel("third")]
    code = read_code_object(code_object(kernels, sizes={"second": 100}), "a.co")
    assert [found.code_bytes for found in code.kernels] == [256, 100, 256]
    assert [found.code_bytes_note for found in code.kernels] == [
        "its symbol states no size: up to the next function",
        None,
        "its symbol states no size: up to the end of .text",
    ]


def test_a_kernel_with_broken_metadata_is_counted_and_the_others_are_read() -> None:
    code = read_code_object(code_object([kernel("good"), kernel("bad", vgpr_count="many"), kernel("fine")]), "a.co")
    assert [found.name for found in code.kernels] == ["good", "fine"]
    (lost,) = code.lost
    assert (lost.what, lost.count) == ("kernels whose metadata can't be read", 1)
    assert "vgpr_count" in (lost.detail or "")


@pytest.mark.parametrize("metadata", [b"", b"\xc1", b"\x81\xa1x", b"\x93\x01\x02\x03", b"\x81\xaeamdhsa.kernels\x05"])
def test_metadata_that_is_no_map_of_kernels_is_counted(metadata: bytes) -> None:
    code = read_code_object(code_object([], metadata=metadata), "a.co")
    assert code.kernels == ()
    assert [lost.what for lost in code.lost] == ["metadata notes that are no MessagePack map of kernels"]


def test_a_code_object_without_metadata_says_so() -> None:
    code = read_code_object(code_object([kernel("k")], with_note=False), "a.co")
    (lost,) = code.lost
    assert (code.kernels, lost.what, lost.detail) == (
        (),
        "metadata notes that are missing",
        "the file has no such note",
    )


def test_a_note_that_is_cut_off_says_how_much_is_missing() -> None:
    whole = note(msgspec.msgpack.encode({"amdhsa.kernels": [kernel("k")]}))
    content = bytearray(elf([(".text", "progbits", 0, b"", 0), (".note", "note", 0, whole, 0)], flags=0x54C))
    at = len(content) - 2 * 64  # the header of the note section, before that of .shstrtab
    struct.pack_into("<Q", content, at + 32, 10_000)
    assert [found.name for found in read_code_object(bytes(content), "a.co").kernels] == ["k"]
    struct.pack_into("<Q", content, at + 24, len(content) - 20)
    (lost,) = read_code_object(bytes(content), "a.co").lost
    assert lost.detail == "the file ends 9980 bytes before its notes do"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"hello world", "is no ELF file"),
        (b"\x7fELF", "broken or cut off"),
        (code_object([kernel("k")])[:700], "broken or cut off"),
        (elf([], machine=62), "for x86-64"),
        (elf([], machine=190), "CUDA code"),
    ],
)
def test_what_is_no_code_object_is_refused_with_a_reason(content: bytes, said: str) -> None:
    with pytest.raises(CodeObjectError) as refused:
        read_code_object(content, "a.co")
    assert said in refused.value.message
    assert "a.co" in refused.value.message
    assert kernel_notes(content) == ()


def test_every_prefix_of_a_code_object_is_read_or_refused() -> None:
    whole = code_object([kernel("k", args=[{".name": "x", ".offset": 0, ".size": 8}])])
    outcomes = [_read(whole[:length]) for length in range(0, len(whole), 7)]
    assert outcomes[-1] is None
    assert _read(whole) is not None


def _read(content: bytes) -> CodeObject | None:
    try:
        return read_code_object(content, "a.co")
    except CodeObjectError:
        return None


@pytest.mark.parametrize("seed", range(4))
def test_a_spoiled_code_object_never_raises_anything_else(seed: int) -> None:
    chosen = random.Random(seed)
    whole = code_object([kernel("k", args=[{".name": "x", ".offset": 0, ".size": 8}]), kernel("other")])
    read = 0
    for _ in range(400):
        content = bytearray(whole)
        for _ in range(chosen.choice((1, 2, 8, 40))):
            content[chosen.randrange(len(content))] = chosen.randrange(256)
        read += _read(bytes(content)) is not None
    assert read > 0


#: key of the corpus -> where the same fact stands in ours
def _facts(code: CodeObject) -> dict[str, Any]:
    (found,) = code.kernels
    return {
        "metadata_kernel_name": found.name,
        "vgpr_count": found.resources.vgprs,
        "agpr_count": found.resources.agprs,
        "sgpr_count": found.resources.sgprs,
        "lds_bytes": found.resources.lds_bytes,
        "kernarg_size": found.kernarg_bytes,
        "max_flat_workgroup_size": found.max_block_threads,
        "wavefront_size": found.wave_size,
        "vgpr_spill": found.resources.vgpr_spills,
    }


def _rows(ktrace_data: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (ktrace_data / "names" / "corpus.jsonl").read_text().splitlines()]
    return [row for row in rows if row.get("co_resources")]


def _files(root: Path, row: dict[str, Any]) -> list[Path]:
    """The code object of a row: beside its table, or in a folder for one part below it."""
    folder = root / Path(row["origin"]).parent
    return [at / row["co_name"] for at in (folder, *sorted(folder.glob("*/"))) if (at / row["co_name"]).is_file()]


def test_resources_are_those_that_others_read_from_the_same_files_of_main(aiter_main: Path, ktrace_data: Path) -> None:
    for row in _rows(ktrace_data):
        stated = dict(row["co_resources"])
        target = stated.pop("target")
        files = _files(aiter_main, row)
        assert files, row["co_name"]
        for file in files:
            code = read_code_object(file.read_bytes(), row["co_name"])
            assert _facts(code) == stated, row["co_name"]
            assert code.target.arch == row["isa_of_file"]
            assert target in (None, f"amdgcn-amd-amdhsa--{code.target}")


def test_resources_are_those_that_others_read_from_the_same_files_of_the_wheel(hsa: Path, ktrace_data: Path) -> None:
    rows = [row for row in _rows(ktrace_data) if "wheel" in row["versions"]]
    assert rows
    for row in rows:
        stated = {key: value for key, value in row["co_resources"].items() if key != "target"}
        for file in _files(hsa.parent, row):
            facts = _facts(read_code_object(file.read_bytes(), row["co_name"]))
            # the corpus has main's figures: seven kernels of paged attention took fewer arguments in the wheel
            facts["kernarg_size"] = stated["kernarg_size"]
            assert facts == stated, row["co_name"]


def test_every_code_object_of_the_wheel_is_read_whole(hsa: Path) -> None:
    files = sorted(hsa.rglob("*.co"))
    assert files
    for file in files:
        code = read_code_object(file.read_bytes(), file.name)
        (found,) = code.kernels
        assert code.lost == ()
        assert code.target.arch == file.relative_to(hsa).parts[0]
        assert found.resources.vgprs is not None
        assert found.allocated_vgprs is not None
        # the note's figure, rounded up to the granule of 8, is what the descriptor asks for
        assert -(-found.resources.vgprs // 8) * 8 == found.allocated_vgprs
        assert found.code_bytes
        assert found.arguments


def test_resources_of_gives_the_kernels_of_a_path(tmp_path: Path) -> None:
    file = tmp_path / "a.co"
    file.write_bytes(code_object([kernel("k")]))
    assert [found.name for found in resources_of(file)] == ["k"]
