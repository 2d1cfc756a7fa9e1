"""The constexpr keys that aiter's Triton and Gluon kernels print in their names: a table, and what is known from it.

A record is `KEY KEY ... = kernel kernel ...`; a line that begins with a space continues the record. The keys stand in
the order in which `make_kernel_repr(base_name, config_keys)` was given them. (The split-K reductions take their base
name from the caller: those names stand here too.) The table covers aiter from November 2025, the first release with
such names, to August 2026; a kernel whose keys changed stands in several records. It was read from the declarations in
aiter/ops/triton, and a test compares it with the declarations of an installed aiter.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

_DECLARED = """
IS_CAUSAL NUM_Q_HEADS NUM_K_HEADS BLOCK_M BLOCK_N BLOCK_DMODEL RETURN_SCORES ENABLE_DROPOUT IS_FP8 VARLEN NUM_XCD
 USE_INT64_STRIDES = _attn_fwd
IS_CAUSAL NUM_Q_HEADS NUM_K_HEADS BLOCK_M BLOCK_N BLOCK_DMODEL RETURN_SCORES ENABLE_DROPOUT IS_FP8 VARLEN NUM_XCD
 USE_INT64_STRIDES ENABLE_SINK = _attn_fwd
IS_CAUSAL NUM_Q_HEADS NUM_K_HEADS BLOCK_M BLOCK_N BLOCK_DMODEL RETURN_SCORES ENABLE_DROPOUT IS_FP8 VARLEN NUM_XCD
 USE_INT64_STRIDES ENABLE_SINK SLIDING_WINDOW = _attn_fwd
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K GRID_MN PRE_QUANT HAVE_Y_SCALE
 cache_modifier = _batched_gemm_a16wfp4_kernel
BLOCK_SIZE_M BLOCK_SIZE_N ACTUAL_KSPLIT MAX_KSPLIT = _batched_gemm_a16wfp4_reduce_kernel
 _batched_gemm_afp4_wfp4_pre_quant_reduce_kernel _batched_gemm_afp4_wfp4_reduce_kernel _fused_fp4_bmm_reduce_kernel
 _fused_gemm_a8w8_blockscale_mul_add_reduce_kernel _fused_gemm_afp4wfp4_mul_add_reduce_kernel
 _gemm_a8w8_blockscale_reduce_kernel _gemm_a8w8_per_token_scale_reduce_kernel _gemm_afp4_wfp4_reduce_kernel
 _gemm_afp4wfp4_reduce_kernel
HAS_BIAS BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K EVEN_MN cache_modifier =
 _batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant_kernel
HAS_BIAS BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K cache_modifier =
 _batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant_kernel
HAS_BIAS BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K cache_modifier GRID_MN =
 _batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant_kernel
HAS_BIAS BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K GRID_MN = _batched_gemm_a8w8_kernel
 _batched_gemm_bf16_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K GRID_MN cache_modifier =
 _batched_gemm_afp4_wfp4_kernel _batched_gemm_afp4_wfp4_pre_quant_kernel _gemm_a8w8_per_token_scale_kernel
 _gemm_afp4_wfp4_pre_quant_kernel
BLOCK_M BLOCK_N BLOCK_K num_warps waves_per_eu NUM_BUFFERS LAYOUT ADD_BIAS NUM_KSPLIT =
 _batched_gemm_bf16_gfx1250_bandwidth_bound_kernel _batched_gemm_bf16_gfx1250_compute_bound_kernel
HAS_BIAS BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K GRID_MN cache_modifier
 = _batched_gemm_bf16_kernel
HAS_BIAS BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K GRID_MN cache_modifier
 num_warps num_stages waves_per_eu = _batched_gemm_bf16_kernel
HAS_BIAS BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K cache_modifier
 num_warps num_stages waves_per_eu = _batched_gemm_bf16_kernel
