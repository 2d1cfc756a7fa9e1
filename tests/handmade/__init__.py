"""Small hand-made records, one for each thing that a page must be able to say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.handmade.parts import (
    DEFAULT,
    INSTANCE,
    MI300X,
    MI308X,
    WHEEL,
    Frames,
    aiter,
    blockscale_dispatch,
    blockscale_frames,
    hit,
    jit_layers,
    lost,
)
from tracer.model.capture import (
    BoundaryCall,
    Call,
    CaptureRecord,
    CompiledKernel,
    CpuOp,
    ExceptionInfo,
    Frame,
    Launch,
    Lost,
    Resources,
    RuntimeCall,
)
from tracer.model.environment import Environment, Target, TraceOrigin
from tracer.model.evidence import Evidence, GridUnit, Mode
from tracer.model.source import TunedLookup
from tracer.store import load_record

RECORDED_AT = "2026-11-29T18:00:00+00:00"


def _dry(frames: Frames, *, call: Call, target: Target = MI300X, **more: Any) -> CaptureRecord:
    """A dry run of the wheel."""
    return CaptureRecord(
        mode=Mode.DRY,
        call=call,
        target=target,
        environment=WHEEL,
        recorded_at=RECORDED_AT,
        frames=tuple(frames.all),
        **more,
    )


def _left(number: int, edge: Frame, module: str, function: str) -> BoundaryCall:
    """A call that left Python for a module and got its output argument back."""
    return BoundaryCall(id=number, frame=edge.id, module=module, function=function, answered="output")


def blockscale(target: Target = MI300X, instance: str = INSTANCE, tuned: TunedLookup | None = None) -> CaptureRecord:
    """The main job: one CK kernel behind aiter's JIT layers, with a hit in the tuned CSV."""
    frames = Frames()
    run = frames("call", "tracer/ops/gemm.py", 90, tree="ktrace")
    edge = blockscale_frames(frames, run)
    return _dry(
        frames,
        call=Call(
            op="gemm_a8w8_blockscale",
            shape={"M": 128, "N": 1536, "K": 7168},
            options={"dtype": "bf16"},
            command="ktrace gemm_a8w8_blockscale --shape 128,1536,7168",
            entry="aiter.gemm_a8w8_blockscale",
        ),
        target=target,
        boundaries=(_left(0, edge, "module_gemm_a8w8_blockscale", "gemm_a8w8_blockscale"),),
        launches=(
            Launch(
                id=0,
                kernel=None,
                instance=instance,
                grid=(192 if instance == INSTANCE else 96, 1, 1),
                block=(256, 1, 1),
                frame=edge.id,
                boundary=0,
                evidence=Evidence.RESOLVED,
                frame_evidence=Evidence.OBSERVED,
            ),
        ),
        dispatches=(blockscale_dispatch(0, instance, tuned or hit()),),
        log=("[aiter] import [module_gemm_a8w8_blockscale]",),
        lost=(Lost("frames", 102, "a call keeps 16000 frames, 4000 of them of pandas, torch"),),
    )


def lost_row() -> CaptureRecord:
    """The same shape on 80 CUs: the shipped row was lost in the merge, and the part's clock is not public."""
    return blockscale(MI308X, DEFAULT, lost())


def pair() -> CaptureRecord:
    """Quantise and multiply as one call: two paths; the quantiser's kernel could not be resolved."""
    frames = Frames()
    run = frames("call", "tracer/ops/gemm.py", 140, tree="ktrace")
    chosen = frames("get_hip_quant", "aiter/ops/quant.py", 151, under=run)
    frames("__get__", "enum.py", 190, under=chosen, tree="python")
    quant = frames("per_group_quant_hip", "aiter/ops/quant.py", 216, under=run)
    quant_edge = jit_layers(frames, quant, 239)
    edge = blockscale_frames(frames, run)
    single = blockscale()
    return _dry(
        frames,
        call=Call(
            op="quant_gemm_a8w8_blockscale",
            shape={"M": 128, "N": 1536, "K": 7168},
            options={"dtype": "bf16", "quant_dtype": "fp8"},
            command="ktrace quant_gemm_a8w8_blockscale --shape 128,1536,7168",
        ),
        boundaries=(
            _left(0, quant_edge, "module_quant", "dynamic_per_token_scaled_quant"),
            _left(1, edge, "module_gemm_a8w8_blockscale", "gemm_a8w8_blockscale"),
        ),
        launches=(Launch(id=0, instance=INSTANCE, frame=edge.id, boundary=1, evidence=Evidence.RESOLVED),),
        dispatches=(blockscale_dispatch(1, INSTANCE, single.dispatches[0].tuned or hit()),),
    )


