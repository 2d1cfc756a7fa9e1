"""Tensors without storage on a GPU that is not there: shapes in, fake tensors out.

torch's FakeTensorMode makes the tensors. Ops that a library registers in Python would run their fake implementation
under it; a dispatch mode above it calls their real body, so that the frames below are the ones a GPU run has.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tracer.capture.boundary import Boundary
from tracer.capture.values import MOST_ELEMENTS, Values

#: namespaces of torch's own ops: their fake implementations are what a dry run wants
_TORCH_NAMESPACES = frozenset(
    {"aten", "prims", "prim", "quantized", "inductor", "c10d", "_c10d_functional", "mkldnn", "rngprims", "streams",
     "symm_mem", "debugprims", "profiler", "flex_lib", "inductor_prims"}
)  # fmt: skip
#: dispatch keys under which a real body may stand, best first
_REAL_KEYS = ("CUDA", "CompositeExplicitAutograd", "CPU")
_ALIGNMENT = 1 << 21
#: operators of torch that compute nothing on a GPU, besides views: they make storage, copy handles, or check
_NO_KERNEL = frozenset(
    {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_", "set_",
     "_unsafe_view", "_reshape_alias", "lift_fresh", "_assert_tensor_metadata", "_local_scalar_dense", "is_same_size"}
)  # fmt: skip


class RealBodies:
    """Collects the Python bodies that libraries register for their ops, from `install` on."""

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary
        self._bodies: dict[str, dict[str, Callable[..., Any]]] = {}

    def install(self) -> None:
        """Watches torch.library.Library; what is registered still is."""
        import torch.library

        library = torch.library.Library
        real_impl, real_fake = library.impl, library._register_fake
        bodies = self

        def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **kwargs: Any) -> Any:
            result = real_impl(self, op_name, fn, dispatch_key, **kwargs)
            if self.ns not in _TORCH_NAMESPACES and isinstance(fn, types.FunctionType):
                bodies._bodies.setdefault(_full_name(self.ns, op_name), {})[dispatch_key or "CPU"] = fn
            return result

        def register_fake(self: Any, op_name: str, fn: Any, *args: Any, **kwargs: Any) -> Any:
            result = real_fake(self, op_name, fn, *args, **kwargs)
            if self.ns == "aiter" and isinstance(fn, types.FunctionType):
                bodies._boundary.remember_fake(op_name.rpartition("::")[2], fn)
            return result

        library.impl = impl
        library._register_fake = register_fake

    def body(self, op: str) -> Callable[..., Any] | None:
        """The real body of an op called `namespace::name`, or None."""
        found = self._bodies.get(op, {})
        return next((found[key] for key in _REAL_KEYS if key in found), None)


def _full_name(namespace: str, op_name: Any) -> str:
    text = op_name if isinstance(op_name, str) else op_name.name()
    return text if "::" in text else f"{namespace}::{text}"


class DryTensors:
    """Makes tensors and runs calls under the modes that make them work. Also a TensorFactory for ops.

    Args:
        values: asked for values, and told of constants.
        bodies: the real bodies of libraries' ops.
    """

    def __init__(self, values: Values, bodies: RealBodies) -> None:
        import torch
        from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
        from torch.utils._python_dispatch import TorchDispatchMode

        self._torch = torch
        self._fake_mode = FakeTensorMode(allow_non_fake_inputs=True)
        self._values = values
        self._ran: dict[str, int] | None = None
        addresses: dict[int, int] = {}
        keep: list[Any] = []

        def data_ptr(tensor: Any) -> int:
            """A made-up address: aligned as the caching allocator aligns, offset as the view is."""
            storage = tensor.untyped_storage()
            key = storage._cdata
            if key not in addresses:
                addresses[key] = (len(addresses) + 1) * _ALIGNMENT
                keep.append(storage)
            return int(addresses[key] + tensor.storage_offset() * tensor.element_size())

        # reading it warns otherwise, and answers 0 (torch 2.13); Triton and aiter's bindings read it of every argument
        FakeTensor.data_ptr = data_ptr
        aten = torch.ops.aten
        factories = {aten.zeros.default, aten.ones.default, aten.full.default, aten.scalar_tensor.default}
        factories |= {aten.arange.default, aten.arange.start, aten.arange.start_step}
        made = self

        class Mode(TorchDispatchMode):  # type: ignore[misc]  # torch is not there for the type checker
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                kwargs = kwargs or {}
                body = bodies.body(func._schema.name)
                if body is not None:
                    with self:
                        return body(*args, **kwargs)
                if func is aten._local_scalar_dense.default:
                    return made._scalar(func, args[0])
                result = func(*args, **kwargs)
                made._count(func, result)
                if func in factories:
                    made._made_by_torch(func, result, args, kwargs)
                elif func is aten._to_copy.default:
                    made._values.copied(result, args[0])
                elif func is aten.lift_fresh.default and type(args[0]) is torch.Tensor:
                    made._values.remember(result, args[0])
                elif func._schema.is_mutable:
                    made._written_by_torch(func, args, kwargs)
                return result

        self._mode = Mode()

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Tensors made within are fake, and ops of libraries run their real bodies."""
        with self._fake_mode, self._mode:
            yield

    def begin(self) -> None:
        """Counts torch's own operators from now on."""
        self._ran = {}

    def end(self) -> dict[str, int]:
        """Ends the count; operators of torch that would start kernels on the GPU, and how often each ran."""
        ran, self._ran = self._ran or {}, None
        return ran

    def _count(self, func: Any, result: Any) -> None:
        """Counts an operator whose result lies on the GPU, but for views and storage; `x[...]` never comes here."""
        if self._ran is None or func.is_view or func._schema.name.rpartition("::")[2] in _NO_KERNEL:
            return
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        if isinstance(first, self._torch.Tensor) and first.device.type == "cuda":
            self._ran[func._schema.name] = self._ran.get(func._schema.name, 0) + 1

    def tensor(self, shape: Sequence[int], dtype: Any, *, low: float = -1.0, high: float = 1.0) -> Any:
        """A tensor without storage; its values, between low and high on a GPU, do not exist here."""
        with self._fake_mode:
            return self._torch.empty(tuple(shape), dtype=dtype, device="cuda")

    def _scalar(self, func: Any, tensor: Any) -> Any:
        """One value of a tensor: torch's where it keeps one, else the one that `values` gives."""
        constant = getattr(tensor, "constant", None)
        if constant is not None:
            return constant.item()
        return func(tensor) if type(tensor) is self._torch.Tensor else self._values.scalar(tensor)

    def _made_by_torch(self, func: Any, result: Any, args: Any, kwargs: Any) -> None:
        from torch.utils._python_dispatch import _disable_current_modes

        if result.numel() <= MOST_ELEMENTS:
            with _disable_current_modes():
                self._values.remember(result, func(*args, **{**kwargs, "device": "cpu", "pin_memory": None}))

    def _written_by_torch(self, func: Any, args: Any, kwargs: Any) -> None:
        for place, argument in enumerate(func._schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                value = args[place] if place < len(args) else kwargs.get(argument.name)
                if isinstance(value, self._torch.Tensor):
                    self._values.forget(value)