BLOCK_SIZE_M BLOCK_SIZE_N ACTUAL_KSPLIT MAX_KSPLIT ADD_BIAS activation use_activation =
 _batched_gemm_bf16_reduce_kernel _batched_gemm_splitk_reduce_kernel _fused_gemm_a16w16_quant_x_reduce_kernel
 _gemm_a16w16_reduce_kernel _gemm_a8w8_blockscale_reduce_kernel _gemm_a8w8_per_token_scale_reduce_kernel
 _gemm_a8w8_reduce_kernel _gemm_afp4_wfp4_reduce_kernel _gemm_afp4wfp4_reduce_kernel
 _gemm_afp8wfp8_preshuffle_reduce_kernel _gemm_afp8wfp8_reduce_kernel _gemm_splitk_reduce_kernel
NUM_Q_HEADS NUM_K_HEADS BLOCK_M BLOCK_N BLK_SLICE_FACTOR BLOCK_D_MODEL ENABLE_DROPOUT IS_VARLEN IS_FP8
 USE_INT64_STRIDES NUM_XCD = _bwd_kernel_dkdvdq_causal
NUM_Q_HEADS NUM_K_HEADS BLOCK_M BLOCK_N BLOCK_D_MODEL ENABLE_DROPOUT IS_VARLEN IS_FP8 USE_INT64_STRIDES =
 _bwd_kernel_dkdvdq_noncausal
BLOCK_M BLOCK_D_MODEL IS_VARLEN IS_FP8 = _bwd_preprocess
BLOCK_M BLOCK_N BLOCK_K GROUP_SIZE_M HAS_BIAS ACTIVATION LAYOUT = _conv2d_1x1_kernel _conv2d_general_kernel
BLOCK_M BLOCK_N BLOCK_K GROUP_SIZE_M HAS_BIAS ACTIVATION = _conv2d_3x3_cblocked_kernel _conv2d_3x3_nhwc_kernel
BLOCK_SIZE_N QUANT_BLOCK_SIZE HAVE_WEIGHTS WEIGHT_BROADCAST HAVE_SWIGLU_CLAMP HAS_QUANT = _fused_clamp_silu_mul_kernel
BLOCK_SIZE_N QUANT_BLOCK_SIZE SCALE_FMT HAVE_WEIGHTS WEIGHT_BROADCAST HAVE_SWIGLU_CLAMP HAS_QUANT =
 _fused_clamp_silu_mul_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE QH_PER_KH REUSE_FREQS_FRONT_PART
 IS_NEOX BLOCK_D_nope BLOCK_DK_nope BLOCK_D_pe BLOCK_D_HALF_pe PRE_QUANT TRANSPOSE_BM OUTPUT_Q_NOPE_ZEROS HAVE_Y_SCALE
 HAVE_K_SCALE EVEN_K = _fused_fp4_bmm_rope_cat_and_cache_mla_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M QH_PER_KH REUSE_FREQS_FRONT_PART IS_NEOX BLOCK_D_nope BLOCK_DK_nope
 BLOCK_D_pe BLOCK_D_HALF_pe TRANSPOSE_BM OUTPUT_Q_NOPE_ZEROS HAVE_K_SCALE EVEN_K =
 _fused_fp8_bmm_rope_cat_and_cache_mla_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE QUANT_BLOCK_SIZE EVEN_K EVEN_MN
 cache_modifier activation use_activation ADD_BIAS SKIP_REDUCE = _fused_gemm_a16w16_quant_x_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M num_warps num_stages waves_per_eu matrix_instr_nonkdim
 cache_modifier NUM_KSPLIT = _fused_gemm_a8w8_blockscale_mul_add_kernel _fused_gemm_afp4wfp4_a16w16_kernel
 _fused_gemm_afp4wfp4_mul_add_kernel _fused_gemm_afp4wfp4_preshuffle_a16w16_kernel
 _fused_gemm_afp4wfp4_preshuffle_mul_add_kernel _gemm_a16wfp4_kernel _gemm_a16wfp4_preshuffle_kernel
 _gemm_afp4wfp4_kernel _gemm_afp4wfp4_preshuffle_kernel
