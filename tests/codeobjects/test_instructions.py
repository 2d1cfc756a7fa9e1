"""Mnemonics of AMD and PTX by kind."""

from __future__ import annotations

import pytest

from tracer.codeobjects.instructions import KINDS, histogram, kind_of, matrix_instructions

AMD = {
    "matrix": "v_mfma_f32_16x16x16_bf16 v_mfma_i32_16x16x32_i8 v_smfmac_f32_16x16x32_f16 v_wmma_f32_16x16x16_bf16 "
    "v_swmmac_f32_16x16x32_f16",
    "dot": "v_dot2_f32_f16 v_dot4_i32_i8 v_dot2c_f32_f16",
    "global_load": "global_load_dwordx4 buffer_load_dword flat_load_dword global_load_u16 buffer_load_b128 "
    "tbuffer_load_format_x",
    "global_store": "global_store_dwordx4 buffer_store_short flat_store_b32 global_store_d16_hi_b16",
    "load_to_lds": "global_load_lds_dwordx4 global_load_async_to_lds_b128 tensor_load_to_lds",
    "atomic": "global_atomic_pk_add_bf16 buffer_atomic_add_f32 flat_atomic_cmpswap",
    "lds_read": "ds_read_b128 ds_load_b128 ds_read_u16 ds_load_2addr_b64",
    "lds_write": "ds_write_b64 ds_store_b128 ds_write2st64_b32",
    "lds_other": "ds_bpermute_b32 ds_swizzle_b32 ds_add_f32",
    "scratch": "scratch_load_dword scratch_store_b128",
    "scalar_load": "s_load_dwordx2 s_buffer_load_dword s_load_b64",
    "wait": "s_waitcnt s_waitcnt_vscnt s_wait_loadcnt s_wait_dscnt",
    "barrier": "s_barrier s_barrier_signal s_barrier_wait",
    "pause": "s_nop s_delay_alu s_sleep v_nop s_clause s_setprio",
    "branch": "s_branch s_cbranch_scc1 s_endpgm s_setpc_b64",
    "valu": "v_add_u32_e32 v_mov_b32_dpp v_exp_f32_e32 v_accvgpr_read_b32 v_pk_fma_f32 v_dual_mov_b32",
    "salu": "s_add_u32 s_mov_b64 s_cmp_lt_u32 s_set_gpr_idx_on",
    "other": "buffer_wbl2 global_inv buffer_inv",
}
PTX = {
    "matrix": "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 tcgen05.mma.cta_group::1.kind::f16 wmma.mma.sync",
    "dot": "dp4a.s32.s32",
    "global_load": "ld.global.v4.b32 ld.global.L1::evict_last.b32",
    "global_store": "st.global.b16 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group",
    "load_to_lds": "cp.async.cg.shared.global cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier",
    "atomic": "atom.global.add.f32 red.global.add.f32",
    "lds_read": "ld.shared.v2.b16 ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    "lds_write": "st.shared.b32 stmatrix.sync.aligned.m8n8.x4.shared.b16",
    "lds_other": "atom.shared.add.f32",
    "scalar_load": "ld.param.b64",
    "scratch": "ld.local.b32 st.local.b32",
    "wait": "cp.async.wait_group wgmma.wait_group.sync.aligned mbarrier.try_wait.parity.shared.b64 "
    "tcgen05.wait::ld.sync.aligned",
    "barrier": "bar.sync barrier.cluster.arrive mbarrier.init.shared::cta.b64",
    "branch": "bra.uni bra ret exit",
    "valu": "add.s32 fma.rn.f32 shfl.sync.idx.b32 mad.wide.s32",
    "other": "wgmma.fence.sync.aligned cp.async.commit_group tcgen05.alloc.cta_group::1 fence.proxy.async",
}
CASES = [(name, kind) for table in (AMD, PTX) for kind, names in table.items() for name in names.split()]


@pytest.mark.parametrize(("mnemonic", "kind"), CASES)
def test_each_mnemonic_is_of_its_kind(mnemonic: str, kind: str) -> None:
    assert kind_of(mnemonic) == kind


def test_every_kind_is_explained_and_met() -> None:
    assert {kind for _, kind in CASES} == set(KINDS)


def test_a_load_marked_lds_goes_to_lds() -> None:
    assert kind_of("buffer_load_dword lds") == "load_to_lds"


def test_a_histogram_loses_no_instruction_and_names_no_empty_kind() -> None:
    counts = {"v_mfma_f32_16x16x16_bf16": 4, "s_nop": 3, "unheard_of": 2, "ds_read_b32": 1}
    assert histogram(counts) == {"matrix": 4, "lds_read": 1, "pause": 3, "other": 2}


def test_matrix_instructions_come_most_frequent_first() -> None:
    counts = {"s_nop": 9, "v_dot4_i32_i8": 2, "v_mfma_b": 1, "v_mfma_f32_a": 5}
    assert list(matrix_instructions(counts).items()) == [("v_mfma_f32_a", 5), ("v_dot4_i32_i8", 2), ("v_mfma_b", 1)]
