"""What operators were called with: a torch.profiler trace and external ids in, arguments with shapes and types out.

Shapes are the largest part of a trace and only pages need them, so they are read in a second pass, for the operators
that a page shows.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from tracer.importers.arrays import ArrayStream
from tracer.importers.bytestream import ByteStream, Progress
from tracer.importers.elements import Elements
from tracer.importers.kineto_events import FIRST_KEYS
from tracer.importers.losses import Losses
from tracer.importers.timeline import MISSING
from tracer.model.capture import Argument, ArgumentKind, TensorInfo

_NONE = msgspec.Raw(b"null")

#: the profiler's names of C++ types -> torch's names of dtypes
_DTYPES = {
    "c10::BFloat16": "bfloat16",
    "c10::Half": "float16",
    "float": "float32",
    "double": "float64",
    "long int": "int64",
    "long": "int64",
    "int": "int32",
    "short int": "int16",
    "short": "int16",
    "signed char": "int8",
    "unsigned char": "uint8",
    "bool": "bool",
}
_ITEMS = 8


class _OpArgs(msgspec.Struct, gc=False, frozen=True, rename={
    "external": "External id",
    "dims": "Input Dims",
    "strides": "Input Strides",
    "types": "Input type",
    "concrete": "Concrete Inputs",
}):  # fmt: skip
    external: int = MISSING
    dims: msgspec.Raw = _NONE
    strides: msgspec.Raw = _NONE
    types: msgspec.Raw = _NONE
    concrete: msgspec.Raw = _NONE


class _OpEvent(msgspec.Struct, gc=False, frozen=True):
    cat: str = ""
    args: _OpArgs = _OpArgs()


_DECODER = msgspec.json.Decoder(list[_OpEvent])


def _decode(text: bytes | memoryview) -> list[_OpEvent]:
    """Decodes a copy: raw values keep the text that they stand in."""
    return _DECODER.decode(bytes(text))


def dtype_name(text: str) -> str:
    """Torch's name of a type that the profiler names in C++; the text itself where there is none."""
    known = _DTYPES.get(text)
    if known is not None:
        return known
    bare = text.removeprefix("c10::")
    return bare[:1].lower() + bare[1:] if text.startswith("c10::") else text


def _scalar(text: str) -> str | int | float | bool | None:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


def _tensor(dims: Any, strides: Any, type_name: str) -> TensorInfo | None:
    if not isinstance(dims, list) or not all(isinstance(d, int) for d in dims):
        return None
    fitting = isinstance(strides, list) and len(strides) == len(dims) and all(isinstance(s, int) for s in strides)
    return TensorInfo(tuple(dims), dtype_name(type_name), tuple(strides) if fitting else None)


def _argument(position: int, type_name: str, dims: Any, strides: Any, concrete: str) -> Argument:
    name = str(position)
    if not type_name:
        return Argument(name, ArgumentKind.NONE, "")
    if type_name == "Scalar":
        return Argument(name, ArgumentKind.SCALAR, "Scalar", _scalar(concrete))
    if type_name == "ScalarList":
        return Argument(name, ArgumentKind.SEQUENCE, "ScalarList", concrete or None)
    if type_name == "TensorList" and isinstance(dims, list):
        items = [_tensor(d, None, "") for d in dims[:_ITEMS]]
        return Argument(
            name,
            ArgumentKind.SEQUENCE,
            "TensorList",
            len(dims),
            items=tuple(
                Argument(str(i), ArgumentKind.TENSOR, "Tensor", tensor=tensor)
                for i, tensor in enumerate(items)
                if tensor is not None
            ),
        )
    tensor = _tensor(dims, strides, type_name)
    if tensor is None:
        return Argument(name, ArgumentKind.OBJECT, type_name, concrete or None)
    return Argument(name, ArgumentKind.TENSOR, "Tensor", tensor=tensor)


def arguments_of(types: Any, dims: Any, strides: Any, concrete: Any) -> tuple[Argument, ...]:
    """The arguments that an operator's four lists describe; empty where they are missing or do not fit together."""
    if not isinstance(types, list):
        return ()
    columns = [c if isinstance(c, list) else [] for c in (dims, strides, concrete)]
    found = []
    for position, type_name in enumerate(types):
        dim, stride, text = (c[position] if position < len(c) else None for c in columns)
        found.append(_argument(position, str(type_name), dim, stride, text if isinstance(text, str) else ""))
    return tuple(found)


def _value(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return None


def read_op_inputs(
    path: Path, wanted: Collection[int], progress: Progress | None = None
) -> dict[int, tuple[Argument, ...]]:
    """Reads what operators were called with.

    Args:
        path: the trace that was read before.
        wanted: external ids of the operators.
        progress: as for reading the trace.

    Returns:
        external id -> arguments; operators whose inputs were not recorded are not there, nor are ids that several
        operators with other inputs share, as in files merged from several processes.
    """
    if not wanted:
        return {}
    losses = Losses()  # the first pass has counted them
    elements = Elements(first_keys=FIRST_KEYS, decode=_decode, loosen=lambda value, byte: None)
    found: dict[int, tuple[Argument, ...]] = {}
    shared: set[int] = set()
    for batch in ArrayStream(
        ByteStream(path, losses, progress).blocks(), {"traceEvents": elements, "": elements}, losses
    ):
        for event in batch.items:
            if event.args.external in wanted and event.cat == "cpu_op":
                args = event.args
                given = arguments_of(*map(_value, (args.types, args.dims, args.strides, args.concrete)))
                if found.setdefault(args.external, given) != given:
                    shared.add(args.external)
    return {external: given for external, given in found.items() if external not in shared}