BLOCK_SIZE_M BLOCK_SIZE_N ACTUAL_KSPLIT MAX_KSPLIT ADD_BIAS_FP4 ADD_BIAS_BF16 =
 _fused_gemm_afp4wfp4_a16w16_reduce_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K cache_modifier =
 _fused_gemm_afp4wfp4_preshuffle_split_cat _fused_gemm_afp4wfp4_split_cat _gemm_afp4_wfp4_kernel
 _gemm_afp4_wfp4_kernel_preshuffled_scales _gemm_afp4_wfp4_kernel_preshuffled_weight_scales
BLOCK_SCALE group_n group_k BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K MUL_ROUTED_WEIGHT top_k
 compute_type use_fp8_w8a8 use_int8_w8a16 NUM_XCDS = _fused_moe_kernel
group_n group_k BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K MUL_ROUTED_WEIGHT top_k compute_type
 use_fp8_w8a8 use_int8_w8a16 NUM_XCDS = _fused_moe_kernel _fused_moe_silu_kernel
N K group_size BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K MUL_ROUTED_WEIGHT top_k compute_type has_zp
 use_int4_w4a16 use_int8_w8a16 NUM_XCDS = _fused_moe_kernel_gptq_awq
A_DTYPE_FORMAT B_DTYPE_FORMAT BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K MUL_ROUTED_WEIGHT top_k
 compute_type SWIZZLE_MX_A SWIZZLE_MX_B NUM_XCDS = _fused_moe_kernel_mxfp4
A_DTYPE_FORMAT B_DTYPE_FORMAT BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K MUL_ROUTED_WEIGHT top_k
 compute_type SWIZZLE_MX_A SWIZZLE_MX_B = _fused_moe_kernel_mxfp4_silu
BLOCK_SCALE group_n group_k BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K NUM_SMS MUL_ROUTED_WEIGHT top_k
 compute_type use_fp8_w8a8 use_int8_w8a16 NUM_XCDS = _fused_moe_persistent_kernel
group_n group_k BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K NUM_SMS MUL_ROUTED_WEIGHT top_k compute_type
 use_fp8_w8a8 use_int8_w8a16 NUM_XCDS = _fused_moe_persistent_kernel _fused_moe_persistent_silu_kernel
N K group_size BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K NUM_SMS MUL_ROUTED_WEIGHT top_k compute_type
 has_zp use_int4_w4a16 use_int8_w8a16 NUM_XCDS = _fused_moe_persistent_kernel_gptq_awq
N K block_k_diviable group_size BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K NUM_SMS MUL_ROUTED_WEIGHT
 top_k compute_type has_zp use_int4_w4a16 use_int8_w8a16 NUM_XCDS = _fused_moe_persistent_silu_kernel_gptq_awq
N K block_k_diviable group_size BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K MUL_ROUTED_WEIGHT top_k
 compute_type has_zp use_int4_w4a16 use_int8_w8a16 NUM_XCDS = _fused_moe_silu_kernel_gptq_awq
BK BV USE_G USE_GK USE_GV USE_QK_L2NORM_IN_KERNEL IS_BETA_HEADWISE USE_INITIAL_STATE STORE_FINAL_STATE IS_VARLEN =
 _fused_recurrent_gated_delta_rule_fwd_kernel
BLOCK_SIZE_M HEAD_DIM ROPE_DIM NUM_LOCAL_HEADS NUM_SPLITK HAS_SWA IS_NEOX REUSE_FREQS_FRONT_PART =
 _fused_reduce_qk_norm_rope_swa_write_kernel
