"""Template parameters of ck_tile's structs: no input, out come names and the keys of their arguments.

The notation is that of `ck_gridwise`. Read from include/ck_tile of CK of October 2024, of CK as amd-aiter
0.1.7.post2.dev18 ships it, and of rocm-libraries of 2026. Where two structs of one kernel state one thing, the first
of this list is taken.
"""

from __future__ import annotations

TILE_STRUCTS = """
Rmsnorm2dFwdTraits
| pad_n save_inv_rms save_unquant two_pass fused_add fused_quant
| pad_n save_inv_rms save_unquant two_pass fused_add fused_quant sensitive_model
Rmsnorm2dFwdPipelineProblem
| dtype_a - dtype_compute dtype_c -4
| dtype_a - dtype_compute dtype_c -6
Layernorm2dFwdTraits
| pad_n save_mean_inv_std two_pass fused_add fused_quant
| pad_n save_mean_inv_std fast_fdiv welford two_pass fused_add fused_quant
| pad_n save_mean_inv_std fast_fdiv welford two_pass x_bias fused_add fused_quant
Layernorm2dFwdPipelineProblem
| dtype_a -2 dtype_compute dtype_c -3 pad_n save_mean_inv_std two_pass
| dtype_a -3 dtype_compute dtype_c -6
AddRmsnorm2dRdquantFwdPipelineProblem
| dtype_a dtype_b - dtype_compute -2 dtype_c - pad_n save_x three_pass
SmoothquantPipelineProblem
| dtype_a - dtype_compute - dtype_c - pad_n two_pass
Generic2dBlockShape
| block_mn thread_per_block vector
| block_mn warp_per_block warp_tile vector
Layernorm2dShape
| block_mn warp_per_block warp_tile vector block_size
TileFmhaShape
| block_tile gemm0_block_warps gemm0_warp_tile gemm1_block_warps gemm1_warp_tile v_row_major
TileFmhaBwdShape
| block_tile gemm0_block_warps gemm0_warp_tile gemm1_block_warps gemm1_warp_tile -6
| block_tile gemm0_block_warps gemm0_warp_tile gemm1_block_warps gemm1_warp_tile -6 max_seq_q
TileFmhaTraits
| @PAD bias dbias lse dropout static_quant occupancy
| @PAD logits_soft_cap bias dbias lse dropout static_quant occupancy skip_min_seqlen_q
| @PAD logits_soft_cap bias dbias lse dropout qscale occupancy skip_min_seqlen_q sink
TileFmhaBatchPrefillTraits
| @PAD logits_soft_cap bias dbias lse dropout qscale occupancy skip_min_seqlen_q sink page_size kv_memory_layout
  kv_lookup_table kv_load_mode
TileFmhaFwdPagedKVTraits
| @PAD logits_soft_cap bias dbias lse paged_kv static_quant occupancy skip_min_seqlen_q
| @PAD logits_soft_cap bias dbias lse paged_kv static_quant occupancy skip_min_seqlen_q sink
TileFmhaFwdSplitKVTraits
| @PAD bias dbias lse static_quant paged_kv uneven_splits occupancy
| @PAD bias dbias lse static_quant paged_kv uneven_splits merge_groups occupancy
| @PAD logits_soft_cap bias dbias lse static_quant paged_kv uneven_splits merge_groups occupancy
| @PAD logits_soft_cap bias dbias lse static_quant paged_kv uneven_splits merge_groups occupancy sink
| @PAD logits_soft_cap bias dbias lse static_quant paged_kv uneven_splits merge_groups occupancy sink -
TileFmhaFwdSplitKVCombineTraits
| pad_seqlen_q pad_head_dim_v lse static_quant log_max_splits occupancy
TileFmhaFwdAppendKVTraits
| @PAD occupancy
TileFmhaFwdV3Traits
| @PAD lse occupancy
TileFmhaBwdTraits
| pad_head_dim_multiple pad_head_dim_v_multiple bias dbias occupancy
| @PAD bias dbias occupancy
TileFmhaBwdOGradDotOTraits
| pad_seqlen_q pad_head_dim_v occupancy
TileFmhaBwdConvertQGradTraits
| pad_seqlen_q pad_head_dim occupancy
BlockFmhaPipelineProblem
| dtype_a -9 dtype_c - group_mode -2
| dtype_a -9 dtype_c - group_mode -4
BlockFmhaBatchPrefillPipelineProblem
| dtype_a -9 dtype_c - group_mode -5
BlockFmhaFwdPagedKVPipelineProblem
| dtype_a -8 dtype_c - group_mode -3
BlockFmhaFwdSplitKVPipelineProblem
| dtype_a -8 dtype_c - group_mode -2
| dtype_a -8 dtype_c - group_mode -3
BlockFmhaFwdV3PipelineProblem
| dtype_a -7 dtype_c - group_mode -2
BlockFmhaSplitKVCombinePipelineProblem
| -2 dtype_c head_dim_v -2 group_mode -
| -2 dtype_c head_dim_v group_mode -2
BlockFmhaFwdAppendKVPipelineProblem
| dtype_a -2 -4 v_row_major rope_id paged_kv -
BlockFmhaBwdPipelineProblem
| dtype_a -15 group_mode deterministic -3
| dtype_a -15 group_mode deterministic -2 trload -
BlockFmhaBwdOGradDotOPipelineProblem
| dtype_a -2 block_size head_dim_v group_mode -
BlockFmhaBwdConvertQGradPipelineProblem
| dtype_acc dtype_c block_size -2 head_dim group_mode deterministic -
TileGemmShape TileFlatmmShape
| tile_mnk warps_mnk warp_tile_mnk
| tile_mnk warps_mnk warp_tile_mnk permute_a permute_b
TileGemmUniversalTraits
| pad_m pad_n pad_k @L transpose_c
| pad_m pad_n pad_k double_smem_buffer @L transpose_c structured_sparsity
| pad_m pad_n pad_k double_smem_buffer @L transpose_c structured_sparsity persistent num_wave_groups
| pad_m pad_n pad_k double_smem_buffer @L transpose_c structured_sparsity persistent num_wave_groups b_preshuffle
| pad_m pad_n pad_k double_smem_buffer @L transpose_c structured_sparsity persistent num_wave_groups b_preshuffle -3
  async_copy large_tensors
TileGemmQuantTraits
| pad_m pad_n pad_k preshuffle_quant b_preshuffle @L quant_type -2 transpose_c double_smem_buffer persistent
TileGemmTraits
| pad_m pad_n pad_k @L
| pad_m pad_n pad_k @L num_wave_groups
UniversalGemmPipelineProblem FlatmmPipelineProblem F16xMXF4FlatmmPipelineProblem MXFlatmmPipelineProblem
| dtype_a dtype_b -3 pipeline_sched hot_loop tail
| dtype_a dtype_b -3 pipeline_sched hot_loop tail -
| dtype_a dtype_b -3 pipeline_sched hot_loop tail -3
| dtype_a dtype_b -3 pipeline_sched hot_loop tail -6
GemmPipelineProblemBase
| dtype_a dtype_b -9
GemmPipelineProblem
| dtype_a dtype_b -3
GemmQuantPipelineProblemBase
| dtype_a dtype_sfa dtype_b dtype_sfb -3 scale_block_mnk transpose_c - pipeline_sched hot_loop tail
CShuffleEpilogueProblem
| dtype_a dtype_b - dtype_acc dtype_c -5 warps_m warps_n -3 - mem_op -3
| dtype_a dtype_b dtypes_d dtype_acc dtype_c -3 -2 warps_m warps_n -3 - mem_op -5
Default2DEpilogueProblem
| dtype_acc dtype_c -3
| dtype_acc dtype_c -2
| dtype_acc dtype_c -4
DefaultGemm2DEpilogueProblem
| dtype_a dtype_b -2 dtype_acc dtype_c -4 -8
MoeFlatmmKernel
| -3 moe_kind fused_activation
GroupedFlatmmHostArgs ContiguousGroupedFlatmmHostArgs MaskedGroupedFlatmmHostArgs
| scaled_a scaled_b -
FusedMoeGemmShape
| tile_mnk warps_mnk warp_tile_mnk -3
FusedMoeGemmPipelineProblem
| dtype_a dtype_b - dtype_acc dtype_c -9
FusedMoeGemmTraits
| gate_only smooth_quant atomic - pad_hidden_size pad_intermediate_size pipe_interleave
MoeSortingProblem
| -2 InternalLoadUnroll ExpertTile
MoeSortingProblemEx
| -2 SubTokenTile SubTokenOneShot LocalExpertMasking LocalToken SkipExpertsWithZeroTokens ExpertTile
MoeSortingProblemMp
| -3 SubTokenTile LocalExpertMasking LocalToken SkipExpertsWithZeroTokens
MoeSortingClearWorkspaceProblem
| LocalToken block_size occupancy
TopkSoftmaxWarpPerRowProblem
| dtype_a - - num_experts IssuesPerCol BytesPerIssue LaunchType block_size
| dtype_a - - num_experts ActivationIsSoftmax IssuesPerCol BytesPerIssue LaunchType block_size
"""
