"""What libraries do with tensors and streams of a GPU, to be done without one; run in a dry child only."""

from __future__ import annotations

from typing import Any


def gpu(*shape: int) -> Any:
    import torch

    return torch.empty(shape, dtype=torch.bfloat16, device="cuda")


def index() -> None:
    import torch

    x = gpu(4, 8, 16)
    rows = torch.empty(3, dtype=torch.int64, device="cuda")
    found = [x[0], x[..., :3], x[:, 1:3, None], x[rows], x[[0, 1]], x[0, 0, 0], x[::2], x[None], x[-1, 2]]
    assert [tuple(y.shape) for y in found] == [
        (8, 16), (4, 8, 3), (4, 2, 1, 16), (3, 8, 16), (2, 8, 16), (), (2, 8, 16), (1, 4, 8, 16), (16,)
    ]  # fmt: skip
    assert {str(y.device) for y in found} == {"cuda:0"}
    assert x[1].data_ptr() - x.data_ptr() == 8 * 16 * 2
    x[0] = 1
    x[:, 1] = x[:, 2]
    assert x.data_ptr() % 16 == 0


def know_constants() -> None:
    import torch

    given = torch.tensor([1, 2, 3], device="cuda")
    assert (given.tolist(), given[1].item(), given.device.type) == ([1, 2, 3], 2, "cuda")
    counted = torch.arange(5, device="cuda")
    assert counted[2:].tolist() == [2, 3, 4]
    assert torch.full((2,), 3.5).cuda().tolist() == [3.5, 3.5]
    counted[0] = 7
    assert counted[:2].tolist() == [0, 0]  # written over: made up from here on


def use_streams() -> None:
    import torch

    device = torch.cuda.get_device_properties(torch.cuda.current_device())
    assert (device.multi_processor_count, device.gcnArchName.split(":")[0]) == (304, "gfx942")
    side = torch.cuda.Stream()
    with torch.cuda.device(0), torch.cuda.stream(side):
        event = torch.cuda.Event(enable_timing=True)
        event.record()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    assert gpu(3).cuda().to("cuda").cpu().device.type == "cpu"