E BLOCK_NK BLOCK_E = _fused_routing_from_topk_hist_kernel
E HAS_EXPERT_MAP BLOCK_NK BLOCK_E = _fused_routing_from_topk_hist_kernel
E BLOCK_E = _fused_routing_from_topk_offset_kernel
BLOCK_NK = _fused_routing_from_topk_place_kernel
HAS_EXPERT_MAP BLOCK_NK = _fused_routing_from_topk_place_kernel
rotary_dim kv_lora_rank qk_rope_head_dim kv_group_num q_head_num batch BLOCK_C BLOCK_R BLOCK_N BLOCK_H NUM_KV_SPLITS
 logit_cap USE_ROPE IS_NEOX_STYLE = _fwd_grouped_kernel_stage1_rope
IN_PRECISION BLOCK_M BLOCK_DMODEL BLOCK_N SLIDING_WINDOW SKIP_DECODE = _fwd_kernel
kv_group_num BLOCK_M BLOCK_DMODEL BLOCK_N IS_CAUSAL Lk = _fwd_kernel
logit_cap Lq Lv BLOCK_DMODEL BLOCK_DPE BLOCK_DV BLOCK_M BLOCK_N USE_CUSTOM_MASK IS_CAUSAL SKIP_PREFIX_CUSTOM_MASK
 STORE_TRANSPOSE NUM_Q_HEADS NUM_BLOCKS NUM_XCDS = _fwd_kernel
IN_PRECISION BLOCK_M BLOCK_DMODEL BLOCK_N SKIP_DECODE = _fwd_kernel_alibi
NUM_KV_SPLITS BLOCK_DV Lv batch head_num = _fwd_kernel_stage2
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE cache_modifier EVEN_K GRID_MN =
 _gemm_a16_w16_atomic_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K GRID_MN cache_modifier activation use_activation =
 _gemm_a16_w16_gated_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K EVEN_MN cache_modifier
 activation use_activation ADD_BIAS SKIP_REDUCE = _gemm_a16_w16_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K GRID_MN cache_modifier
 activation use_activation ADD_BIAS SKIP_REDUCE = _gemm_a16_w16_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K cache_modifier activation
 use_activation ADD_BIAS SKIP_REDUCE = _gemm_a16_w16_kernel
BLOCK_M BLOCK_N BLOCK_K NUM_BUFFERS LAYOUT USE_ACTIVATION ADD_BIAS = _gemm_a16w16_gfx1250_bandwidth_bound_kernel
 _gemm_a16w16_gfx1250_compute_bound_kernel
BLOCK_SIZE_M BLOCK_SIZE_N ACTUAL_KSPLIT MAX_KSPLIT activation use_activation ADD_BIAS = _gemm_a16w16_reduce_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M num_warps num_stages waves_per_eu matrix_instr_nonkdim
 cache_modifier NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K GRID_MN PREQUANT = _gemm_a16w8_blockscale_kernel
 _gemm_a16w8_blockscale_preshuffle_kernel
GROUP_K GROUP_N BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K GRID_MN
 num_warps cache_modifier NUM_BUFFERS = _gemm_a8w8_blockscale_gfx1250_bandwidth_bound_kernel
 _gemm_a8w8_blockscale_gfx1250_compute_bound_kernel _gemm_a8w8_blockscale_preshuffle_gfx1250_bandwidth_bound_kernel
 _gemm_a8w8_blockscale_preshuffle_gfx1250_compute_bound_kernel
GROUP_K GROUP_N BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K num_warps
 cache_modifier NUM_BUFFERS = _gemm_a8w8_blockscale_gfx1250_bandwidth_bound_kernel
 _gemm_a8w8_blockscale_gfx1250_compute_bound_kernel _gemm_a8w8_blockscale_preshuffle_gfx1250_bandwidth_bound_kernel
 _gemm_a8w8_blockscale_preshuffle_gfx1250_compute_bound_kernel
GROUP_K GROUP_N BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K GRID_MN
 cache_modifier = _gemm_a8w8_blockscale_kernel _gemm_a8w8_blockscale_preshuffle_kernel
