"""Template parameters of CK's kernel functions and other gridwise structs: no input, out come names and keys.

The notation is that of `ck_gridwise`; functions with one list share an entry. Read from CK of October 2024 and from CK
as amd-aiter 0.1.7.post2.dev18 ships it.
"""

from __future__ import annotations

KERNELS = """
kernel_batch_gemm_multiple_d_xdl_cshuffle
| gridwise -16 main_k_loop
kernel_batched_elementwise
| gridwise -6 NumInputs NumOutputs
kernel_batched_gemm_b_scale_wmma_cshuffle_v3 kernel_batched_gemm_b_scale_xdl_cshuffle_v3
kernel_batched_gemm_b_scale_xdl_cshuffle_v3_2lds kernel_batched_gemm_wmma_cshuffle_v3
kernel_batched_gemm_xdl_cshuffle_v3_multi_d kernel_batched_gemm_xdl_cshuffle_v3_multi_d_2lds
kernel_gemm_multiple_d_welford_first_half_wmma_cshuffle_v3
| gridwise - main_k_loop mem_op min_occupancy tail
kernel_batched_gemm_dlops_bwd_weight kernel_grouped_conv_fwd_dl
| gridwise -7 main_k_loop double_tail_k_loop
kernel_batched_gemm_e_permute_xdl kernel_gemm_wmma kernel_gemm_xdlops_bwd_weight kernel_gemm_xdlops_v3r2
| gridwise -10 main_k_loop
kernel_batched_gemm_gemm_wmma_cshuffle_v3
| - gridwise main_k_loop tail
kernel_batched_gemm_gemm_xdl_cshuffle_v1
| gridwise -17 main_k_loop
kernel_batched_gemm_reduce_xdl_cshuffle_v1
| gridwise -14 main_k_loop
kernel_batched_gemm_softmax_gemm_wmma_cshuffle kernel_multi_query_attention_wmma
| - gridwise -9 main_k_loop
kernel_batched_gemm_softmax_gemm_xdl_cshuffle_v1
| gridwise -15 C0MatrixMask main_k_loop
| gridwise -13 C0MatrixMask main_k_loop
kernel_batched_gemm_xdl kernel_contraction_multiple_abd_xdl_cshuffle kernel_fpAintB_gemm_wmma
kernel_gemm_layernorm_xdl_cshuffle_v1 kernel_gemm_multiple_d_xdl_cshuffle
kernel_gemm_multiple_d_xdl_cshuffle_lds_direct_load kernel_gemm_mupltipe_d_wmma_cshuffle
| gridwise -12 main_k_loop
kernel_batched_gemm_xdlops_bwd_weight kernel_gemm_xdlops_v3r3
| gridwise -11 main_k_loop
kernel_batched_gemm_xdlops_v2r3
| - gridwise main_k_loop
kernel_batchnorm_backward_with_blockwise_welford kernel_normalizationSplitK2nd
| gridwise -12
kernel_batchnorm_forward_with_blockwise_welford kernel_reduce_second_half_batchnorm_backward_final
kernel_welford_second_half_batchnorm_forward_final kernel_welford_second_half_reduce_first_half
| gridwise -11
kernel_buffer_set_value
| block_size -2
kernel_contraction_multiple_d_wmma_cshuffle kernel_gemm_gemm_xdl_cshuffle_v1
kernel_gemm_multiple_d_welford_first_half_xdl_cshuffle kernel_gemm_reduce_xdl_cshuffle_v1
kernel_grouped_conv_multiple_d_wmma_cshuffle
| gridwise -13 main_k_loop
kernel_contraction_multiple_d_xdl_cshuffle
| gridwise -12 main_k_loop
| gridwise -11 main_k_loop
kernel_elementwise kernel_nd_permute kernel_normalization_bwd_data
| gridwise -6
kernel_elementwise_1d
| gridwise -6 Scale
kernel_elementwise_batched_dual
| gridwise -12 NumInputsA NumInputsB NumOutputsA NumOutputsB
kernel_elementwise_dual
| gridwise -9
| gridwise -12
kernel_elementwise_layernorm kernel_welford_layernorm2d_second_half
| gridwise -10
kernel_gemm_bias_add_reduce_xdl_cshuffle_v1
| gridwise -18 main_k_loop
kernel_gemm_dl_multiple_d
| gridwise -12 main_k_loop double_tail_k_loop
| gridwise -11 main_k_loop double_tail_k_loop
kernel_gemm_dl_v1r3
| gridwise -6 main_k_loop double_tail_k_loop
kernel_gemm_dpp
| gridwise main_k_loop
kernel_gemm_multiple_d_multiple_r_xdl_cshuffle
| gridwise -15 main_k_loop
kernel_gemm_xdl_cshuffle_v1
| gridwise main_k_loop
| gridwise -3 main_k_loop
kernel_gemm_xdl_cshuffle_v2
| gridwise main_k_loop tail
| gridwise -3 main_k_loop
kernel_gemm_xdl_cshuffle_v3 kernel_gemm_xdl_cshuffle_v3_2lds kernel_gemm_xdl_cshuffle_v3_multi_d
kernel_gemm_xdl_cshuffle_v3_multi_d_2lds kernel_gemm_wmma_cshuffle_v3 kernel_gemm_xdl_cshuffle_v3_b_preshuffle
kernel_gemm_xdl_cshuffle_v3_b_preshuffle_2lds kernel_gemm_xdl_cshuffle_v3_multi_d_b_preshuffle
kernel_gemm_xdl_cshuffle_v3_multi_d_b_preshuffle_2lds
kernel_gemm_xdl_cshuffle_v3_multi_d_blockscale_b_preshuffle
kernel_gemm_xdl_cshuffle_v3_multi_d_blockscale_b_preshuffle_2lds kernel_moe_gemm kernel_moe_gemm_2lds
kernel_moe_mxgemm kernel_moe_mxgemm_2lds
| gridwise main_k_loop mem_op min_occupancy tail
kernel_gemm_xdl_cshuffle_v3_mx
| Use2LDS gridwise main_k_loop mem_op min_occupancy tail
kernel_gemm_xdl_waveletmodel_cshuffle kernel_gemm_xdlops_v2r3_for_conv3d kernel_gemm_xdlops_v2r4
kernel_gemm_xdlops_v3r1
| gridwise -9 main_k_loop
kernel_gemm_xdlops_skip_b_lds_v1
| gridwise -10 main_k_loop
| gridwise -9 main_k_loop
kernel_gemm_xdlops_splitk_lds_direct_load kernel_gemm_xdlops_v2r4r2_simplified
| gridwise main_k_loop mem_op -4
kernel_gemm_xdlops_streamk
| gridwise
kernel_gemm_xdlops_v2r3
| gridwise -5 main_k_loop
| gridwise main_k_loop
kernel_grouped_contraction_multiple_d_xdl_cshuffle kernel_grouped_gemm_xdl
| gridwise -4 main_k_loop
kernel_grouped_conv_bwd_data_multiple_d_xdl_cshuffle
| gridwise -12 main_k_loop
| gridwise -3 MaxGroupedGemmGroupsNum -7 HasMainKBlockLoopInAllGemm NoMainKBlockLoopInAllGemm c_transpose
kernel_grouped_conv_bwd_weight_xdl_cshuffle_v3 kernel_grouped_conv_bwd_weight_xdl_cshuffle_v3_2lds
| gridwise -4 num_groups_to_merge main_k_loop mem_op min_occupancy tail
| gridwise -4 main_k_loop mem_op min_occupancy tail
kernel_grouped_conv_fwd_dl_multiple_d
| gridwise -12 main_k_loop double_tail_k_loop
kernel_grouped_conv_fwd_multiple_abd_xdl_cshuffle
| gridwise -13 main_k_loop is_multi_a is_multi_b
| gridwise -14 main_k_loop is_multi_a is_multi_b
| gridwise -14 main_k_loop is_multi_a is_multi_b c_transpose
kernel_grouped_conv_fwd_multiple_d_grouped_gemm_xdl_cshuffle
| gridwise MaxGemmsNum -5 main_k_loop
kernel_grouped_conv_fwd_xdl_cshuffle_v3 kernel_grouped_conv_fwd_xdl_cshuffle_v3_2lds
| gridwise -4 main_k_loop mem_op min_occupancy tail
| gridwise -5 main_k_loop mem_op min_occupancy tail
kernel_grouped_gemm_multiple_d_dl
| gridwise -4 main_k_loop double_tail_k_loop
kernel_grouped_gemm_multiple_d_xdl
| gridwise - gemm_spec -8 k_per_block -5 @P
kernel_grouped_gemm_softmax_gemm_xdl_cshuffle_v1
| gridwise -6 main_k_loop
kernel_grouped_gemm_xdl_fixed_nk
| gridwise - gemm_spec -9 mem_op main_k_loop
| gridwise - gemm_spec zeroing -10 mem_op main_k_loop
kernel_grouped_gemm_xdl_splitk
| gridwise - main_k_loop mem_op -3
kernel_grouped_query_attention_wmma
| - gridwise -9 QueryGroupNumber main_k_loop
kernel_multiblock_batchnorm_forward
| gridwise -13
kernel_multiblock_welford_first_half kernel_normalizationSplitK1st kernel_put_element_1d
| gridwise -5
kernel_multiple_buffer_set_value
| - NumBuffer block_size -2
kernel_multiple_reduce_multiblock kernel_multiple_reduce_threadwise
| gridwise NumReduction -7
kernel_normalization kernel_reduce_threadwise_multi_d
| gridwise -9
kernel_normalization_bwd_gamma_beta
| gridwise -7
kernel_reduce_multiblock
| gridwise OutputIndex HaveIndexInput -8
kernel_reduce_threadwise
| gridwise OutputIndex TransformIndexKtoGlobal HaveIndexInput -8
kernel_softmax
| gridwise -4
kernel_sparse_embeddings_forward_layernorm
| gridwise -8 NumEmbeddings
kernel_tensor_rearrange
| -6 gridwise
kernel_wmma_cross_attention_forward
| - gridwise -8 main_k_loop
kernel_wmma_self_attention_forward
| - gridwise -7 main_k_loop
set_buffer_value
| -
"""

