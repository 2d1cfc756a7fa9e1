"""Any importable callable as an op: `pkg.mod:fn` and arguments such as `x=bf16[128,7168]` in, an Op out."""

from __future__ import annotations

import difflib
import importlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tracer.errors import UsageError
from tracer.model.roofline import Work
from tracer.ops.base import LARGEST_EXTENT, Op, Options, Shape, TensorFactory
from tracer.ops.signatures import check_arguments

_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_ARGUMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_TENSOR = re.compile(r"([A-Za-z]\w*)\[([^\]]*)\]")

#: short spellings -> torch's; torch's own spellings are taken too, and fp8 is the target's own
DTYPES = {
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "fp64": "float64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u32": "uint32",
    "fp4x2": "float4_e2m1fn_x2",
    "e8m0": "float8_e8m0fnu",
}
_TORCH_DTYPES = frozenset(DTYPES.values()) | {
    "bool",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
}
_WORDS = {"none": None, "None": None, "null": None, "true": True, "True": True, "false": False, "False": False}


class TensorSpec(msgspec.Struct, frozen=True):
    """A tensor argument: its dtype ("fp8", or torch's spelling) and its shape."""

    dtype: str
    shape: tuple[int, ...]


class DtypeSpec(msgspec.Struct, frozen=True):
    """A dtype argument."""

    dtype: str


class NamedSpec(msgspec.Struct, frozen=True):
    """An argument that a module holds, such as a member of an enum: `pkg.mod:Kind.member`."""

    path: str


def is_callable_path(text: str) -> bool:
    """Whether a text names a callable rather than an op: `pkg.mod:fn`."""
    return ":" in text


def dotted(text: str) -> str:
    """The dotted name of a callable's path (`pkg.mod:fn` -> `pkg.mod.fn`); any other text as it is."""
    path = text.strip()
    return path.replace(":", ".") if _PATH.fullmatch(path) else text


def parse_argument(text: str) -> tuple[str, Any]:
    """Reads one `--arg`: a name and a TensorSpec, a DtypeSpec, a NamedSpec or a plain value.

    A value is a tensor (`bf16[128,7168]`), a dtype (`bf16`), what a module holds (`aiter:QuantType.per_1x128`), none,
    true, false, or JSON (`3`, `"text"`, `[1, 2]`).

    Raises:
        UsageError: no such form; names the part.
    """
    found = _ARGUMENT.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"the argument {text!r} has no name", expected="name=value, for example x=bf16[128,7168]")
    name, value = found[1], found[2].strip()
    if value in _WORDS:
        return name, _WORDS[value]
    tensor = _TENSOR.fullmatch(value)
    if tensor is not None:
        return name, TensorSpec(_dtype(tensor[1], text), _extents(tensor[2], text))
    if _PATH.fullmatch(value):
        return name, NamedSpec(value)
    try:
        return name, json.loads(value)
    except ValueError:
        return name, DtypeSpec(_dtype(value, text))


def _dtype(text: str, whole: str) -> str:
    name = DTYPES.get(text, text)
    if name != "fp8" and name not in _TORCH_DTYPES:
        raise UsageError(
            f"{text!r} in the argument {whole!r} is no dtype and no value",
            expected=f"a dtype ({', '.join(DTYPES)}, fp8, or torch's name), a tensor such as bf16[128,7168], or JSON",
            hint='a string is written in double quotes: name="text"',
        )
    return name


def _extents(text: str, whole: str) -> tuple[int, ...]:
    try:
        extents = tuple(int(part) for part in text.split(",")) if text.strip() else ()
    except ValueError:
        extents = (-1,)
    if any(not 0 <= extent <= LARGEST_EXTENT for extent in extents):
        raise UsageError(
            f"[{text}] in the argument {whole!r} is no shape", expected=f"whole numbers from 0 to {LARGEST_EXTENT}"
        )
    return extents


class CallableOp(Op):
    """A callable that ktrace knows nothing about but how to call it.

    Args:
        path: `pkg.mod:fn`.
        arguments: texts as `parse_argument` reads them.

    Raises:
        UsageError: the path or an argument can't be read, or an argument stands twice.
    """

    summary = "any importable callable"
    dims = ()

    def __init__(self, path: str, arguments: Sequence[str]) -> None:
        if not _PATH.fullmatch(path):
            raise UsageError(f"{path!r} names no callable", expected="pkg.mod:fn, for example torch:mm")
        self.name = path  # type: ignore[misc]  # a class constant for ops that have a class of their own
        self.entry = path.replace(":", ".")  # type: ignore[misc]
        top = path.partition(":")[0].partition(".")[0]
        self.needs = ("torch", *((top,) if top in ("aiter", "triton") else ()))  # type: ignore[misc]
        self._arguments: dict[str, Any] = {}
        for text in arguments:
            name, value = parse_argument(text)
            if name in self._arguments:
                raise UsageError(f"the argument {name} of {path} stands twice", expected="each argument once")
            self._arguments[name] = value
        self._function: Any = None

    def check(self, shape: Shape) -> None:
        """A callable has no shape of its own: its arguments state theirs."""
        if shape:
            raise UsageError(f"{self.name} takes no --shape", hint="give each tensor's shape: --arg 'x=bf16[128,7168]'")

    def inputs(self, shape: Shape, options: Options, factory: TensorFactory) -> dict[str, Any]:
        self._function = self._load()
        check_arguments(self.name, self._function, tuple(self._arguments))
        return {name: self._value(value, factory) for name, value in self._arguments.items()}

    def call(self, inputs: Mapping[str, Any], options: Options, config: Mapping[str, Any] | None) -> Any:
        return self._function(**inputs)

    def work(self, shape: Shape, options: Options) -> Work | None:
        return None

    def _load(self) -> Any:
        found = _held(self.name, "a callable of that module")
        if not callable(found):
            raise UsageError(f"{self.name} is a {type(found).__name__}, no callable", expected="a function or class")
        return found

    def _value(self, value: Any, factory: TensorFactory) -> Any:
        if isinstance(value, TensorSpec):
            return factory.tensor(value.shape, _torch_dtype(value.dtype))
        if isinstance(value, NamedSpec):
            return _held(value.path, "a name of that module")
        return _torch_dtype(value.dtype) if isinstance(value, DtypeSpec) else value


def _held(name: str, expected: str) -> Any:
    """What a module holds under `pkg.mod:a.b`."""
    module_name, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        what = (
            "does not exist" if module_name.startswith(missing) else f"needs the module {missing!r}, which is missing"
        )
        raise UsageError(
            f"the module {module_name} of {name} {what}",
            expected="a module that this Python can import",
            hint="check PYTHONPATH and what is installed",
        ) from None
    for part in path.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, (name for name in dir(found) if not name.startswith("_")), n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else None
            raise UsageError(f"{module_name} has no {path}", expected=expected, hint=hint)
        found = getattr(found, part)
    return found


def _torch_dtype(name: str) -> Any:
    import torch

    if name == "fp8":
        # CDNA3 computes in the fnuz encodings, CDNA4 and NVIDIA in OCP's
        arch = getattr(torch.cuda.get_device_properties(0), "gcnArchName", "")
        name = "float8_e4m3fnuz" if arch.startswith("gfx942") else "float8_e4m3fn"
    dtype = getattr(torch, name, None)
    if dtype is None:
        raise UsageError(f"this torch has no dtype {name}", hint="use another dtype, or a newer torch")
    return dtype