HAS_BIAS BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M EVEN_K GRID_MN NUM_XCDS = _gemm_a8w8_kernel
HAS_BIAS BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K GRID_MN cache_modifier
 HAS_BIAS = _gemm_a8w8_kernel
HAS_BIAS BLOCK_SIZE_M BLOCK_SIZE_N ACTUAL_KSPLIT MAX_KSPLIT = _gemm_a8w8_reduce_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M NUM_KSPLIT SPLITK_BLOCK_SIZE EVEN_K GRID_MN RAW_MASKED_LOADS
 cache_modifier = _gemm_a8wfp4_kernel _gemm_afp4_wfp4_reduce_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K GROUP_SIZE_M num_warps num_stages waves_per_eu matrix_instr_nonkdim
 cache_modifier NUM_KSPLIT SPLITK_BLOCK_SIZE = _gemm_afp8wfp8_kernel _gemm_afp8wfp8_preshuffle_kernel
BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K num_warps NUM_BUFFERS = _gemm_mxfp4_preshuffle_gfx1250_kernel
CAUSAL HAS_MULTIPLE_TARGETS ALLOW_TF32 BLOCK_D_Q BLOCK_D_V BLOCK_M BLOCK_N HAS_CONTEXTUAL_SEQ_LEN HAS_MAX_ATTN_LEN
 HAS_SORT_BY_LENGTH_INDICES = _hstu_attn_bwd
CAUSAL HAS_MULTIPLE_TARGETS IS_DELTA_Q ALLOW_TF32 BLOCK_D_Q BLOCK_D_V BLOCK_M BLOCK_N HAS_CONTEXTUAL_SEQ_LEN
 HAS_MAX_ATTN_LEN HAS_SORT_BY_LENGTH_INDICES = _hstu_attn_fwd
num_queries_per_kv BLOCK_SIZE HEAD_SIZE USE_ALIBI_SLOPES SLIDING_WINDOW x filter_by_query_len =
 _kernel_paged_attention_2d
n C stride_phi_k stride_phi_n BLOCK_M BLOCK_C N_TOTAL_POW2 = _mhc_post_pre_split_kernel
num_query_heads num_kv_heads TILE_SIZE KV_LORA_RANK QK_ROPE_HEAD_DIM BLOCK_Q BLOCK_M NUM_SEGMENTS_PER_SEQ num_warps
 num_stages ALL_DECODE SHUFFLED_KV_CACHE QUERY_DTYPE KV_CACHE_DTYPE = _mla_decode_fwd_kernel
num_query_heads num_kv_heads num_tokens_per_seq TILE_SIZE KV_LORA_RANK QK_ROPE_HEAD_DIM BLOCK_Q BLOCK_M NUM_HEAD_BLOCKS
 NUM_SEGMENTS_PER_SEQ num_warps waves_per_eu num_stages SHUFFLED_KV_CACHE IS_Q_FP8 IS_KV_FP8 = _mla_decode_fwd_kernel
num_query_heads num_kv_heads num_tokens_per_seq TILE_SIZE KV_LORA_RANK QK_ROPE_HEAD_DIM BLOCK_Q BLOCK_M
 NUM_SEGMENTS_PER_SEQ num_warps waves_per_eu num_stages SHUFFLED_KV_CACHE IS_Q_FP8 IS_KV_FP8 = _mla_decode_fwd_kernel
num_query_heads num_queries_per_kv num_tokens_per_seq TILE_SIZE KV_LORA_RANK QK_ROPE_HEAD_DIM BLOCK_Q BLOCK_M
 NUM_SEGMENTS_PER_SEQ num_warps num_stages = _mla_decode_fwd_kernel _mla_decode_fwd_kernel_non_pipelined
 _mla_prefill_fwd_kernel_non_pipelined