GEMM_KERNEL = (
    "_gemm_a16_w16_kernel_BLOCK_SIZE_M_16_BLOCK_SIZE_N_16_BLOCK_SIZE_K_256_GROUP_SIZE_M_1_NUM_KSPLIT_{split}"
    "_SPLITK_BLOCK_SIZE_{size}_EVEN_K_1_GRID_MN_192_cache_modifier_NONE_activation_NONE_use_activation_0_ADD_BIAS_0"
    "_SKIP_REDUCE_0"
)
GEMM_KEYS = (
    "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "NUM_KSPLIT", "SPLITK_BLOCK_SIZE", "EVEN_K",
    "GRID_MN", "cache_modifier", "activation", "use_activation", "ADD_BIAS", "SKIP_REDUCE",
)  # fmt: skip
REDUCE_KERNEL = "_gemm_a16w16_reduce_kernel_BLOCK_SIZE_M_32_BLOCK_SIZE_N_32_ACTUAL_KSPLIT_4_MAX_KSPLIT_4"


def _compiled(keys: tuple[str, ...], constants: dict[str, Any]) -> CompiledKernel:
    return CompiledKernel(
        target="gfx942",
        num_warps=4,
        num_stages=2,
        options={"waves_per_eu": 0, "kpack": 1},
        constexprs=constants,
        keys=keys,
        source=aiter("ops/triton/_triton_kernels/gemm_a16w16.py", 46),
        instructions={"v_mfma_f32_16x16x16_bf16": 48},
    )


def triton(k: int = 3072, split: int = 4, size: int = 768) -> CaptureRecord:
    """A Triton split-K GEMM, compiled for the target: one path with two kernels."""
    frames = Frames()
    op = frames("gemm_a16w16", "aiter/ops/triton/gemm_a16w16.py", 19)
    frames("info", "aiter/ops/triton/utils/logger.py", 37, under=op, at=50)
    getitem = frames("<lambda>", "triton/runtime/jit.py", 370, under=op, at=80)
    run = frames("run", "triton/runtime/jit.py", 695, under=getitem, at=370)
    frames("compute_cache_key", "triton/runtime/jit.py", 574, under=run, at=710)
    again = frames("<lambda>", "triton/runtime/jit.py", 370, under=op, at=114)
    reduce = frames("run", "triton/runtime/jit.py", 695, under=again, at=370)
    constants = {
        "BLOCK_SIZE_M": 16,
        "BLOCK_SIZE_N": 16,
        "BLOCK_SIZE_K": 256,
        "NUM_KSPLIT": split,
        "SPLITK_BLOCK_SIZE": size,
        "cache_modifier": "",
    }
    first = Launch(
        id=0,
        kernel=GEMM_KERNEL.format(split=split, size=size),
        grid=(192 * split, 1, 1),
        block=(256, 1, 1),
        resources=Resources(vgprs=108, agprs=4, sgprs=30, vgpr_spills=0, lds_bytes=16384, scratch_bytes=0),
        frame=run.id,
        evidence=Evidence.RESOLVED,
        frame_evidence=Evidence.OBSERVED,
        compiled=_compiled(GEMM_KEYS, constants),
    )
    second = Launch(
        id=1,
        kernel=REDUCE_KERNEL,
        grid=(1, 96, 1),
        block=(256, 1, 1),
        resources=Resources(vgprs=38, lds_bytes=2048),
        frame=reduce.id,
        evidence=Evidence.RESOLVED,
        frame_evidence=Evidence.OBSERVED,
        compiled=_compiled(
            ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "ACTUAL_KSPLIT", "MAX_KSPLIT"),
            {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 32, "ACTUAL_KSPLIT": 4, "MAX_KSPLIT": 4},
        ),
    )
    launches = (first, second) if split > 1 else (first,)
    if split <= 1:
        del frames.all[again.id :]
    return _dry(
        frames,
        call=Call(
            op="gemm_a16w16",
            shape={"M": 16, "N": 3072, "K": k},
            options={"dtype": "bf16"},
            config={"BLOCK_SIZE_M": 16, "NUM_KSPLIT": split, "SPLITK_BLOCK_SIZE": size},
            command=f"ktrace gemm_a16w16 --shape 16,3072,{k}",
        ),
        launches=launches,
    )


PYBIND = "pybind11_builtins.pybind11_detail_function_record_v1_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1"
RMSNORM_KERNEL = (
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib"
)


