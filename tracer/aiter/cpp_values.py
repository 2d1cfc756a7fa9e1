"""What C++ host code works on when nothing runs: tensors without values, element types, extents, what stays unknown.

Methods are those that aiter's dispatching code calls on torch tensors and optionals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracer.model.capture import TensorInfo

#: torch's spelling of at::ScalarType's members and of the torch::k constants
_SCALAR_TYPES = {
    "Half": "float16", "BFloat16": "bfloat16", "Float": "float32", "Double": "float64", "Char": "int8", "Byte": "uint8",
    "Int": "int32", "Long": "int64", "Short": "int16", "Bool": "bool", "Float8_e4m3fn": "float8_e4m3fn",
    "Float8_e4m3fnuz": "float8_e4m3fnuz", "Float8_e8m0fnu": "float8_e8m0fnu", "Float4_e2m1fn_x2": "float4_e2m1fn_x2",
    "UInt32": "uint32", "Int8": "int8", "Int32": "int32", "Float32": "float32", "UInt8": "uint8", "Float16": "float16",
    "kHalf": "float16",
}  # fmt: skip


#: bytes of one stored element, by torch's name of the type
ELEMENT_BYTES = {
    "float8_e4m3fnuz": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e8m0fnu": 1, "float4_e2m1fn_x2": 1, "int8": 1,
    "uint8": 1, "bool": 1, "bfloat16": 2, "float16": 2, "int16": 2, "float32": 4, "int32": 4, "uint32": 4, "int64": 8,
    "float64": 8,
}  # fmt: skip


class Unknown:
    """A value that host code has and that nothing here can tell.

    Attributes:
        text: how the source writes it.
        name: whether it is a bare name (a function or instance that another file defines).
    """

    def __init__(self, text: str, *, name: bool = False) -> None:
        self.text = text
        self.name = name


class U32(int):
    """A `uint32_t`: what is computed with one is one, and comes round at 2**32."""

    def __new__(cls, value: int) -> U32:
        """The value as 32 bits hold it."""
        return super().__new__(cls, int(value) & 0xFFFFFFFF)


class Null:
    """nullptr, std::nullopt, an optional that was not given."""


class InstanceRef:
    """A kernel instance that a dispatching function returned.

    Attributes:
        name: as it is written (without template arguments).
        types: template arguments, resolved as far as they are known.
        line: where it is returned.
        from_table: whether the look-up table gave it.
    """

    def __init__(self, name: str, types: tuple[str, ...], line: int, *, from_table: bool = False) -> None:
        self.name = name
        self.types = types
        self.line = line
        self.from_table = from_table


class Dim3:
    """A launch extent."""

    def __init__(self, x: Any = 1, y: Any = 1, z: Any = 1) -> None:
        self.x, self.y, self.z = x, y, z

    def plain(self) -> tuple[int, int, int] | None:
        """The three numbers; None when one of them is not known."""
        if isinstance(self.x, int) and isinstance(self.y, int) and isinstance(self.z, int):
            return int(self.x), int(self.y), int(self.z)
        return None


class DType:
    """An element type, in torch's spelling."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DType) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def scalar_type(text: str) -> DType | None:
    """The type that `at::ScalarType::Half`, `torch::kInt8` and their kin name; None for other text."""
    head, _, last = text.rpartition("::")
    if head.endswith("ScalarType"):
        return DType(_SCALAR_TYPES[last]) if last in _SCALAR_TYPES else None
    if head in ("torch", "at", "c10") and last.startswith("k") and last[1:] in _SCALAR_TYPES:
        return DType(_SCALAR_TYPES[last[1:]])
    return None


class Tensor:
    """A torch tensor (or a given optional of one) of which shape and type are known."""

    def __init__(self, info: TensorInfo) -> None:
        self.info = info

    def method(self, name: str) -> Callable[..., Any] | None:
        """A method by name; None for one that is not known."""
        shape = self.info.shape
        known: dict[str, Callable[..., Any]] = {
            "size": lambda i: _at(shape, i, "size"),
            "dim": lambda: len(shape),
            "numel": self._numel,
            "stride": lambda i: _at(self.info.stride or (), i, "stride"),
            "dtype": lambda: DType(self.info.dtype),
            "scalar_type": lambda: DType(self.info.dtype),
            "is_contiguous": self._contiguous,
            "has_value": lambda: True,
            "defined": lambda: True,
            "value": lambda: self,
            "data_ptr": lambda: True,
            "element_size": self._element_size,
            "itemsize": self._element_size,
            "transpose": self._transposed,
        }
        return known.get(name)

    def _numel(self) -> int:
        count = 1
        for extent in self.info.shape:
            count *= extent
        return count

    def _element_size(self) -> int | Unknown:
        return ELEMENT_BYTES.get(self.info.dtype, Unknown("element_size()"))

    def _transposed(self, first: Any, second: Any) -> Tensor | Unknown:
        if not isinstance(first, int) or not isinstance(second, int):
            return Unknown("transpose()")
        order = list(range(len(self.info.shape)))
        order[first], order[second] = order[second], order[first]
        stride = self.info.stride
        moved = tuple(stride[axis] for axis in order) if stride is not None else None
        shape = tuple(self.info.shape[axis] for axis in order)
        return Tensor(TensorInfo(shape, self.info.dtype, moved, self.info.device))

    def _contiguous(self) -> bool | Unknown:
        if self.info.stride is None:
            return Unknown("is_contiguous()")
        expected = 1
        for extent, stride in zip(reversed(self.info.shape), reversed(self.info.stride), strict=True):
            if extent != 1 and stride != expected:
                return False
            expected *= extent
        return True


def _at(extents: Sequence[int], index: Any, what: str) -> int | Unknown:
    """One of a tensor's extents; Unknown for an axis that it does not have."""
    known = isinstance(index, int) and -len(extents) <= index < len(extents)
    return extents[index] if known else Unknown(f"{what}({index})")
