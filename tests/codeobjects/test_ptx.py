"""PTX text: kernels, arguments, blocks, shared memory and counts."""

from __future__ import annotations

from tests.codeobjects.texts import PTX
from tracer.codeobjects.kernel import KernelArgument
from tracer.codeobjects.ptx import is_ptx, read_ptx


def test_each_entry_is_a_kernel_with_its_block() -> None:
    code = read_ptx(PTX)
    gemm, tiny = code.kernels
    assert (code.target.arch, code.lost) == ("sm_90a", ())
    assert (gemm.name, gemm.required_block, gemm.max_block_threads, gemm.wave_size) == ("gemm", (128, 1, 1), 128, 32)
    assert (tiny.name, tiny.required_block, tiny.max_block_threads) == ("tiny", None, 128)


def test_arguments_have_sizes_and_address_spaces() -> None:
    gemm, tiny = read_ptx(PTX).kernels
    assert gemm.arguments == (
        KernelArgument(name="gemm_param_0", kind="pointer", size_bytes=8, value_type="u64", address_space="global"),
        KernelArgument(name="gemm_param_1", kind="by_value", size_bytes=4, value_type="u32"),
        KernelArgument(name="gemm_param_2", kind="by_value", size_bytes=128, value_type="b8"),
    )
    assert tiny.arguments == ()


def test_real_registers_and_dynamic_shared_memory_are_not_known() -> None:
    gemm, tiny = read_ptx(PTX).kernels
    assert (gemm.resources.registers, gemm.resources.lds_bytes) == (None, None)
    assert gemm.virtual_registers == {"pred": 2, "b32": 310}
    assert any("168 registers" in note for note in gemm.notes)
    assert any("launch brings along" in note for note in gemm.notes)
    assert tiny.resources.lds_bytes == 1024


def test_instructions_are_counted_behind_predicates_labels_and_braces() -> None:
    gemm, tiny = read_ptx(PTX).kernels
    assert gemm.instructions == {
        "ld.param.b32": 1,
        "mov.b32": 1,
        "ld.global.v4.b32": 1,
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16": 1,
        "mbarrier.try_wait.parity.shared.b64": 1,
        "bra.uni": 1,
        "bra": 1,
        "ret": 1,
    }
    assert tiny.instructions == {"st.shared.b32": 1, "ret": 1}


def test_a_text_that_is_cut_off_is_counted() -> None:
    in_body = read_ptx(PTX[: PTX.index("$L__BB0_1:")])
    assert [lost.what for lost in in_body.lost] == ["kernels whose end is missing"]
    assert [kernel.name for kernel in in_body.kernels] == ["gemm"]
    in_head = read_ptx(PTX[: PTX.index(".reqntid")])
    assert ([lost.what for lost in in_head.lost], in_head.kernels) == (["kernels whose body is missing"], ())


def test_other_text_is_no_ptx() -> None:
    assert is_ptx(PTX)
    assert not is_ptx("version 8.7, target sm_90a")
