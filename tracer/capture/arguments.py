"""Summaries of arguments: any Python value in, an `Argument` out, without running a line of the value's own code.

A trace function sees half-made tensors and objects whose `repr` or attributes raise, recurse or launch work. So types
are told apart by identity and by the method resolution order as `type` itself stores it, and tensors are read through
the C accessors of torch's base class with overrides switched off.
"""

from __future__ import annotations

import enum
import math
import sys
from typing import Any

from tracer.model.capture import Argument, ArgumentKind, TensorInfo

_LONGEST_TEXT = 300
_MOST_ITEMS = 8
_DEEPEST = 2
#: where a FakeTensor keeps its device: torch 2.13, and before it (2.8 to 2.11)
_FAKE_DEVICE = ("_fake_device", "fake_device")

_MRO = type.__dict__["__mro__"].__get__
_QUALNAME = type.__dict__["__qualname__"].__get__
_MODULE = type.__dict__["__module__"].__get__
_NAMESPACE = type.__dict__["__dict__"].__get__


def type_name(kind: type) -> str:
    """The qualified name of a type, as `type` stores it; no metaclass is asked."""
    qualname, module = _QUALNAME(kind), _module(kind)
    return f"{module}.{qualname}" if module is not None and module != "builtins" else str(qualname)


def _module(kind: type) -> str | None:
    try:
        module = _MODULE(kind)
    except AttributeError:
        return None
    return module if type(module) is str else None


def _tensor_info(value: Any, kind: type, torch: Any) -> TensorInfo | None:
    base = torch._C.TensorBase
    try:
        with torch._C.DisableTorchFunctionSubclass():
            shape = tuple(int(n) for n in base.shape.__get__(value))
            dtype = str(base.dtype.__get__(value)).removeprefix("torch.")
            try:
                stride: tuple[int, ...] | None = tuple(int(n) for n in base.stride(value))
            except RuntimeError:  # sparse layouts have none
                stride = None
            device = _device(value, kind, torch)
    except Exception:  # noqa: BLE001 - a summary must never end the call that it describes
        return None
    return TensorInfo(shape, dtype, stride, device)


def _device(value: Any, kind: type, torch: Any) -> str | None:
    fake = sys.modules.get("torch._subclasses.fake_tensor")
    if fake is not None and kind is fake.FakeTensor:
        # FakeTensor.device is a Python property; the C accessor would call back into dispatch (torch 2.13)
        for name in _FAKE_DEVICE:
            try:
                return str(object.__getattribute__(value, name))
            except AttributeError:
                continue
        return None
    if kind in (torch.Tensor, torch.nn.Parameter):
        return str(torch._C.TensorBase.device.__get__(value))
    return None


def _enum_text(value: Any, kind: type) -> str | None:
    if enum.Enum in _MRO(kind):
        try:
            name, inside = (object.__getattribute__(value, part) for part in ("_name_", "_value_"))
        except AttributeError:
            return None
        shown = f" (={inside!r})" if type(inside) in (int, str, float, bool) else ""
        return f"{_QUALNAME(kind)}.{name}{shown}"
    if type(kind).__name__ == "pybind11_type":
        entries = _NAMESPACE(kind).get("__entries")
        for name, entry in entries.items() if type(entries) is dict else ():
            if type(entry) is tuple and entry and entry[0] == value:
                return f"{_QUALNAME(kind)}.{name} (={int(value)})"
    return None


def _scalar(value: str | int | float | bool, kind: type) -> str | int | float | bool:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else value[:_LONGEST_TEXT] + "…"
    if kind is float and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return hex(value)[:_LONGEST_TEXT]
    return value


def summarise(name: str, value: Any, depth: int = 0) -> Argument:
    """Describes one argument."""
    kind = type(value)
    if value is None:
        return Argument(name, ArgumentKind.NONE, "NoneType")
    if kind in (str, int, float, bool):
        return Argument(name, ArgumentKind.SCALAR, kind.__name__, _scalar(value, kind))
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "_C"):
        mro = _MRO(kind)
        if getattr(torch, "Tensor", None) in mro:
            return Argument(name, ArgumentKind.TENSOR, type_name(kind), None, _tensor_info(value, kind, torch))
        if kind is torch.dtype:
            return Argument(name, ArgumentKind.DTYPE, "torch.dtype", str(value).removeprefix("torch."))
        if kind is torch.device:
            return Argument(name, ArgumentKind.SCALAR, "torch.device", str(value))
    text = _enum_text(value, kind)
    if text is not None:
        return Argument(name, ArgumentKind.ENUM, type_name(kind), text)
    if kind in (list, tuple) or (_module(kind) == "torch" and tuple in _MRO(kind)):
        items = tuple(enumerate(value[:_MOST_ITEMS])) if depth < _DEEPEST else ()
        summaries = tuple(summarise(str(i), v, depth + 1) for i, v in items)
        return Argument(name, ArgumentKind.SEQUENCE, type_name(kind), len(value), None, summaries)
    if kind is dict:
        pairs = list(value.items())[:_MOST_ITEMS] if depth < _DEEPEST else []
        summaries = tuple(summarise(k, v, depth + 1) for k, v in pairs if type(k) is str)
        return Argument(name, ArgumentKind.MAPPING, "dict", len(value), None, summaries)
    return Argument(name, ArgumentKind.OBJECT, type_name(kind))
