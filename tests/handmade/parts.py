"""Parts of hand-made records: targets, frames as a story, aiter's layers, tuned-config look-ups, a dispatch."""

from __future__ import annotations

import itertools
from typing import Any

from tracer.model.capture import Frame
from tracer.model.environment import Environment, SourceTree, Target
from tracer.model.evidence import Evidence
from tracer.model.source import (
    CsvRow,
    Dispatch,
    FlowStep,
    Hop,
    Layer,
    MissReason,
    SourceRef,
    TunedLookup,
    TunedStatus,
)

INSTANCE = "a8w8_blockscale_1x128x128_256x16x64x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_4_1x1_intrawave_v1"
DEFAULT = "a8w8_blockscale_1x128x128_256x16x128x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_8_1x2_intrawave_v1"

MI300X = Target(arch="gfx942", compute_units=304, wave_size=64, device="MI300X", device_evidence=Evidence.ASSUMED)
MI308X = Target(arch="gfx942", compute_units=80, wave_size=64, device="MI308X", device_evidence=Evidence.ASSUMED)
MI355X = Target(arch="gfx950", compute_units=256, wave_size=64, device="MI355X", device_evidence=Evidence.ASSUMED)
WHEEL = Environment(
    ktrace="0.1.0",
    python="3.11.7",
    torch="2.13.0+cpu",
    triton="3.6.0",
    trees=(SourceTree(name="aiter", version="0.1.7", layout="wheel", repository="https://github.com/ROCm/aiter"),),
    variables={"GPU_ARCHS": "gfx942", "CU_NUM": "304"},
)


def aiter(file: str, line: int) -> SourceRef:
    return SourceRef(f"aiter/{file}", line, "aiter")


class Frames:
    """Writes frames in call order: `frame = frames("name", file, line, under=parent)`."""

    def __init__(self) -> None:
        self._ids = itertools.count()
        self.all: list[Frame] = []

    def __call__(
        self,
        function: str,
        file: str | None = None,
        line: int = 1,
        *,
        under: Frame | None = None,
        at: int | None = None,
        tree: str | None = None,
        **more: Any,
    ) -> Frame:
        tree = tree or (file.split("/")[0] if file and "/" in file else None)
        frame = Frame(
            id=next(self._ids),
            parent=under.id if under else None,
            function=function,
            source=SourceRef(file, line, tree) if file else None,
            call_line=at,
            **more,
        )
        self.all.append(frame)
        return frame


def jit_layers(frames: Frames, under: Frame | None, at: int | None) -> Frame:
    """aiter's layers from a decorated op down to the module, as a dry run of the wheel shows them."""
    outer = frames("wrapper_custom", "aiter/jit/utils/torch_guard.py", 277, under=under, at=at)
    inner = frames("outer_wrapper", "aiter/jit/utils/torch_guard.py", 300, under=outer, at=285)
    guard = frames("wrapper", "aiter/jit/utils/torch_guard.py", 196, under=inner, at=302)
    custom = frames("custom_wrapper", "aiter/jit/core.py", 902, under=guard, at=197)
    compile_ops = frames("wrapper", "aiter/jit/core.py", 738, under=custom, at=904)
    frames("get_module", "aiter/jit/core.py", 418, under=compile_ops, at=757)
    return compile_ops


def hit(status: TunedStatus = TunedStatus.EXACT) -> TunedLookup:
    row = CsvRow(
        "aiter/configs/a8w8_blockscale_tuned_gemm.csv",
        29,
        {"cu_num": "304", "M": "128", "N": "1536", "K": "7168", "us": "18.2772", "kernelName": INSTANCE},
    )
    return TunedLookup(
        status=status,
        key={"cu_num": "304", "M": "128", "N": "1536", "K": "7168"},
        padded_m=128,
        row=row,
        files=("aiter/configs/a8w8_blockscale_tuned_gemm.csv", "aiter/configs/model_configs/ds_v3.csv"),
        environment={"AITER_CONFIG_GEMM_A8W8_BLOCKSCALE": None},
        recorded_us=18.2772,
        untuned_row="128,1536,7168",
    )


