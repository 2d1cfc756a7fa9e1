"""torch on a GPU that is not there: the target's facts in, a torch that answers for them out, in this process for good.

A question that has no known answer (memory in use, an attribute that no source states) fails, as it would on a broken
driver, rather than being answered with a guess.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from tracer.capture.protocol import TargetFacts
from tracer.capture.values import Values

_CAPABILITY = {"gfx942": (9, 4), "gfx950": (9, 5)}


class Stream:
    """Stands in for torch.cuda.Stream: there is one queue, and it is always empty."""

    cuda_stream = stream_id = device_index = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        import torch

        self.device = torch.device("cuda", 0)

    def query(self) -> bool:
        """Everything is done."""
        return True

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for."""

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for."""

    def record_event(self, event: Any = None) -> Any:
        """An event that has happened."""
        return event or Event()


class Event:
    """Stands in for torch.cuda.Event: it has happened, at no time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Options change nothing."""

    def record(self, stream: Any = None) -> None:
        """Nothing to record."""

    def wait(self, stream: Any = None) -> None:
        """Nothing to wait for."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def query(self) -> bool:
        """It has happened."""
        return True

    def elapsed_time(self, end_event: Any) -> float:
        """Refused: no time passes on a GPU that is not there."""
        raise NotImplementedError("a dry run measures nothing")


def stand_in_for_gpu(facts: TargetFacts, values: Values) -> None:
    """Makes torch answer for a GPU; `values` is told of writes that torch's dispatcher does not see."""
    answer_for_target(facts)
    fake_without_a_context()
    index_without_a_device(values)
    construct_without_a_device()


def answer_for_target(facts: TargetFacts) -> None:
    """Makes torch.cuda answer for the target."""
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
    stream = Stream()
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
        "set_stream": lambda stream: None,
        "synchronize": lambda device=None: None,
        "empty_cache": lambda: None,
        "is_current_stream_capturing": lambda: False,
        "is_bf16_supported": lambda including_emulation=True: True,
    }
    for name, answer in answers.items():
        setattr(cuda, name, answer)
    cuda.Stream, cuda.Event = Stream, Event
    raw_stream = lambda device: 0  # noqa: E731 - as C exports it
    torch._C._cuda_getCurrentRawStream = raw_stream
    # libraries ask torch.version.hip whether torch was built for ROCm; none that runs dry reads the number
    torch.version.hip = "6.4"
    torch.version.cuda = None


def fake_without_a_context() -> None:
    """Keeps a GPU build of torch from opening the GPU for its first fake tensor (torch 2.8 to 2.13 make a real one)."""
    from torch._subclasses import fake_tensor

    if hasattr(fake_tensor, "init_gpu_context"):
        fake_tensor.init_gpu_context = lambda *_: None


def index_without_a_device(values: Values) -> None:
    """Lets fake tensors be indexed where torch has no GPU support.

    The C functions behind `x[...]` switch to the tensor's device before they dispatch, which a CPU build refuses
    (torch 2.8 to 2.13): they run on the tensor's meta side instead, and the result is made fake again.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensor, in_kernel_invocation_manager

    def get_item(tensor: Any, index: Any) -> Any:
        with in_kernel_invocation_manager(tensor.fake_mode):
            found = torch.Tensor.__getitem__(tensor, index)
        return found if type(found) is FakeTensor else FakeTensor(tensor.fake_mode, found, tensor.fake_device)

    def set_item(tensor: Any, index: Any, value: Any) -> None:
        with in_kernel_invocation_manager(tensor.fake_mode):
            torch.Tensor.__setitem__(tensor, index, value)
        values.forget(tensor)

    FakeTensor.__getitem__, FakeTensor.__setitem__ = get_item, set_item


def construct_without_a_device() -> None:
    """Lets torch.tensor, Tensor.to and their like make fake tensors on the GPU.

    Their C code asks the GPU's driver for the current device where none is numbered (torch 2.8 to 2.13): it is, here.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    first = torch.device("cuda", 0)

    def numbered(device: Any) -> Any:
        is_gpu = (isinstance(device, str) and device == "cuda") or (
            isinstance(device, torch.device) and device.type == "cuda"
        )
        return first if is_gpu else device

    def constructor(real: Callable[..., Any]) -> Callable[..., Any]:
        def construct(data: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
            if device is None or torch.device(device).type == "cpu":
                return real(data, *args, device=device, **kwargs)
            return real(data, *args, device="cpu", **kwargs).to(numbered(device))

        return construct

    for name in ("tensor", "as_tensor", "asarray"):
        setattr(torch, name, constructor(getattr(torch, name)))

    def to(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        moved = {key: numbered(value) if key == "device" else value for key, value in kwargs.items()}
        return torch.Tensor.to(tensor, *map(numbered, args), **moved)

    def cuda(tensor: Any, device: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        return torch.Tensor.to(tensor, first, non_blocking=non_blocking, **kwargs)

    def new_tensor(tensor: Any, data: Any, *, device: Any = None, dtype: Any = None, **kwargs: Any) -> Any:
        return torch.tensor(data, device=device or tensor.device, dtype=dtype or tensor.dtype, **kwargs)

    FakeTensor.to, FakeTensor.cuda, FakeTensor.new_tensor = to, cuda, new_tensor
