"""Tensors without storage on a GPU that is not there: shapes in, fake tensors and torch.cuda's answers out.

torch's FakeTensorMode makes the tensors. Ops that a library registers in Python would run their fake implementation
under it; a dispatch mode above it calls their real body, so that the frames below are the ones a GPU run has.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tracer.capture.boundary import Boundary
from tracer.capture.protocol import TargetFacts

#: namespaces of torch's own ops: their fake implementations are what a dry run wants
_TORCH_NAMESPACES = frozenset(
    {"aten", "prims", "prim", "quantized", "inductor", "c10d", "_c10d_functional", "mkldnn", "rngprims", "streams",
     "symm_mem", "debugprims", "profiler", "flex_lib", "inductor_prims"}
)  # fmt: skip
#: dispatch keys under which a real body may stand, best first
_REAL_KEYS = ("CUDA", "CompositeExplicitAutograd", "CPU")
_ALIGNMENT = 1 << 21
_CAPABILITY = {"gfx942": (9, 4), "gfx950": (9, 5)}


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
    """Makes tensors and runs calls under the modes that make them work. Also a TensorFactory for ops."""

    def __init__(self, boundary: Boundary, bodies: RealBodies) -> None:
        import torch
        from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
        from torch.utils._python_dispatch import TorchDispatchMode

        self._torch = torch
        self._fake_mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.invented: list[str] = []
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
        made_up = self

        class Mode(TorchDispatchMode):  # type: ignore[misc]  # torch is not there for the type checker
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                body = bodies.body(func._schema.name)
                if body is not None:
                    with self:
                        return body(*args, **(kwargs or {}))
                if func is torch.ops.aten._local_scalar_dense.default:
                    return made_up._scalar(func, args[0], boundary)
                return func(*args, **(kwargs or {}))

        self._mode = Mode()

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Tensors made within are fake, and ops of libraries run their real bodies."""
        with self._fake_mode, self._mode:
            yield

    def tensor(self, shape: Sequence[int], dtype: Any, *, low: float = -1.0, high: float = 1.0) -> Any:
        """A tensor without storage; its values, between low and high on a GPU, do not exist here."""
        with self._fake_mode:
            return self._torch.empty(tuple(shape), dtype=dtype, device="cuda")

    def _scalar(self, func: Any, tensor: Any, boundary: Boundary) -> Any:
        """One value of a tensor, for Python to steer by: known where torch knows it, else made up and said to be."""
        constant = getattr(tensor, "constant", None)
        if constant is not None:
            return constant.item()
        if type(tensor) is self._torch.Tensor:
            return func(tensor)
        dtype = tensor.dtype
        value: Any = False if dtype is self._torch.bool else 0.0 if dtype.is_floating_point else 0
        text = f"{value!r} for a value of a {str(dtype).removeprefix('torch.')} tensor of shape {tuple(tensor.shape)}"
        storage = tensor.untyped_storage()._cdata
        for other, crossing in reversed(boundary.touched):
            if other.untyped_storage()._cdata == storage:
                crossing.answered, crossing.invented = "invented", text
                text += f" that {crossing.module}.{crossing.function} writes"
                break
        self.invented.append(text)
        return value


def answer_for_target(facts: TargetFacts) -> None:
    """Makes torch.cuda answer for a GPU that is not there, in this process for good.

    A question that has no known answer (memory in use, an attribute of the device that no source states) fails, as it
    would on a broken driver, rather than being answered with a guess.
    """
    import torch

    cuda = torch.cuda
    target = facts.target
    arch = target.arch or ""
    properties = types.SimpleNamespace(
        name=facts.device_name or "AMD Instinct",
        gcnArchName=f"{arch}:sramecc+:xnack-",
        multi_processor_count=target.compute_units,
        warp_size=target.wave_size,
        shared_memory_per_block=facts.lds_bytes_per_block,
    )
    properties.major, properties.minor = _CAPABILITY.get(arch, (None, None))
    if facts.memory_bytes is not None:
        properties.total_memory = facts.memory_bytes
    stream = types.SimpleNamespace(cuda_stream=0, stream_id=0, device_index=0, device=torch.device("cuda", 0))
    for name in ("synchronize", "wait_stream", "wait_event", "record_event"):
        setattr(stream, name, lambda *_, **__: None)
    answers: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "_lazy_init": lambda: None,
        "init": lambda: None,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "_exchange_device": lambda device: 0,
        "_maybe_exchange_device": lambda device: 0,
        "get_device_properties": lambda device=None: properties,
        "get_device_name": lambda device=None: properties.name,
        "get_device_capability": lambda device=None: (properties.major, properties.minor),
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "synchronize": lambda device=None: None,
        "empty_cache": lambda: None,
        "is_current_stream_capturing": lambda: False,
        "is_bf16_supported": lambda including_emulation=True: True,
    }
    for name, answer in answers.items():
        setattr(cuda, name, answer)
    raw_stream = lambda device: 0  # noqa: E731 - as C exports it
    torch._C._cuda_getCurrentRawStream = raw_stream
    # libraries ask torch.version.hip whether torch was built for ROCm; none that runs dry reads the number
    torch.version.hip = "6.4"
    torch.version.cuda = None
