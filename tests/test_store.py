"""Records on disk: what comes back, what is refused, and what never happens to the old file."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from tracer import store
from tracer.errors import RecordError
from tracer.model.capture import SCHEMA_VERSION, Argument, ArgumentKind, Call, CaptureRecord, Frame, Launch, TensorInfo
from tracer.model.environment import Environment, Target
from tracer.model.evidence import Evidence, Mode

RECORDS = sorted((Path(__file__).parent / "data" / "records").rglob("*.json"))


def a_record() -> CaptureRecord:
    tensor = Argument("x", ArgumentKind.TENSOR, "torch.Tensor", tensor=TensorInfo((2, 3), "bfloat16", (3, 1), "cuda:0"))
    return CaptureRecord(
        mode=Mode.DRY,
        call=Call(op="torch_mm", shape={"M": 2, "N": 3, "K": 4}),
        target=Target(arch="gfx942", compute_units=304),
        environment=Environment(ktrace="0.1.0"),
        recorded_at="2026-01-01T00:00:00Z",
        frames=(Frame(id=0, function="mm", arguments=(tensor,)),),
        launches=(Launch(id=0, kernel="k", grid=(1, 2, 3), evidence=Evidence.RESOLVED),),
    )


def test_a_record_comes_back_equal(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "r.json"
    store.save_record(a_record(), path)
    assert store.load_record(path) == a_record()
    assert path.read_text(encoding="utf-8").endswith("}\n")


def test_the_same_record_is_written_byte_for_byte_the_same() -> None:
    assert store.dump_record(a_record()) == store.dump_record(store.parse_record(store.dump_record(a_record()), "r"))


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "truncated or no JSON"),
        (store.dump_record(a_record())[:-40], "truncated or no JSON"),
        (b"[1, 2]", "no ktrace record"),
        (b'{"hello": 1}', "no ktrace record"),
        (b'{"schema_version": 0}', "no ktrace record"),
        (b'{"schema_version": 1, "mode": "wet"}', "claims to be a record"),
        (json.dumps({"schema_version": SCHEMA_VERSION + 1}).encode(), "newer ktrace"),
    ],
)
def test_what_is_no_record_of_ours_is_refused_with_the_reason(content: bytes, part: str) -> None:
    with pytest.raises(RecordError) as caught:
        store.parse_record(content, "r.json")
    assert "r.json" in caught.value.message
    assert part in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"nothing\.json"):
        store.load_record(tmp_path / "nothing.json")


def test_keys_that_a_later_minor_version_adds_do_not_hurt() -> None:
    content = json.loads(store.dump_record(a_record()))
    content["something_new"] = 1
    assert store.parse_record(json.dumps(content).encode(), "r") == a_record()


def test_a_failed_write_leaves_the_old_file_and_no_part_of_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    store.save_record(a_record(), path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.os, "replace", full)
    with pytest.raises(RecordError, match="No space left"):
        store.save_record(a_record(), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_a_record_meets_the_generated_schema() -> None:
    jsonschema.validate(json.loads(store.dump_record(a_record())), store.record_schema())


def test_the_schema_refuses_a_launch_without_evidence() -> None:
    content = json.loads(store.dump_record(a_record()))
    del content["launches"][0]["evidence"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, store.record_schema())


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
def test_stored_records_of_earlier_days_still_load_and_meet_the_schema(path: Path) -> None:
    record = store.load_record(path)
    jsonschema.validate(json.loads(path.read_bytes()), store.record_schema())
    assert store.parse_record(store.dump_record(record), "again") == record


def test_defaults_are_filled_in_for_keys_that_an_older_record_lacks() -> None:
    content = msgspec.to_builtins(a_record())
    for key in ("boundaries", "dispatches", "origin", "warnings"):
        del content[key]
    assert store.parse_record(json.dumps(content).encode(), "old") == a_record()