num_query_heads num_queries_per_kv num_tokens_per_seq TILE_SIZE KV_LORA_RANK QK_ROPE_HEAD_DIM BLOCK_Q BLOCK_M
 NUM_SEGMENTS_PER_SEQ num_warps num_stages ALL_DECODE SHUFFLED_KV_CACHE QUERY_DTYPE KV_CACHE_DTYPE =
 _mla_decode_fwd_kernel
num_query_heads num_queries_per_kv num_tokens_per_seq TILE_SIZE KV_LORA_RANK QK_ROPE_HEAD_DIM BLOCK_Q BLOCK_M
 NUM_HEAD_BLOCKS NUM_SEGMENTS_PER_SEQ num_warps num_stages = _mla_decode_fwd_kernel_non_pipelined
 _mla_prefill_fwd_kernel_non_pipelined
num_query_heads TILE_SIZE KV_LORA_RANK NUM_SEGMENTS_PER_SEQ ALL_DECODE = _mla_decode_fwd_reduce_kernel
num_query_heads TILE_SIZE KV_LORA_RANK NUM_SEGMENTS_PER_SEQ ALL_DECODE num_warps = _mla_decode_fwd_reduce_kernel
num_query_heads num_kv_heads TILE_SIZE KV_LORA_RANK QK_ROPE_HEAD_DIM BLOCK_Q BLOCK_M NUM_HEAD_BLOCKS
 NUM_SEGMENTS_PER_SEQ num_warps num_stages = _mla_prefill_fwd_kernel
num_query_heads num_kv_heads TILE_SIZE KV_LORA_RANK QK_ROPE_HEAD_DIM BLOCK_Q BLOCK_M NUM_SEGMENTS_PER_SEQ num_warps
 num_stages = _mla_prefill_fwd_kernel
num_experts numel tokens_per_thread = _moe_align_block_size_stage1_kernel
num_experts = _moe_align_block_size_stage2_kernel
num_experts block_size = _moe_align_block_size_stage3_kernel
num_experts block_size numel tokens_per_thread = _moe_align_block_size_stage4_kernel
BLOCK_M BLOCK_N BLOCK_K GROUP_M SPLIT_K EVEN_K SWIZZLE_MX_SCALE APPLY_SWIGLU = _moe_gemm_a4w4
BLOCK_M BLOCK_N BLOCK_K SWIZZLE_MX_SCALE APPLY_SWIGLU num_warps NUM_BUFFERS = _moe_gemm_a4w4_decode
 _moe_gemm_a4w4_prefill
BLOCK_M BLOCK_N BLOCK_K GROUP_M SPLIT_K EVEN_K SWIZZLE_MX_SCALE APPLY_SWIGLU HAS_MX_OUT = _moe_gemm_a8w4
BLOCK_M BLOCK_N BLOCK_K SWIZZLE_MX_SCALE APPLY_SWIGLU num_warps NUM_BUFFERS HAS_MX_OUT = _moe_gemm_a8w4_decode
 _moe_gemm_a8w4_decode_persistent _moe_gemm_a8w4_prefill
BLOCK_H BLOCK_D BLOCK_K H D KV_SPLITS = _pa_decode_sparse _pa_decode_sparse_reduce
BLOCK_M BLOCK_K HEAD_SIZE NUM_SPLITS UNIFORM MAIN_IS_FP8 = _pa_decode_sparse
BLOCK_M HEAD_SIZE NUM_SPLITS = _pa_decode_sparse_reduce
BLOCK_H BLOCK_D BLOCK_K H D = _pa_prefill_sparse
compute_type HEAD_SZ QUERY_GRP_SZ KV_BLK_SZ = _paged_attn_decode_v1_w_dot_kernel
compute_type HEAD_SZ HEAD_SZ_POW2 QUERY_GRP_SZ KV_BLK_SZ KV_BLK_SZ_POW2 =
 _paged_attn_decode_v1_w_dot_kernel_per_token_quant