OTHER_STRUCTS = """
GridwiseBatchNormBackwardWithBlockwiseWelford
| -3 dtype_acc -8 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize DySrcVectorSize DxDstVectorSize ScaleSrcVectorSize DscaleDbiasDstVectorSize MeanVarSrcVectorSize
GridwiseBatchNormForwardWithBlockwiseWelford
| -2 dtype_acc -8 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize YDstVectorSize ScaleSrcVectorSize BiasSrcVectorSize MeanVarSrcDstVectorSize
GridwiseElementwise
| -6 block_size M0PerBlock M1PerBlock M0PerThread M1PerThread - InScalarPerVectorSeq OutScalarPerVectorSeq -2
GridwiseElementwiseLayernormWelfordVariance_mk_to_mk
| -5 dtype_acc -4 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize - GammaSrcVectorSize - BetaSrcVectorSize - YDstVectorSize SweepOnce
GridwiseElementwise_1D
| -6 Scale MPerThread InScalarPerVectorSeq OutScalarPerVectorSeq
GridwiseMultiblockBatchNormForward
| -2 dtype_acc -10 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize YDstVectorSize ScaleSrcVectorSize BiasSrcVectorSize MeanVarSrcDstVectorSize
GridwiseMultiblockWelfordFirstHalf
| - dtype_acc -4 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcCountSrcVectorSize
GridwiseMultipleReduction_mk_to_m_multiblock
| NumReduction -2 dtype_acc -6 PropagateNan block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize
  KThreadSliceSize - InSrcVectorSize OutDstVectorSizeSeq
GridwiseMultipleReduction_mk_to_m_threadwise
| NumReduction -2 dtype_acc -6 PropagateNan block_size MThreadSliceSize KThreadSliceSize - InSrcVectorSize
  OutDstVectorSizeSeq
GridwiseNormalizationBwdData_mk_to_mk
| -4 dtype_compute -2 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  DYSrcVectorSize - XSrcVectorSize - GammaSrcVectorSize - MeanInvStdSrcVectorSize - DXDstVectorSize SweepOnce
GridwiseNormalizationBwdGammaBeta_mk_to_k
| -3 dtype_compute -4 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  DYSrcVectorSize - XSrcVectorSize - MeanInvStdSrcVectorSize DGammaDstVectorSize DBetaDstVectorSize
GridwiseNormalizationNaiveVariance_mk_to_mk
| -5 dtype_compute -3 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize - GammaSrcVectorSize - BetaSrcVectorSize - YDstVectorSize SaveMeanInvStdDstVectorSize SweepOnce
GridwiseNormalizationSplitK1st
| - dtype_compute -3 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize
GridwiseNormalizationSplitK2nd
| -6 dtype_compute -5 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize - GammaSrcVectorSize - BetaSrcVectorSize - YDstVectorSize SaveMeanInvStdDstVectorSize
GridwiseNormalizationWelfordVariance_mk_to_mk
| -5 dtype_compute -3 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize - GammaSrcVectorSize - BetaSrcVectorSize - YDstVectorSize SaveMeanInvStdDstVectorSize SweepOnce
GridwisePermute
| -5 block_size n_per_block HPerBlock WPerBlock - InBlockTransferThreadClusterLengths -3 SrcScalarPerVector
  DstScalarPerVector
GridwisePutElement_1D
| -6 InVectorSize
GridwiseReduceSecondHalfBatchNormBackwardFinal
| -3 dtype_acc -8 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize DySrcVectorSize DxDstVectorSize ScaleSrcVectorSize DscaleDbiasDstVectorSize MeanVarSrcVectorSize
GridwiseReduction_mk_to_m_multiblock
| -2 dtype_acc -5 acc_element_op - PropagateNan block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize
  KThreadSliceSize - InSrcVectorSize OutDstVectorSize
GridwiseReduction_mk_to_m_threadwise
| -2 dtype_acc -5 acc_element_op - PropagateNan block_size MThreadSliceSize KThreadSliceSize - InSrcVectorSize
  OutDstVectorSize
GridwiseReduction_mk_to_m_threadwise_multi_d
| - dtypes_d - dtype_acc -7 block_size MThreadSliceSize KThreadSliceSize - InSrcVectorSize OutDstVectorSize
  DsVectorSize
GridwiseSoftmax_mk_to_mk
| -2 dtype_acc - block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  InSrcVectorSize OutDstVectorSize SweepOnce
GridwiseSparseEmbeddingsForwardLayernorm
| -4 dtype_acc -3 block_size DimClusterSize RowClusterSize DimPerBlock RowPerBlock DimThreadSize RowVectorSize
  NumEmbeddings
GridwiseTensorRearrange
| -4 block_size m_per_block k_per_block ThreadClusterLengths ScalarPerVector -3
GridwiseWelfordSecondHalfBatchNormForwardFinal
| -2 dtype_acc -8 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize YDstVectorSize ScaleSrcVectorSize BiasSrcVectorSize MeanVarSrcDstVectorSize
GridwiseWelfordSecondHalfLayernorm2d
| -4 dtype_compute -5 block_size MThreadClusterSize NThreadClusterSize MThreadSliceSize NThreadSliceSize
  ESrcVectorSize HDstVectorSize GammaSrcVectorSize BetaSrcVectorSize
GridwiseWelfordSecondHalfReduceFirstHalf
| -2 dtype_acc -8 block_size MThreadClusterSize KThreadClusterSize MThreadSliceSize KThreadSliceSize -
  XSrcVectorSize DySrcVectorSize MeanVarSrcVectorSize
"""
