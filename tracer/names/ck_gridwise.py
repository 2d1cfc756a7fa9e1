"""Template parameters of CK's GEMM-like gridwise structs: no input, out come names and keys in order.

Read from the `template <...>` heads in include/ck/tensor_operation/gpu/grid of CK of October 2024, of CK as amd-aiter
0.1.7.post2.dev18 ships it, and of rocm-libraries of 2026 (the last variant of three structs). An entry is a struct's
name and, after each bar, one list. A key is the field that an argument states; a CamelCase key is CK's own name of the
parameter; `-` states nothing that is shown, `-3` are three of these; `@` begins an abbreviation of `ck_lists`.
"""

from __future__ import annotations

GEMM_STRUCTS = """
GridwiseBatchedGemmGemm_Xdl_CShuffle
| dtype_ab dtype_acc dtype_cshuffle dtype_c a_element_op b_element_op acc_element_op - cde_element_op mem_op -4
  num_gemm_k_prefetch_stage block_size @MNK gemm1_n_per_block gemm1_k_per_block @K1 B1K1 @XDL Gemm1NXdlPerWave @A
  @B B1BlockTransferThreadClusterLengths_BK0_N_BK1 -3 B1BlockTransferSrcScalarPerVector
  B1BlockTransferDstScalarPerVector_BK1 -2 @C @LP
GridwiseBatchedGemmGemm_wmma_cshuffle_v3
| dtype_a -4 dtype_cshuffle dtype_c a_element_op - acc_element_op - cde_element_op mem_op -4 m_per_block LPerBlock
  k_per_block @K1 n_per_block LTilePerBlock L1 m_per_wmma LPerWmma n_per_wmma m_repeat LRepeat n_repeat block_size
  @A B0BlockTransferThreadClusterLengths_K0_L_K1 -3 B0BlockTransferSrcScalarPerVector
  B0BlockTransferDstScalarPerVector_K1 -2 B1BlockTransferThreadClusterLengths_L0_N_L1 -3
  B1BlockTransferSrcScalarPerVector B1BlockTransferDstScalarPerVector_L1 -2 CShuffleMRepeatPerShuffle
  CShuffleNRepeatPerShuffle c_block_transfer c_block_spv pad_n @P
GridwiseBatchedGemmMultipleDGemmMultipleD_Xdl_CShuffle
| -19 NumGemm0KPrefetchStage block_size Gemm0MPerBlock Gemm0NPerBlock Gemm0KPerBlock gemm1_n_per_block
  gemm1_k_per_block A0K1 B0K1 B1K1 Gemm0MPerXdl Gemm0NPerXdl Gemm0MXdlPerWave Gemm0NXdlPerWave Gemm1NXdlPerWave
  A0BlockTransferThreadClusterLengths_AK0_M_AK1 -3 A0BlockTransferSrcScalarPerVector
  A0BlockTransferDstScalarPerVector_AK1 -2 B0BlockTransferThreadClusterLengths_BK0_N_BK1 -3
  B0BlockTransferSrcScalarPerVector B0BlockTransferDstScalarPerVector_BK1 -3 CDE0BlockTransferSrcScalarPerVector
  B1BlockTransferThreadClusterLengths_BK0_N_BK1 -3 B1BlockTransferSrcScalarPerVector
  B1BlockTransferDstScalarPerVector_BK1 -2 C1ShuffleGemm0MXdlPerWavePerShuffle C1ShuffleGemm0NXdlPerWavePerShuffle
  CDE1ShuffleBlockTransferClusterLengths_MBlock_MPerBlock_NBlock_NPerBlock
  CDE1ShuffleBlockTransferScalarPerVector_NPerBlock loop_scheduler
GridwiseBatchedGemmMultipleDSoftmaxGemm_Xdl_CShuffle
| dtype_ab dtype_acc dtype_cshuffle dtype_c - a_element_op b_element_op -3 mem_op -5 num_gemm_k_prefetch_stage
  block_size @MNK gemm1_n_per_block gemm1_k_per_block @K1 B1K1 @XDL Gemm1NXdlPerWave @A @B
  B1BlockTransferThreadClusterLengths_BK0_N_BK1 -3 B1BlockTransferSrcScalarPerVector
  B1BlockTransferDstScalarPerVector_BK1 -2 @C loop_scheduler pad_n masked D0sTransferSrcScalarPerVector
  pipeline_version_classic
GridwiseBatchedGemmSoftmaxGemm_Wmma
| dtype_a -4 dtype_cshuffle dtype_c a_element_op - acc_element_op - cde_element_op mem_op -4 m_per_block LPerBlock
  k_per_block @K1 n_per_block LTilePerBlock L1 m_per_wmma LPerWmma n_per_wmma m_repeat LRepeat n_repeat block_size
  a_block_transfer -3 a_src_scalar_per_vector a_dst_scalar_per_vector - AEnableLds -
  B0BlockTransferThreadClusterLengths_K0_L_K1 -3 B0BlockTransferSrcScalarPerVector
  B0BlockTransferDstScalarPerVector_K1 - B0EnableLds - B1BlockTransferThreadClusterLengths_L0_N_L1 -3
  B1BlockTransferSrcScalarPerVector B1BlockTransferDstScalarPerVector_L1 - B1EnableLds - CShuffleMRepeatPerShuffle
  CShuffleNRepeatPerShuffle c_block_transfer c_block_spv pad_n masked num_gemm_k_prefetch_stage @LP
GridwiseBatchedGemmSoftmaxGemm_Xdl_CShuffle
| dtype_ab dtype_acc dtype_cshuffle dtype_c a_element_op b_element_op acc_element_op - cde_element_op mem_op -4
  num_gemm_k_prefetch_stage block_size @MNK gemm1_n_per_block gemm1_k_per_block @K1 B1K1 @XDL Gemm1NXdlPerWave @A
  @B B1BlockTransferThreadClusterLengths_BK0_N_BK1 -3 B1BlockTransferSrcScalarPerVector
  B1BlockTransferDstScalarPerVector_BK1 -2 @C loop_scheduler pad_n masked pipeline_version_classic
GridwiseFpAintBGemm_Wmma
| block_size dtype_a dtype_b dtype_sfb dtype_acc dtype_cshuffle dtype_c mem_op -4 @OP @MNK m_per_wmma n_per_wmma
  k1 m_repeat n_repeat a_block_transfer -3 a_src_scalar_per_vector a_dst_scalar_per_vector - AEnableLds -
  b_block_transfer -3 b_src_scalar_per_vector b_dst_scalar_per_vector - BEnableLds - CShuffleMRepeatPerShuffle
  CShuffleNRepeatPerShuffle c_block_transfer c_block_spv num_gemm_k_prefetch_stage @LP
GridwiseGemmBiasAddReduce_k0mk1_k0nk1_mn_xdl_cshuffle_v1
| dtype_ab dtype_acc dtype_cshuffle dtype_c -4 @OP -4 mem_op -7 num_gemm_k_prefetch_stage block_size @MNK @K1 @XDL
  @A @B @C CReduceThreadClusterLengths_MPerBlock_NPerBlock
  CReduceThreadLds2VGprCopySrcDstScalarPerVector_NPerBlock
  CReduceThreadVgpr2GlobalCopySrcDstScalarPerVector_MPerBlock @LP
GridwiseGemmDlMultipleD_km_kn_mn
| block_size dtype_ab dtype_acc dtypes_d dtype_c @OP mem_op -3 m_per_block n_per_block k0_per_block k1
  M1PerThreadM111 N1PerThreadN111 KPerThread M11N11ThreadClusterM110Xs M11N11ThreadClusterN110Xs
  ABlockTransferThreadSliceLengths_K0_M0_M1_K1 a_block_transfer -2
  ABlockTransferSrcVectorTensorLengths_K0_M0_M1_K1 - ABlockTransferDstVectorTensorLengths_K0_M0_M1_K1
  BBlockTransferThreadSliceLengths_K0_N0_N1_K1 b_block_transfer -2
  BBlockTransferSrcVectorTensorLengths_K0_N0_N1_K1 - BBlockTransferDstVectorTensorLengths_K0_N0_N1_K1 -2
  c_scalar_per_vector
GridwiseGemmDl_bkm_bkn_mn_v1r3
| block_size dtype_ab dtype_acc dtype_c mem_op -3 m_per_block n_per_block k0_per_block k1 M1PerThreadM111
  N1PerThreadN111 KPerThread M11N11ThreadClusterM110Xs M11N11ThreadClusterN110Xs
  ABlockTransferThreadSliceLengths_K0_M0_M1_K1 a_block_transfer -2
  ABlockTransferSrcVectorTensorLengths_K0_M0_M1_K1 - ABlockTransferDstVectorTensorLengths_K0_M0_M1_K1
  BBlockTransferThreadSliceLengths_K0_N0_N1_K1 b_block_transfer -2
  BBlockTransferSrcVectorTensorLengths_K0_N0_N1_K1 - BBlockTransferDstVectorTensorLengths_K0_N0_N1_K1 -2
  c_scalar_per_vector
GridwiseGemmDl_km_kn_mn_v1r3
| block_size dtype_ab dtype_acc dtype_c mem_op -3 m_per_block n_per_block k0_per_block k1 M1PerThreadM111
  N1PerThreadN111 KPerThread M11N11ThreadClusterM110Xs M11N11ThreadClusterN110Xs
  ABlockTransferThreadSliceLengths_K0_M0_M1_K1 a_block_transfer -2
  ABlockTransferSrcVectorTensorLengths_K0_M0_M1_K1 - ABlockTransferDstVectorTensorLengths_K0_M0_M1_K1
  BBlockTransferThreadSliceLengths_K0_N0_N1_K1 b_block_transfer -2
  BBlockTransferSrcVectorTensorLengths_K0_N0_N1_K1 - BBlockTransferDstVectorTensorLengths_K0_N0_N1_K1 -2
  c_scalar_per_vector
GridwiseGemmLayernorm_k0mk1_k0nk1_mn_xdl_cshuffle_v1
| dtype_ab dtype_acc dtype_cshuffle dtype_c -2 a_element_op b_element_op acc_element_op cde_element_op mem_op -4
  num_gemm_k_prefetch_stage block_size @MNK @K1 @XDL @A @B @C CReduceThreadClusterLengths_MPerBlock_NPerBlock
  CReduceThreadCopySrcDstScalarPerVector_NPerBlock @LP
GridwiseGemmMX_xdl_cshuffle_v3
| @L dtype_a dtype_sfa dtype_b dtype_sfb dtype_acc dtype_cshuffle dtype_c @OP gemm_spec scale_block_size
  block_size @MNK @K1 @XDL @A @B @C @P @CT permute_a permute_b
GridwiseGemmMX_xdl_cshuffle_v3_bpreshuffle
| @L dtype_a dtype_sfa dtype_b dtype_sfb dtype_acc dtype_cshuffle dtype_c @OP gemm_spec scale_block_size
  block_size @MNK @K1 @XDL @A @B @C @P @CT permute_a permute_b
GridwiseGemmMultiD_ABScale_xdl_cshuffle_v3
| @LD dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec block_size scale_block_m
  scale_block_n scale_block_k @MNK @K1 @XDL @A @B @C @P @CT @LDS
GridwiseGemmMultiD_blockscale_xdl_cshuffle_v3_b_preshuffle
| @LD dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec block_size scale_block_m
  scale_block_n scale_block_k @MNK @K1 @XDL @A @B @C @P @CT @LDS
GridwiseGemmMultiD_xdl_cshuffle_v3
| @LD dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P
  @CT @LDS
| @LD dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P
  @CT @LDS elementwise_before_cshuffle direct_load
| @LD dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P
  @CT @LDS elementwise_before_cshuffle direct_load large_tensors
GridwiseGemmMultiD_xdl_cshuffle_v3_b_preshuffle
| @LD dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P
  @CT @LDS
GridwiseGemmMultipleABD_xdl_cshuffle
| dtypes_a dtypes_b dtype_compute_a dtype_acc dtype_cshuffle dtypes_d dtype_c @OP mem_op num_gemm_k_prefetch_stage
  block_size @MNK @K1 @XDL @A @B @C @LP dtype_compute_b
GridwiseGemmMultipleDMultipleR_k0mk1_k0nk1_mn_xdl_cshuffle_v1
| dtype_ab dtype_acc dtype_cshuffle dtypes_d dtype_c -2 @OP -3 mem_op -5 num_gemm_k_prefetch_stage block_size @MNK
  @K1 @XDL @A @B cshuffle_m cshuffle_n CDRThreadTransferClusterLengths_MPerBlock_NPerBlock
  CDEReduceThreadTransferScalarPerVector_NPerBlock RThreadTransferDstScalarPerVector_MPerBlock @LP
GridwiseGemmMultipleDWelfordFirstHalf_xdl_cshuffle
| dtype_ab dtype_acc dtype_cshuffle dtypes_d - @OP mem_op -6 num_gemm_k_prefetch_stage block_size @MNK @K1 @XDL @A
  @B cshuffle_m cshuffle_n PostShuffleThreadClusterSize_M_N PostShuffleScalarPerVector @LP
GridwiseGemmMultipleD_Wmma
| dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c -4 @OP mem_op @MNK m_per_wmma n_per_wmma k1 m_repeat
  n_repeat block_size a_block_transfer -3 a_src_scalar_per_vector a_dst_scalar_per_vector - AEnableLds -
  b_block_transfer -3 b_src_scalar_per_vector b_dst_scalar_per_vector - BEnableLds - CShuffleMRepeatPerShuffle
  CShuffleNRepeatPerShuffle c_block_transfer c_block_spv num_gemm_k_prefetch_stage @LP
GridwiseGemmMultipleD_Xdl_CShuffle_LdsDirectLoad
| layout_a layout_b layouts_d layout_e dtype_a dtype_b dtype_compute_a dtype_acc dtype_cshuffle dtypes_d dtype_c
  @OP mem_op gemm_spec num_gemm_k_prefetch_stage block_size @MNK @K1 @XDL a_block_transfer -2
  ABlockTransferScalarPerVector - b_block_transfer -2 BBlockTransferScalarPerVector - @C @LP dtype_compute_b
GridwiseGemmMultipleD_xdl_cshuffle
| dtype_a dtype_b dtype_compute_a dtype_acc dtype_cshuffle dtypes_d dtype_c @OP mem_op num_gemm_k_prefetch_stage
  block_size @MNK @K1 @XDL @A @B @C @LP dtype_compute_b
| dtype_a dtype_b dtype_compute_a dtype_acc dtype_cshuffle dtypes_d dtype_c @OP num_gemm_k_prefetch_stage
  block_size @MNK @K1 @XDL @A @B @C @LP dtype_compute_b elementwise_before_cshuffle
GridwiseGemmMultipleD_xdl_splitk_cshuffle
| dtype_a dtype_b @CT dtype_acc dtype_cshuffle dtypes_d dtype_c @OP num_gemm_k_prefetch_stage block_size @MNK @K1
  @XDL @A @B @C @LP @LDS
| dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c dtype_compute @OP num_gemm_k_prefetch_stage block_size
  @MNK @K1 @XDL @A @B @C @LP
GridwiseGemmReduce_k0mk1_k0nk1_mn_xdl_cshuffle_v1
| dtype_ab dtype_acc dtype_cshuffle dtype_c -2 @OP -3 mem_op -5 num_gemm_k_prefetch_stage block_size @MNK @K1 @XDL
  @A @B @C CReduceThreadClusterLengths_MPerBlock_NPerBlock
  CReduceThreadLds2VGprCopySrcDstScalarPerVector_NPerBlock
  CReduceThreadVgpr2GlobalCopySrcDstScalarPerVector_MPerBlock @LP
GridwiseGemmSplitKMultipleD_xdl_cshuffle
| dtype_ab dtype_acc dtype_cshuffle dtypes_d dtype_c @OP mem_op -4 num_gemm_k_prefetch_stage block_size @MNK @K1
  @XDL @A @B @C loop_scheduler
GridwiseGemm_Wmma
| block_size dtype_a dtype_b dtype_acc dtype_cshuffle dtype_c mem_op -3 @OP @MNK m_per_wmma n_per_wmma k1 m_repeat
  n_repeat a_block_transfer -3 a_src_scalar_per_vector a_dst_scalar_per_vector - AEnableLds - b_block_transfer -3
  b_src_scalar_per_vector b_dst_scalar_per_vector - BEnableLds - CShuffleMRepeatPerShuffle
  CShuffleNRepeatPerShuffle c_block_transfer c_block_spv num_gemm_k_prefetch_stage @LP
GridwiseGemm_ak0mak1_bk0nbk1_mn_dpp
| block_size dtype_ab dtype_acc dtype_c mem_op @L @OP gemm_spec @MNK MPerDpp NPerDpp @K1 MDppPerWave NDppPerWave
  @A @B -2 c_scalar_per_vector num_gemm_k_prefetch_stage pipeline_version_classic
GridwiseGemm_bk0mk1_bk0nk1_mn_xdlops_bwd_weight
| block_size dtype_a dtype_b dtype_acc dtype_c mem_op -3 @OP m_per_block n_per_block k0_per_block m_per_xdl
  n_per_xdl k1 m_xdl_per_wave n_xdl_per_wave @A ABlockLdsM1PerBlock ABlockLdsM0PerBlock ABlockLdsM1Padding @B
  BBlockLdsN1PerBlock BBlockLdsN0PerBlock BBlockLdsN1Padding CShuffleMRepeatPerShuffle CShuffleNRepeatPerShuffle
  c_block_spv c_block_transfer -2 num_gemm_k_prefetch_stage pipeline_version_classic @CT
GridwiseGemm_bk0mk1_bk0nk1_mn_xdlops_streamk
| block_size - dtype_ab dtype_acc dtype_c @L @OP m_per_block n_per_block k0_per_block m_per_xdl n_per_xdl k1
  m_xdl_per_wave n_xdl_per_wave @A @B CShuffleMRepeatPerShuffle CShuffleNRepeatPerShuffle c_block_spv
  c_block_transfer
GridwiseGemm_bk0mk1_bk0nk1_mn_xdlops_v2r4
| block_size dtype_ab dtype_acc dtype_c mem_op -3 @OP m_per_block n_per_block k0_per_block m_per_xdl n_per_xdl k1
  m_xdl_per_wave n_xdl_per_wave @A @B -2 c_scalar_per_vector
GridwiseGemm_bk0mk1_bk0nk1_mn_xdlops_v2r4r2
| block_size dtype_a dtype_b dtype_acc dtype_c @L @OP gemm_spec num_gemm_k_prefetch_stage m_per_block n_per_block
  k0_per_block m_per_xdl n_per_xdl k1 m_xdl_per_wave n_xdl_per_wave @A @B CShuffleMRepeatPerShuffle
  CShuffleNRepeatPerShuffle c_block_spv c_block_transfer @LP @CT @LDS
GridwiseGemm_k0mk1_k0nk1_mn_xdl_cshuffle_v1
| @L dtype_a dtype_b dtype_acc dtype_cshuffle dtype_c @OP gemm_spec mem_op num_gemm_k_prefetch_stage block_size
  @MNK @K1 @XDL @A @B @C @LP @CT
GridwiseGemm_k0mk1_k0nk1_mn_xdl_waveletmodel_cshuffle
| dtype_ab dtype_acc - dtype_c @OP mem_op -3 num_gemm_k_prefetch_stage TileLoadThreadGroupSize
  TileMathThreadGroupSize @MNK @K1 @XDL @A @B @C
GridwiseGemm_k0mk1_k0nk1_mn_xdlops_skip_b_lds_v1
| block_size dtype_ab dtype_acc dtype_c mem_op -3 @OP m_per_block n_per_block k0_per_block m_per_xdl n_per_xdl k1
  m_xdl_per_wave n_xdl_per_wave @A b_src_scalar_per_vector - BBlockBufferSize -2 c_scalar_per_vector
GridwiseGemm_k0mk1_k0nk1_mn_xdlops_v2r3
| block_size dtype_ab dtype_acc dtype_c mem_op @OP m_per_block n_per_block k0_per_block m_per_xdl n_per_xdl k1
  m_xdl_per_wave n_xdl_per_wave @A @B -2 c_scalar_per_vector num_gemm_k_prefetch_stage @LP
GridwiseGemm_k0mk1_k0nk1_mn_xdlops_v2r3_ext
| block_size dtype_ab dtype_acc dtype_c mem_op @L @OP gemm_spec m_per_block n_per_block k0_per_block m_per_xdl
  n_per_xdl k1 m_xdl_per_wave n_xdl_per_wave @A @B -2 c_scalar_per_vector num_gemm_k_prefetch_stage @LP
GridwiseGemm_k0mk1_k0nk1_mn_xdlops_v3r1
| block_size dtype_ab dtype_acc dtype_cshuffle dtype_c mem_op -3 @OP @MNK @K1 @XDL @A @B @C
  num_gemm_k_prefetch_stage pipeline_version_classic
GridwiseGemm_k0mk1_k0nk1_mn_xdlops_v3r2
| block_size dtype_ab dtype_acc dtype_c mem_op -4 @OP m_per_block n_per_block k0_per_block m_per_xdl n_per_xdl k1
  m_xdl_per_wave n_xdl_per_wave @A @B @C num_gemm_k_prefetch_stage pipeline_version_classic
GridwiseGemm_k0mk1_k0nk1_mn_xdlops_v3r3
| block_size dtype_ab dtype_acc dtype_c mem_op -5 @OP m_per_block n_per_block k0_per_block m_per_xdl n_per_xdl k1
  m_xdl_per_wave n_xdl_per_wave @A @B @C num_gemm_k_prefetch_stage pipeline_version_classic
GridwiseGemm_wmma_cshuffle_v3
| layout_a layout_b layouts_d layout_e dtypes_a dtypes_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec
  block_size @MNK @K1 m_per_wmma n_per_wmma m_repeat n_repeat @A @B CShuffleMRepeatPerShuffle
  CShuffleNRepeatPerShuffle c_block_transfer c_block_spv @P @CT permute_a permute_b ForceThreadTileTransfer
GridwiseGemm_wmma_cshuffle_v3_b_scale
| layout_a layout_b layouts_d layout_e dtypes_a dtypes_b dtype_sfb dtype_acc dtype_cshuffle dtypes_d dtype_c @OP
  gemm_spec block_size scale_block_n scale_block_k @MNK @K1 m_per_wmma n_per_wmma m_repeat n_repeat @A @B
  CShuffleMRepeatPerShuffle CShuffleNRepeatPerShuffle c_block_transfer c_block_spv @P @CT permute_a permute_b
GridwiseGemm_wmma_cshuffle_v3_base
| layout_a layout_b layouts_d layout_e dtypes_a dtypes_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec
  block_size @MNK @K1 m_per_wmma n_per_wmma m_repeat n_repeat @A @B CShuffleMRepeatPerShuffle
  CShuffleNRepeatPerShuffle c_block_transfer c_block_spv @P @CT permute_a permute_b ForceThreadTileTransfer
GridwiseGemm_xdl_cshuffle_conv_v3
| @L dtype_a dtype_b dtype_acc dtype_cshuffle dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P @CT
| @L dtype_a dtype_b dtype_acc dtype_cshuffle dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P @CT
  ALdsScalarLoadToVgpr BLdsScalarLoadToVgpr large_tensors
GridwiseGemm_xdl_cshuffle_streamk_v3
| @L dtype_a dtype_b dtype_acc dtype_cshuffle dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P @CT
GridwiseGemm_xdl_cshuffle_v2
| @L dtype_a dtype_b dtype_acc dtype_cshuffle dtype_c @OP gemm_spec mem_op num_gemm_k_prefetch_stage block_size
  @MNK @K1 @XDL @A @B @C @LP @CT
GridwiseGemm_xdl_cshuffle_v3
| @L dtype_a dtype_b dtype_acc dtype_cshuffle dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P @CT
| @L dtypes_a dtypes_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C
  @P @CT
| @L dtype_a dtype_b dtype_acc dtype_cshuffle dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P @CT
  permute_a permute_b elementwise_before_cshuffle
| @L dtype_a dtype_b dtype_acc dtype_cshuffle dtype_c @OP gemm_spec block_size scale_block_n scale_block_k @MNK
  @K1 @XDL @A @B @C @P @CT permute_a permute_b
GridwiseGemm_xdl_cshuffle_v3_b_preshuffle
| @L dtype_a dtype_b dtype_acc dtype_cshuffle dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P @CT
  permute_a permute_b
GridwiseGemm_xdlops_splitk_lds_direct_load
| block_size dtype_a dtype_b dtype_acc dtype_c @L @OP gemm_spec num_gemm_k_prefetch_stage m_per_block n_per_block
  k0_per_block m_per_xdl n_per_xdl k1 m_xdl_per_wave n_xdl_per_wave a_block_transfer - a_src_scalar_per_vector -
  b_block_transfer - b_src_scalar_per_vector - CShuffleMRepeatPerShuffle CShuffleNRepeatPerShuffle c_block_spv
  c_block_transfer @LP dtype_compute
| block_size dtype_a dtype_b dtype_acc dtype_c @L @OP gemm_spec num_gemm_k_prefetch_stage m_per_block n_per_block
  k0_per_block m_per_xdl n_per_xdl k1 m_xdl_per_wave n_xdl_per_wave a_block_transfer -2 a_src_scalar_per_vector -
  b_block_transfer -2 b_src_scalar_per_vector - CShuffleMRepeatPerShuffle CShuffleNRepeatPerShuffle c_block_spv
  c_block_transfer @LP dtype_compute
GridwiseMoeGemm
| @LD dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec block_size @MNK @K1 @XDL @A @B @C @P
  activation n_swizzle stage mul_routed_weight per_token_quant - @CT @LDS
GridwiseMoeGemmBlockScale
| @LD dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec block_size scale_block_m
  scale_block_n scale_block_k @MNK @K1 @XDL @A @B @C @P activation n_swizzle stage mul_routed_weight - @CT @LDS
| @LD dtype_a dtype_b dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec block_size scale_block_m
  scale_block_n scale_block_k @MNK @K1 @XDL @A @B @C @P activation n_swizzle stage split_k_enabled
  mul_routed_weight - @CT @LDS b_nontemporal
GridwiseMoeGemmMX
| @LD dtype_a dtype_sfa dtype_b dtype_sfb dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec scale_block_size
  block_size @MNK @K1 @XDL @A @B @C @P activation n_swizzle stage mul_routed_weight - @CT
GridwiseMoeGemmMXBNS
| @LD dtype_a dtype_sfa dtype_b dtype_sfb dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec scale_block_size
  block_size @MNK @K1 @XDL @A @B @C @P activation n_swizzle stage mul_routed_weight - @CT
GridwiseMoeGemmMX_BPreshuffle
| @LD dtype_a dtype_sfa dtype_b dtype_sfb dtype_acc dtype_cshuffle dtypes_d dtype_c @OP gemm_spec scale_block_size
  block_size @MNK @K1 @XDL @A @B @C @P activation n_swizzle stage mul_routed_weight - @CT
"""