compute_type KV_BLK_SZ HEAD_SZ QUERY_GRP_SZ = _paged_attn_decode_v1_wo_dot_kernel
compute_type KV_BLK_SZ KV_BLK_SZ_POW2 HEAD_SZ HEAD_SZ_POW2 QUERY_GRP_SZ =
 _paged_attn_decode_v1_wo_dot_kernel_per_token_quant
compute_type HEAD_SZ QUERY_GRP_SZ KV_BLK_SZ SEQ_PARTITION_SZ = _paged_attn_decode_v2_w_dot_kernel
compute_type HEAD_SZ HEAD_SZ_POW2 QUERY_GRP_SZ KV_BLK_SZ KV_BLK_SZ_POW2 SEQ_PARTITION_SZ =
 _paged_attn_decode_v2_w_dot_kernel_per_token_quant
HEAD_SZ QUERY_GRP_SZ SEQ_PARTITION_SZ MAX_NUM_SEQ_PARTITIONS_POW2 = _paged_attn_decode_v2_w_dot_reduce_kernel
 _paged_attn_decode_v2_w_dot_reduce_kernel_per_token_quant
compute_type KV_BLK_SZ HEAD_SZ QUERY_GRP_SZ SEQ_PARTITION_SZ = _paged_attn_decode_v2_wo_dot_kernel
compute_type KV_BLK_SZ KV_BLK_SZ_POW2 HEAD_SZ HEAD_SZ_POW2 QUERY_GRP_SZ SEQ_PARTITION_SZ =
 _paged_attn_decode_v2_wo_dot_kernel_per_token_quant
HEAD_SZ SEQ_PARTITION_SZ MAX_NUM_SEQ_PARTITIONS_POW2 = _paged_attn_decode_v2_wo_dot_reduce_kernel
HEAD_SZ HEAD_SZ_POW2 SEQ_PARTITION_SZ MAX_NUM_SEQ_PARTITIONS_POW2 =
 _paged_attn_decode_v2_wo_dot_reduce_kernel_per_token_quant
BLOCK_M BLOCK_K BLOCK_N TOPK FUSED_SHARED_EXPERTS = _routing_sigmoid_top1_kernel
BLOCK_SIZE = _softmax_kernel_online
M K BLOCK = _topk_kernel
NUM_QUERY_HEADS NUM_KV_HEADS BLOCK_SIZE TILE_SIZE HEAD_SIZE SLIDING_WINDOW ALL_DECODE SHUFFLED_KV_CACHE NUM_BUFFERS
 BLOCK_M LOOP_VARIANT num_warps waves_per_eu = _unified_attention_gluon_kernel_2d
NUM_QUERY_HEADS NUM_KV_HEADS BLOCK_SIZE TILE_SIZE HEAD_SIZE NUM_BLOCKS_GATHER_PER_TILE NUM_SEGMENTS_PER_SEQ num_warps
 waves_per_eu num_stages ALL_DECODE SHUFFLED_KV_CACHE QUERY_DTYPE KV_CACHE_DTYPE = _unified_attention_gluon_kernel_3d
num_query_heads num_queries_per_kv BLOCK_SIZE TILE_SIZE HEAD_SIZE NUM_BLOCKS_GATHER_PER_TILE NUM_SEGMENTS_PER_SEQ
 num_warps waves_per_eu num_stages ALL_DECODE SHUFFLED_KV_CACHE QUERY_DTYPE KV_CACHE_DTYPE =
 _unified_attention_gluon_kernel_3d
BLOCK_M BLOCK_N BLOCK_K GROUP_SIZE_M = _winograd_f4x3_batched_gemm_kernel
BLOCK_C = _winograd_f4x3_cblocked_input_transform_kernel
BLOCK_C LAYOUT = _winograd_f4x3_input_transform_kernel
BLOCK_K HAS_BIAS ACTIVATION LAYOUT = _winograd_f4x3_output_transform_kernel
BLOCK_M1 BLOCK_N1 BLOCK_M2 BLOCK_N2 BLK_SLICE_FACTOR HEAD_DIM ENABLE_DROPOUT IS_VARLEN USE_ALIBI USE_EXP2 IS_FP8
 USE_INT64_STRIDES = bwd_kernel_causal bwd_kernel_noncausal
