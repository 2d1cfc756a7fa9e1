"""Records on disk: a record in, a JSON file out, and back; old versions load, and no half-written file is ever left."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from tracer.errors import RecordError
from tracer.model.capture import SCHEMA_VERSION, CaptureRecord

#: mappings keep their order: a shape reads M, N, K and a kernel's constants stand as declared
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(CaptureRecord)


class _Head(msgspec.Struct):
    """What must be read before the version is known."""

    schema_version: int


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file beside `path` and renames it, so that readers see the old file or the new one, never a part.

    Raises:
        OSError: the folder can't be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def dump_record(record: CaptureRecord) -> bytes:
    """The record as indented JSON text with a final newline."""
    return msgspec.json.format(_ENCODER.encode(record), indent=1) + b"\n"


def save_record(record: CaptureRecord, path: Path) -> None:
    """Writes a record to `path`, atomically.

    Raises:
        RecordError: the file can't be written.
    """
    try:
        write_atomically(path, dump_record(record))
    except OSError as error:
        raise RecordError(
            f"the record {path} can't be written: {error.strerror or error}", hint="choose another folder with --out"
        ) from None


def parse_record(content: bytes, name: str) -> CaptureRecord:
    """Reads a record from JSON text.

    Args:
        content: the text.
        name: what to call it in messages.

    Raises:
        RecordError: truncated, of a newer schema, or no record at all.
    """
    try:
        head = msgspec.json.decode(content, type=_Head)
    except msgspec.DecodeError as error:
        what = "is truncated or no JSON" if not isinstance(error, msgspec.ValidationError) else "is no ktrace record"
        raise RecordError(
            f"{name} {what}: {error}", expected="a JSON record that `ktrace run` or `ktrace import` wrote"
        ) from None
    if head.schema_version < 1:
        raise RecordError(
            f"{name} is no ktrace record: there is no schema version {head.schema_version}",
            expected="a JSON record that `ktrace run` or `ktrace import` wrote",
        )
    if head.schema_version > SCHEMA_VERSION:
        raise RecordError(
            f"{name} has schema version {head.schema_version}; this ktrace reads up to {SCHEMA_VERSION}",
            hint="install a newer ktrace",
        )
    try:
        return _DECODER.decode(content)
    except msgspec.ValidationError as error:
        raise RecordError(
            f"{name} claims to be a record of schema version {head.schema_version}, but is not: {error}",
            expected="the fields that docs/record.md describes",
        ) from None


def load_record(path: Path) -> CaptureRecord:
    """Reads a record from a file. Raises RecordError as parse_record does, or when the file can't be read."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RecordError(f"the record {path} can't be read: {error.strerror or error}") from None
    return parse_record(content, str(path))


def record_schema() -> dict[str, Any]:
    """The JSON Schema of a record, generated from the model."""
    schema = msgspec.json.schema(CaptureRecord)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "ktrace record", **schema}