def lost() -> TunedLookup:
    row = {"cu_num": "80", "M": "128", "N": "1536", "K": "7168", "us": "32.4591", "kernelName": "a8w8_other"}
    kept = {**row, "cu_num": "304", "us": "18.2772", "kernelName": INSTANCE}
    return TunedLookup(
        status=TunedStatus.MISS,
        reason=MissReason.DROPPED_BY_MERGE,
        key={"cu_num": "80", "M": "128", "N": "1536", "K": "7168"},
        lost_row=CsvRow("aiter/configs/a8w8_blockscale_tuned_gemm.csv", 224, row),
        kept_row=CsvRow("aiter/configs/a8w8_blockscale_tuned_gemm.csv", 29, kept),
        files=("aiter/configs/a8w8_blockscale_tuned_gemm.csv",),
        environment={"AITER_CONFIG_GEMM_A8W8_BLOCKSCALE": "/srv/tuned.csv"},
        untuned_row="128,1536,7168",
    )


def blockscale_dispatch(boundary: int, instance: str, tuned: TunedLookup) -> Dispatch:
    csrc = "csrc/ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale.cu"
    grid = "3rdparty/composable_kernel/include/ck/gridwise_ab_scale.hpp"
    return Dispatch(
        boundary=boundary,
        instance=instance,
        tuned=tuned,
        hops=(
            Hop(
                layer=Layer.BINDING,
                name='m.def("gemm_a8w8_blockscale")',
                source=SourceRef("csrc/include/rocm_ops.hpp", 428, "aiter"),
                evidence=Evidence.RESOLVED,
            ),
            Hop(
                layer=Layer.CPP,
                name="gemm_a8w8_blockscale",
                source=SourceRef(csrc, 94, "aiter"),
                evidence=Evidence.RESOLVED,
            ),
            Hop(
                layer=Layer.DISPATCH,
                name="blockscale_dispatch",
                source=SourceRef(csrc, 38, "aiter"),
                evidence=Evidence.RESOLVED,
                note=f"line 60: find {{128, 1536, 7168}} hits; line 64: returns it ({csrc})",
            ),
            Hop(
                layer=Layer.INSTANCE,
                name=instance,
                source=SourceRef("csrc/ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_common.py", 89, "aiter"),
                evidence=Evidence.RESOLVED,
                note="kernelId 8 in kernels_list",
            ),
            Hop(
                layer=Layer.KERNEL,
                name="kernel_gemm_xdl_cshuffle_v3",
                source=SourceRef(grid, 39, "aiter"),
                evidence=Evidence.RESOLVED,
            ),
        ),
        not_in_name={"m_xdl_per_wave": 1, "n_xdl_per_wave": 1 if instance == INSTANCE else 2},
        assumption="module_gemm_a8w8_blockscale is built from this tree for gfx942 with 304 CUs",
        core_flow=(
            FlowStep("map", "The block finds its tile of the output from its block id.", SourceRef(grid, 1248), True),
            FlowStep(
                "mfma", "MFMA instructions multiply the operands into the accumulators.", SourceRef(grid, 1301), True
            ),
        ),
        parameters={
            "k_batch": 1,
            "grid": [192, 1, 1],
            "block": [256, 1, 1],
            "sources": {"grid": f"{grid}:176", "block": f"{grid}:237"},
        },
    )


def blockscale_frames(frames: Frames, under: Frame | None = None) -> Frame:
    guard = frames("wrapper_custom", "aiter/jit/utils/torch_guard.py", 277, under=under)
    call = frames("__call__", "torch/_ops.py", 1267, under=guard, at=279)
    outer = frames("outer_wrapper", "aiter/jit/utils/torch_guard.py", 300, under=call)
    wrapper = frames("wrapper", "aiter/jit/utils/torch_guard.py", 196, under=outer, at=302)
    op = frames("gemm_a8w8_blockscale", "aiter/ops/gemm_op_a8w8.py", 441, under=wrapper, at=197)
    config = frames("get_CKGEMM_config", "aiter/ops/gemm_op_a8w8.py", 211, under=op, at=466)
    read = frames("read_csv", "pandas/io/parsers/readers.py", 868, under=config, at=219)
    frames("_read", "pandas/io/parsers/readers.py", 600, under=read, at=900)
    frames("info", "logging/__init__.py", 1479, under=config, at=240, tree="python")
    return jit_layers(frames, op, 467)