def imported() -> CaptureRecord:
    """One launch of a real trace's kind: a deep stack through aiter's layers, C++ functions named by the profiler."""
    frames = Frames()
    at: Frame | None = None
    for name, file, line in (
        ("run_batch", "sglang/srt/managers/scheduler.py", 2919),
        ("forward_batch_generation", "sglang/srt/managers/tp_worker.py", 445),
        ("_forward_raw", "sglang/srt/model_executor/model_runner.py", 3194),
        ("forward_extend", "sglang/srt/model_executor/model_runner.py", 3003),
        ("forward", "sglang/srt/models/qwen3.py", 507),
        ("decoder", "sglang/srt/models/qwen3.py", 384),
        ("prepare_attn", "sglang/srt/layers/communicator.py", 499),
        ("forward", "sglang/srt/layers/utils/multi_platform.py", 81),
        ("forward_aiter", "sglang/srt/layers/layernorm.py", 281),
        ("rmsnorm2d_fwd", "aiter/ops/rmsnorm.py", 62),
    ):
        at = frames(name, file, line, under=at)
    guard = frames("wrapper_custom", "torch_guard.py", 283, under=at)
    call = frames("__call__", "torch/_ops.py", 1244, under=guard)
    native = frames(f"<built-in method rmsnorm of {PYBIND} object at 0x7ed747e44f30>", under=call)
    outer = frames("outer_wrapper", "torch_guard.py", 306, under=native)
    wrapper = frames("wrapper", "torch_guard.py", 202, under=outer)
    custom = frames("custom_wrapper", "aiter/jit/core.py", 1637, under=wrapper)
    compile_ops = frames("wrapper", "aiter/jit/core.py", 1396, under=custom)
    edge = frames(f"<built-in method rmsnorm of {PYBIND} object at 0x7ed747e44830>", under=compile_ops)
    return CaptureRecord(
        mode=Mode.IMPORTED,
        call=Call(op="aiter::rmsnorm", command="ktrace import trace.json.gz"),
        target=Target(
            arch="gfx942",
            compute_units=304,
            wave_size=64,
            device="MI300X",
            device_evidence=Evidence.STATED,
            device_name="AMD Instinct MI300X",
        ),
        environment=Environment(ktrace="0.1.0", rocm="7.2.53211"),
        recorded_at=RECORDED_AT,
        frames=tuple(frames.all),
        cpu_ops=(CpuOp(id=0, name="aiter::rmsnorm", frame=native.id, start_ns=1, duration_us=37.0),),
        launches=(
            Launch(
                id=0,
                kernel=RMSNORM_KERNEL,
                grid=(15360, 1, 1),
                grid_unit_seen=GridUnit.WORK_ITEMS,
                block=(256, 1, 1),
                start_ns=2,
                duration_us=72.027,
                correlation=91095,
                runtime=RuntimeCall(name="hipExtModuleLaunchKernel"),
                cpu_op=0,
                frame=edge.id,
                evidence=Evidence.OBSERVED,
                frame_evidence=Evidence.OBSERVED,
            ),
        ),
        origin=TraceOrigin(file="trace.json.gz", format="torch.profiler JSON", kernel_count=527, kernel_us=492773.592),
    )


def live() -> CaptureRecord:
    """A real live run on an H200: NVIDIA's words, measured times."""
    return load_record(Path(__file__).parents[1] / "data" / "records" / "live" / "torch_mm_h200.json")


def failed() -> CaptureRecord:
    """A call that raised: what was seen until then, and hostile text in every place that a library fills."""
    frames = Frames()
    op = frames("gemm_a8w8_blockscale", "aiter/ops/gemm_op_a8w8.py", 441, raised="AssertionError")
    frames("<script>alert(1)</script>", "aiter/ops/`x`|y*z_.py", 7, under=op, at=12, raised="AssertionError")
    return _dry(
        frames,
        call=Call(op="gemm_a8w8_blockscale", shape={"M": 1, "N": 1, "K": 128}, command="ktrace x\n```\n<b>boo</b>"),
        exception=ExceptionInfo(
            "AssertionError", "Output <img src=x onerror=alert(1)> *is* [not](javascript:alert(1)) `supported`", 1
        ),
        warnings=("{{ 7 * 7 }} | {% raw %} \x1b[31mred\u202e",),
    )


ALL = {
    "blockscale": blockscale,
    "lost_row": lost_row,
    "pair": pair,
    "triton": triton,
    "imported": imported,
    "live": live,
    "failed": failed,
}


def records() -> Iterable[tuple[str, CaptureRecord]]:
    """Every record by name."""
    return ((name, make()) for name, make in ALL.items())
