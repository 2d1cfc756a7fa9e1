"""Files of every kind by what they hold, and Triton's own metadata beside them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from tests.codeobjects.handmade import bundle, code_object, compressed, elf, host_module, kernel, wave
from tests.codeobjects.texts import AMDGCN, PTX
from tracer.codeobjects.files import FileKind, read_code_file, resources_of
from tracer.codeobjects.kernel import CodeObject
from tracer.errors import CodeObjectError, RecordError
from tracer.model.capture import Call, CaptureRecord, CompiledKernel, Launch, Resources
from tracer.model.environment import Environment, Target
from tracer.model.evidence import Evidence, Mode
from tracer.model.source import Dispatch
from tracer.store import dump_record

ONE = code_object([kernel("k")])


@pytest.mark.parametrize(
    ("content", "kind", "names"),
    [
        (ONE, FileKind.CODE_OBJECT, ["k"]),
        (bundle([(wave("gfx942"), ONE), (wave("gfx950"), ONE)]), FileKind.BUNDLE, ["k", "k"]),
        (compressed(bundle([(wave("gfx942"), ONE)])), FileKind.BUNDLE, ["k"]),
        (host_module(bundle([(wave("gfx942"), ONE)])), FileKind.MODULE, ["k"]),
        (AMDGCN.encode(), FileKind.AMD_ASSEMBLY, ["scale"]),
        (PTX.encode(), FileKind.PTX, ["gemm", "tiny"]),
    ],
    ids=[str(kind) for kind in ("code object", "bundle", "compressed bundle", "module", "assembly", "ptx")],
)
def test_the_kind_is_found_by_content_not_by_name(
    tmp_path: Path, content: bytes, kind: FileKind, names: list[str]
) -> None:
    path = tmp_path / "anything.txt"
    path.write_bytes(content)
    file = read_code_file(path)
    assert (file.kind, [found.name for found in file.kernels]) == (kind, names)
    assert [found.name for found in resources_of(path)] == names


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"just text", "no compiled code that ktrace reads"),
        (b"\x00\xff\xfe", "no compiled code that ktrace reads"),
        (elf([], machine=190), "CUDA"),
    ],
    ids=["empty", "text", "bytes", "cubin"],
)
def test_another_file_is_refused_with_what_would_do(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(CodeObjectError) as refused:
        read_code_file(path)
    assert said in refused.value.message
    assert refused.value.expected


def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.co", tmp_path):
        with pytest.raises(CodeObjectError, match="can't be read"):
            read_code_file(path)


def test_json_that_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    path.write_text('{"shared": 4096}')
    with pytest.raises(RecordError):
        read_code_file(path)


def test_tritons_metadata_beside_a_file_states_its_lds(tmp_path: Path) -> None:
    (tmp_path / "scale.json").write_text(json.dumps({"name": "scale", "shared": 20480, "num_warps": 4}))
    path = tmp_path / "scale.amdgcn"
    path.write_text(AMDGCN)
    (found,) = resources_of(path)
    assert (found.resources.lds_bytes, found.lds_is_whole) == (20480, True)
    assert "scale.json" in found.notes[-1]


@pytest.mark.parametrize(
    "stated", ["no json", "[]", '{"name": "other", "shared": 1}', '{"name": "scale", "shared": true}']
)
def test_other_json_beside_a_file_changes_nothing(tmp_path: Path, stated: str) -> None:
    (tmp_path / "scale.json").write_text(stated)
    (tmp_path / "scale.amdgcn").write_text(AMDGCN)
    (found,) = resources_of(tmp_path / "scale.amdgcn")
    assert (found.resources.lds_bytes, found.lds_is_whole) == (0, False)


def test_each_code_object_can_be_counted_while_it_is_read(tmp_path: Path) -> None:
    seen: list[tuple[bytes, str | None]] = []

    def count(content: bytes, code: CodeObject) -> CodeObject:
        seen.append((content, code.entry))
        return msgspec.structs.replace(code, version=99)

    for name, content in (("a.co", ONE), ("b.so", host_module(bundle([(wave("gfx942"), ONE)])))):
        (tmp_path / name).write_bytes(content)
        assert [code.version for code in read_code_file(tmp_path / name, count).objects] == [99]
    assert seen == [(ONE, None), (ONE, wave("gfx942"))]


def _record(mode: Mode, *launches: Launch, dispatches: tuple[Dispatch, ...] = ()) -> CaptureRecord:
    return CaptureRecord(
        mode=mode,
        call=Call(op="gemm"),
        target=Target(arch="gfx942", wave_size=64),
        environment=Environment(ktrace="0"),
        recorded_at="2026-01-01T00:00:00Z",
        launches=launches,
        dispatches=dispatches,
    )


def _launch(number: int, **more: object) -> Launch:
    return Launch(id=number, evidence=Evidence.RESOLVED, **more)  # type: ignore[arg-type]


def test_a_record_shows_each_kernel_once_with_what_was_compiled(tmp_path: Path) -> None:
    compiled = CompiledKernel(target="gfx942", instructions={"v_mfma_f32_32x32x8_bf16": 8, "s_nop": 2})
    alike = {"kernel": "gemm_kernel", "block": (256, 1, 1), "resources": Resources(vgprs=100, lds_bytes=4096)}
    path = tmp_path / "record.json"
    path.write_bytes(
        dump_record(
            _record(
                Mode.DRY,
                _launch(0, compiled=compiled, **alike),
                _launch(1, compiled=compiled, **alike),
                _launch(2, instance="a8w8_instance"),
                _launch(3, boundary=7),
                _launch(4, boundary=8),
                dispatches=(Dispatch(boundary=7, symbols=("symbol",)),),
            )
        )
    )
    file = read_code_file(path)
    first, second, third = file.kernels
    assert (file.kind, first.name, second.name, third.name) == (
        FileKind.RECORD,
        "gemm_kernel",
        "a8w8_instance",
        "symbol",
    )
    assert (first.launched_block, first.threads, first.resources.vgprs, first.lds_is_whole) == (
        (256, 1, 1),
        256,
        100,
        True,
    )
    assert (first.instructions, first.instructions_from) == (compiled.instructions, "record")
    assert (second.instructions, second.instructions_from) == (None, None)
    assert [(lost.what, lost.count) for lost in file.objects[0].lost] == [("launches whose kernel is not known", 1)]


@pytest.mark.parametrize(("mode", "apart"), [(Mode.DRY, False), (Mode.IMPORTED, True)])
def test_profilers_report_accumulation_registers_apart(tmp_path: Path, mode: Mode, apart: bool) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(dump_record(_record(mode, _launch(0, kernel="k", resources=Resources(vgprs=64, agprs=64)))))
    assert resources_of(path)[0].agprs_apart is apart
