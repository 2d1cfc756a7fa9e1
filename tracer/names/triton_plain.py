"""Triton kernels whose names print no configuration: in comes `_fwd_kernel_stage1`, out comes that it is Triton's.

    {kernel}[_{0}{hints}{1}{hints}...]

A plain identifier says nothing of its maker, so only names from tables are claimed: kernels that aiter declares without
a name builder (November 2025 to August 2026; before, all of its kernels), and some of vLLM, SGLang and triton_kernels
that traces commonly show. Triton before 3.0 appended, for each argument by number, what the compile assumed: c equal to
1, d divisible by 16, e divisible by 8. Such a suffix is a sign of Triton by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.triton_keys import declared_keys
from tracer.names.vocabulary import pick

_FAMILY = "triton_kernel"
_LONGEST = 4096
_AITER = """
_act_mul_and_dynamic_fp8_group_quant_kernel _act_mul_and_dynamic_mxfp4_quant_kernel _all_gather_kernel
_block_attn_mask_to_lut_kernel _bwd_kernel_fused_atomic_causal _bwd_kernel_fused_atomic_noncausal
_bwd_kernel_split_dkdv_causal _bwd_kernel_split_dkdv_noncausal _bwd_kernel_split_dq_causal
_bwd_kernel_split_dq_noncausal _cast_varlen_to_fp8_kernel_2d _cat_and_cache_mla_kernel _causal_conv1d_fwd_kernel
_causal_conv1d_fwd_split_qkv_kernel _causal_conv1d_fwd_split_qkv_tile_kernel _causal_conv1d_update_kernel
_causal_conv1d_update_single_token_kernel _combined_routing _combined_routing_fused _compute_delta_s_kernel
_csr_to_dense_kernel _deepgemm_fp8_paged_mqa_logits _deepgemm_fp8_paged_mqa_logits_ragged_k
_deepgemm_fp8_paged_mqa_logits_stage1 _deepgemm_fp8_paged_mqa_logits_stage1_ragged_k
_deepgemm_fp8_paged_mqa_logits_varctx_schedule _downcast_to_mxfp _downcast_to_static_fp8 _dynamic_mxfp4_quant_kernel
_dynamic_mxfp4_quant_kernel_asm_layout _dynamic_mxfp8_quant_kernel _dynamic_mxfp8_quant_n32k4_mbn_kernel
_dynamic_nvfp4_quant_kernel _dynamic_per_tensor_quant_fp8_i8_kernel _dynamic_per_token_quant_fp8_i8_kernel
_ff_a16w16_fused_gated _ff_a16w16_fused_ungated _fill_k_scale_tail_kernel _flash_kda_prepare_kernel
_flash_kda_seg_scan_kernel _flash_kda_segment_kernel _fp8_legacy_to_mxfp8_kernel _fp8_mqa_logits_kernel
_fused_add_layernorm_kernel _fused_add_rmsnorm_kernel _fused_add_rmsnorm_pad _fused_cumsum_kkt_kernel
_fused_dual_rmsnorm_mxfp8_quant_kernel _fused_dynamic_mxfp4_quant_moe_sort_kernel _fused_flatten_fp8_group_quant_kernel
_fused_flatten_mxfp4_quant _fused_flatten_mxfp8_quant_kernel _fused_gemm_a8w8_blockscale_a16w16_kernel
_fused_gemm_a8w8_blockscale_a16w16_reduce_kernel _fused_gemm_a8w8_blockscale_preshuffle_split_cat
_fused_gemm_a8w8_blockscale_split_cat _fused_gemm_a8w8_blockscale_split_cat_reduce
_fused_gemm_afp4wfp4_split_cat_reduce _fused_mul_add_kernel _fused_qk_rope_cat_and_cache_mla_kernel
_fused_qk_rope_cosine_cache_llama_kernel _fused_qk_rope_reshape_and_cache_kernel
_fused_qkv_split_qk_norm_rope_cache_kernel _fused_qkv_split_qk_rope_kernel _fused_qkvzba_prefill_kernel_nqk1
_fused_qkvzba_prefill_kernel_nqk2 _fused_qkvzba_prefill_kernel_nqk4 _fused_qkvzba_prefill_kernel_nqk8
_fused_qkvzba_split_reshape_cat_decode_kernel _fused_qkvzba_split_reshape_cat_prefill_kernel
_fused_quant_fp8_sort_kernel _fused_reduce_act_mul_and_dynamic_mxfp4_quant_kernel _fused_reduce_act_mul_fp8_group_quant
_fused_reduce_rms_fp8_group_quant_kernel _fused_reduce_rms_mxfp4_quant_kernel _fused_rms_fp8_group_quant_kernel
_fused_rms_fp8_per_tensor_static_quant_kernel _fused_rms_mxfp4_quant_kernel _fused_rms_mxfp8_kernel
_fused_silu_mul_fp8_per_tensor_static_quant_kernel _fwd_grouped_kernel_stage1 _fwd_kernel_splitK _fwd_kernel_stage1
_fwd_kernel_stage2_asm _gather_k_lds_kernel _gemm_a8w8_preshuffled_kernel _gluon_fp8_mqa_logits_kernel
_gluon_fused_rms_kernel _gluon_fused_rms_mxfp4_quant_kernel _gluon_moe_gemm_int8_smoothquant _grouped_topk
_hash_routing _keepk_sort0 _kernel_unified_attention_sparse_mla_2d _layernorm_bwd_dwdb_triton
_layernorm_bwd_dwdb_triton_v2 _layernorm_bwd_dx_fused_triton _layernorm_kernel _mhc_fused_kernel
_mhc_fused_split_kernel _mhc_post_kernel _mhc_post_pre_reduce_apply_kernel _mhc_reduce_apply_kernel _mla_gluon
_mla_prefill_reduce_kernel _mla_softmax_reducev_kernel _moe_gemm_a8w8 _moe_gemm_a8w8_blockscale
_moe_gemm_int8_smoothquant _moe_mxfp4_sort_kernel _moe_mxfp4_sort_kernel_fused_n _mxfp4_quant_kernel
_pack_qk_fp6_kernel _pack_v_fp6_kernel _prefill_cta_info_kernel _q_smooth_int8_kernel _qk_cat_kernel
_qk_rope_cat_kernel _quant_fused_add_layernorm_kernel _quant_fused_add_rmsnorm_kernel _quant_layernorm_kernel
_quant_rms_norm_kernel _ragged_trans_kernel _reduce_grouped _reduce_scatter_kernel
_reshape_causal_conv1d_update_single_token_kernel _rms_norm_kernel _rmsnorm_bwd_dg_reduce_triton _rmsnorm_bwd_triton
_rmsnorm_kernel_large_m_small_n _rope_fwd_2d_kernel_neox _rope_fwd_3d _rope_kernel_cached_thd_2c_gqa_bwd
_rope_kernel_cached_thd_2c_gqa_fwd _rope_kernel_cached_thd_2c_gqa_onehead_bwd
_rope_kernel_cached_thd_2c_gqa_onehead_fwd _rope_kernel_sbhd_bwd _rope_kernel_sbhd_cached_bwd
_rope_kernel_sbhd_cached_fwd _rope_kernel_sbhd_fwd _rope_kernel_thd_bwd _rope_kernel_thd_cached_2c_bwd
_rope_kernel_thd_cached_2c_fwd _rope_kernel_thd_fwd _rot_k_only_kernel _rot_q_kernel _rotate_quantize_k_kernel
_rotate_quantize_q_kernel _smoothquant_fuse_quant_kernel _smoothquant_fuse_quant_kernel_single_pass
_sparse_attn_prefill_kernel _splitK_reduce _split_qkv_kernel _static_per_tensor_quant_fp8_i8_kernel
_sum_bitmatrix_memset _sum_bitmatrix_rows _topk _triton_fused_rms_kernel _triton_gather_kv_b_proj
_triton_gather_kv_b_proj_flat _upcast_from_mxfp _varctx_cta_info_kernel _varqlen_windows_kernel attn_fwd
attnres_fwd_kernel beta_sigmoid_fwd_kernel bwd_kernel_fused_causal bwd_kernel_fused_noncausal chunk_bwd_kernel_dqkwg
chunk_bwd_kernel_dv chunk_bwd_kernel_dv_local chunk_delta_attn_fwd_kernel_inter_solve_fused
chunk_delta_attn_fwd_kernel_intra_sub_chunk chunk_delta_attn_fwd_kernel_intra_token_parallel
chunk_delta_attn_gate_fwd_kernel chunk_fwd_kernel_o chunk_fwd_kernel_o_opt chunk_fwd_kernel_o_opt_vk
chunk_gate_cumsum_kernel chunk_gated_delta_rule_bwd_kernel_dhu_blockdim64
chunk_gated_delta_rule_fwd_kernel_h_blockdim64 chunk_gated_delta_rule_fwd_kernel_h_opt
chunk_gated_delta_rule_fwd_kernel_h_opt_vk chunk_gla_fwd_kernel_o chunk_local_cumsum_scalar_kernel
chunk_local_cumsum_vector_kernel chunk_scaled_dot_kkt_fwd_kernel decode_update_mla_metadata_v1_kernel
fused_chunk_local_cumsum_scaled_dot_kkt_fwd_kernel fused_gdn_gating_sigmoid_kernel
fused_rearrange_sigmoid_gated_delta_rule_update_kernel fused_sigmoid_gating_delta_rule_update_kernel
fused_solve_tril_recompute_w_u_kernel gmm_kernel kernel_unified_attention_2d l2norm_bwd_kernel l2norm_bwd_kernel1
l2norm_fwd_kernel l2norm_fwd_kernel1 la_persistent_paged mha_v4_per_tensor_amax_kernel mha_v4_per_tensor_quant_kernel
mha_v4_per_tensor_scale_kernel paged_attention_decode_ps_reduce_kernel paged_attention_decode_v2_reduce_kernel
recompute_w_u_fwd_kernel recompute_w_u_head_major_kernel sage_fwd sage_fwd_mxfp4 sage_quant_kernel
sage_quant_v_amax_finalize_kernel sage_quant_v_amax_partial_kernel sage_quant_v_fp4_colmajor_kernel sage_quant_v_kernel
sage_quant_v_mxfp4_colmajor_kernel tgmm_non_persistent_kernel tgmm_persistent_kernel
"""
_OTHERS = """
_combined_routing_compute _combined_routing_memset _copy_page_indices_kernel _expt_data_compute _expt_data_memset
_per_token_group_quant_fp8 _routing_compute_indx _topk_backward _topk_forward _w8a8_block_fp8_matmul
alloc_decode_kernel alloc_extend_kernel assign_draft_cache_locs compute_position_kernel
create_flashinfer_kv_indices_triton fused_moe_kernel get_last_loc_kernel reshape_and_cache_kernel_flash
write_req_to_token_pool_triton
"""


@cache
def _plain() -> frozenset[str]:
    return frozenset([*_AITER.split(), *_OTHERS.split(), *declared_keys()])


def _suffix(name: str) -> tuple[int, list[str]] | None:
    """Where the argument suffix begins and what it says of each argument; None when there is none."""
    start = name.rfind("_") + 1
    at = start
    hints: list[str] = []
    while start and at < len(name):
        number = str(len(hints))
        if not name.startswith(number, at):
            return None
        at += len(number)
        begin = at
        for letter in "cde":
            at += name.startswith(letter, at)
        hints.append(name[begin:at])
    return (start, hints) if start > 1 and len(hints) > 1 and any(hints) else None


class TritonPlain(Grammar):
    """Triton kernels without a configuration in their names."""

    name = "triton_plain"
    families = (_FAMILY,)
    formal = frozenset(families)
    link = "https://github.com/ROCm/aiter/tree/main/aiter/ops/triton"
    keys: ClassVar[Mapping[str, Key]] = {
        **pick("base_name"),
        "argument_hints": Key("For each argument: c assumed equal to 1, d divisible by 16, e divisible by 8."),
    }

    def accepts(self, name: str) -> bool:
        """Says whether `name` is in a table, or ends in an argument suffix."""
        if name in _plain():
            return True
        # cheap signs first: the suffix ends in its last argument's number or letters, and names of this kind are short
        return name[-1:] in "cde0123456789" and len(name) <= _LONGEST and name.isidentifier() and bool(_suffix(name))

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        """States the base name, and what the suffix says."""
        found = None if name in _plain() else _suffix(name)
        if found is None:
            return DecodedName(name, name, self.name, _FAMILY, {"base_name": name}, {"base_name": (0, len(name))})
        start, hints = found
        fields: dict[str, FieldValue] = {"base_name": name[: start - 1], "argument_hints": hints}
        spans = {"base_name": (0, start - 1), "argument_hints": (start, len(name))}
        return DecodedName(name, name, self.name, _FAMILY, fields, spans)

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        """Writes the name: the base name, and the suffix where there is one."""
        if family != _FAMILY or not isinstance(fields.get("base_name"), str):
            return super().format(family, fields)
        hints = fields.get("argument_hints")
        suffix = "".join(f"{i}{hint}" for i, hint in enumerate(hints)) if hints else ""
        return f"{fields['base_name']}_{suffix}" if suffix else str(fields["base_name"])