BLOCK_M1 BLOCK_N1 BLOCK_M2 BLOCK_N2 BLK_SLICE_FACTOR HEAD_DIM ENABLE_DROPOUT IS_VARLEN USE_ALIBI USE_EXP2 IS_FP8
 USE_INT64_STRIDES ENABLE_SINK = bwd_kernel_causal bwd_kernel_noncausal
BLOCK_M1 BLOCK_N1 BLOCK_M2 BLOCK_N2 BLK_SLICE_FACTOR HEAD_DIM ENABLE_DROPOUT IS_VARLEN USE_ALIBI USE_EXP2 IS_FP8
 USE_INT64_STRIDES ENABLE_SINK SLIDING_WINDOW = bwd_kernel_causal bwd_kernel_noncausal
top_k EM N K EVEN_K MUL_ROUTED_WEIGHT use_fp8_w8a8 use_int8_w8a16 BLOCK_SIZE_M BLOCK_SIZE_N BLOCK_SIZE_K1 BLOCK_SIZE_K2
 GROUP_SIZE_M GRID_MN atomic_num_stages dtype NUM_XCDS = e2e_moe_kernel
top_k N K EVEN_K EVEN_N MUL_ROUTED_WEIGHT use_fp8_w8a8 use_int8_w8a16 BLOCK_SIZE_M BLOCK_SIZE_N1 BLOCK_SIZE_N2
 BLOCK_SIZE_K1 BLOCK_SIZE_K2 NUM_SMS = e2e_moe_persistent_kernel
num_query_heads num_queries_per_kv BLOCK_SIZE TILE_SIZE HEAD_SIZE NUM_SEGMENTS_PER_SEQ num_warps waves_per_eu
 num_stages ALL_DECODE SHUFFLED_KV_CACHE IS_Q_FP8 IS_KV_FP8 = kernel_unified_attention_3d
HEADS_PER_XCD HEAD_DIM BLOCK_M BLOCK_N MASKED_BLOCKS XCD_REMAP NUM_XCDS batch_size causal num_m_blocks num_n_blocks
 total_programs high_load_wgs max_tiles_per_wg tiles_per_head num_splits max_output_tile_cnt = la_persistent
HEAD_DIM BLOCK_M BLOCK_N batch_size num_m_blocks num_n_blocks high_load_wgs max_tiles_per_wg tiles_per_head num_splits
 BLOCK_M_pf BLOCK_N_pf MASKED_BLOCKS batch_size_pf num_m_blocks_pf num_n_blocks_pf high_load_wgs_pf max_tiles_per_wg_pf
 tiles_per_head_pf num_splits_pf prefill_ratio decode_ratio = pod_persistent
num_query_heads TILE_SIZE HEAD_SIZE NUM_SEGMENTS_PER_SEQ = reduce_segments
N CHUNK_SIZE DESCENDING = topk_stage1_kernel
k N BLOCK_SIZE DESCENDING = topk_stage2_kernel
"""


@cache
def declared_keys() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Kernel base name -> the key lists that it was declared with, longest first."""
    table: dict[str, list[tuple[str, ...]]] = {}
    for record in _DECLARED.strip().replace("\n ", " ").split("\n"):
        keys, _, bases = record.partition(" = ")
        for base in bases.split():
            table.setdefault(base, []).append(tuple(keys.split()))
    return {base: tuple(sorted(lists, key=lambda keys: (-len(keys), keys))) for base, lists in table.items()}


@cache
def known_keys() -> frozenset[str]:
    """Every key that some declaration prints."""
    return frozenset(key for lists in declared_keys().values() for keys in lists for key in keys)
