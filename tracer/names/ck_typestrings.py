"""What every device op of CK prints after its own name in `GetTypeString()`: a table of shapes, {key} for a value.

Read off include/ck/tensor_operation/gpu/device of ROCm/composable_kernel, 2024 and 2025. Brackets hold what newer
releases print in addition; a key that stands twice is one value that the op prints twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

_GROUPS: Mapping[str, str] = {
    "LP": "LoopScheduler: {loop_scheduler}, PipelineVersion: {pipeline_version_classic}",
    "P": "BlkGemmPipelineScheduler: {pipeline_sched}, BlkGemmPipelineVersion: {pipeline_version}",
    "PS": "{P}, BlkGemmPipelinePrefetchStages: {prefetch_stages}",
    "B": "{block_size}",
    "K1": "{k1}",
    "AB": "{ak1}, {bk1}",
    "GS": "{gemm_specialization}",
    "CONV": "{conv_specialization}",
    "MNK": "{m_per_block}, {n_per_block}, {k_per_block}",
    "BMNK": "{B}, {MNK}",
    "BMNK0": "{B}, {m_per_block}, {n_per_block}, {k0_per_block}",
    "XPW": "{m_xdl_per_wave}, {n_xdl_per_wave}",
    "XDL": "{m_per_xdl}, {n_per_xdl}, {XPW}",
    "WMMA": "{m_per_wmma}, {n_per_wmma}, {m_repeat}, {n_repeat}",
    "V": "{a_src_scalar_per_vector}, {b_src_scalar_per_vector}",
    "VD": "{a_src_scalar_per_vector}, {ABlockTransferDstScalarPerVector_K1}, "
    "{b_src_scalar_per_vector}, {BBlockTransferDstScalarPerVector_K1}",
    "CS": "{cshuffle_m}, {cshuffle_n}",
    "CSPV": "{CBlockTransferScalarPerVector_NWaveNPerXdl}",
    "DIMS": "{ABlockTransferSrcVectorDim}, {BBlockTransferSrcVectorDim}",
    "NUMS": "{NumDimM}, {NumDimN}, {NumDimK}",
    "THREAD": "{M1PerThread}, {N1PerThread}, {KPerThread}",
    "GEMM1": "{m_per_block}, {gemm1_n_per_block}, {gemm1_k_per_block}, {B1K1}",
    "MLK": "{B}, {m_per_block}, {LPerBlock}, {k_per_block}, {AB}, "
    "{m_per_block}, {n_per_block}, {LTilePerBlock}, {L1}, {GS}",
    "SPECS": "ASpec{tensor_specialization_aspec}, B0Spec{tensor_specialization_bspec}, "
    "B1Spec{tensor_specialization_b1spec}, CSpec{tensor_specialization_cspec}, {masking_specialization}",
    "SPECS0": "ASpec{tensor_specialization_aspec}, B0Spec{tensor_specialization_b0spec}, "
    "B1Spec{tensor_specialization_b1spec}, CSpec{tensor_specialization_cspec}, {masking_specialization}",
    "LDS2": "AEnableLds: {AEnableLds}, BEnableLds: {BEnableLds}, NumPrefetch: {NumPrefetch}, {LP}",
    "LDS3": "{AEnableLds}, B0EnableLds: {B0EnableLds}, B1EnableLds: {B1EnableLds}, NumPrefetch: {NumPrefetch}, {LP}",
    "TILE": "> BlkSize: {B}, BlkTile: {m_per_block}x{n_per_block}x{k_per_block}, ",
    "WAVES": "WaveTile: {m_per_xdl}x{n_per_xdl}, WaveMap: {m_xdl_per_wave}x{n_xdl_per_wave}, {READ}",
    "WMMAS": "WaveTile: {m_per_wmma}x{n_per_wmma}, WaveMap: {m_repeat}x{n_repeat}, {READ}",
    "READ": "VmemReadVec: {a_src_scalar_per_vector}x{b_src_scalar_per_vector}, ",
    "HEAD": "<{GS}, {layout_a}{layout_b}{layout_c}{TILE}",
    "UNIVERSAL": "{HEAD}{WAVES}{PS}",
    "LABE": "{layout_a},{layout_b},{layout_e}",
    "MK": "M_C{MThreadClusterSize}_S{MThreadSliceSize},K_C{KThreadClusterSize}_S{KThreadSliceSize},",
    "CLUSTER": "Cluster_MK_{MThreadClusterSize}_{KThreadClusterSize},Slice_MK_{MThreadSliceSize}_{KThreadSliceSize}",
    "IN": "InSrcVectorDim_{InSrcVectorDim}_InSrcVectorSize_{InSrcVectorSize}",
}

#: a shape (a backslash continues it), then the ops that print it
_SHAPES = """
<{BMNK0}, {K1}, {XDL}, {VD}, {CS}, {CSPV}>
    DeviceConv2dBwdWeightXdl_C_Shuffle_Input_N_Hi_Wi_C_Weight_K_Y_X_C_Output_N_Ho_Wo_K
    DeviceConv2dFwdXdl_C_Shuffle_Bias_Activation_Add_Input_N_Hi_Wi_C_Weight_K_Y_X_C_Output_N_Ho_Wo_K
    DeviceConv2dFwdXdl_C_Shuffle_Bias_Activation_Input_N_Hi_Wi_C_Weight_K_Y_X_C_Output_N_Ho_Wo_K
    DeviceConv3dFwdXdl_Input_N_Di_Hi_Wi_C_Weight_K_Z_Y_X_C_Output_N_Do_Ho_Wo_K
<{BMNK}, {K1}, {WMMA}> {LDS2}
    DeviceBatchedContractionMultipleD_Wmma_CShuffle DeviceFpAintBGemm_Wmma_CShuffle
    DeviceGemmMultipleD_Wmma_CShuffle DeviceGemmWmma_CShuffle
<{B},{MK}InSrcOutDstVectorSize_{InSrcOutDstVectorSize}>
    DeviceAvgPool2dBwd DeviceAvgPool3dBwd DevicePool2dFwd_NHWC_NHWC DevicePool3dFwd_NDHWC_NDHWC
{HEAD}{WMMAS}{PS}, KPack: {KPack}
    DeviceBatchedGemm_Wmma_CShuffleV3_BScale DeviceBatchedGemm_Wmma_CShuffleV3 DeviceGemm_Wmma_CShuffleV3_BScale
    DeviceGemm_Wmma_CShuffleV3
{UNIVERSAL}
    DeviceBatchedGemmXdlUniversal DeviceGemmXdlUniversalReduce DeviceMoeGEmmMx DeviceMoeGEmm
<{BMNK0}, {CONV}, {K1}, {XPW}, {VD}, {CS}, {CSPV}>
    DeviceConv2dFwdXdl_C_Shuffle_Input_N_Hi_Wi_C_Weight_K_Y_X_C_Output_N_Ho_Wo_K
    DeviceGroupedConvBwdWeightMultipleD_Xdl_CShuffle DeviceGroupedConvBwdWeight_Xdl_CShuffleV3
<{BMNK0}, {K1}, {THREAD}>
    DeviceBatchedGemmMultipleD_Dl DeviceGemmDl DeviceGemmMultipleD_Dl
<{BMNK}, {AB}, {XDL}, {V}, {CS}>
    DeviceGemmBiasAddReduce_Xdl_CShuffle DeviceGemmLayerNorm_Xdl_CShuffle DeviceGemmReduce_Xdl_CShuffle
<{BMNK0}, {CONV}, {K1}>
    DeviceGroupedConvBwdWeight_Dl DeviceGroupedConvFwdDlMultipleD_NHWC_KYXC_NHWK
<{BMNK}, {AB}, {GEMM1}, {GS}>
    DeviceBatchedGemmGemm_Xdl_CShuffle DeviceBatchedGemmSoftmaxGemm_Xdl_CShuffle
<{BMNK}, {AB}, {XDL}, {V}, {CS}, {GS}>
    DeviceGroupedGemm_Xdl DeviceGroupedGemm_Xdl_Fixed_NK
<{BMNK}, {AB}, {XDL}, {V}, {CS}, {GS}> {LP}
    DeviceContractionMultipleABD_Xdl_CShuffle DeviceGemmMultipleD_Xdl_CShuffle
<{BMNK}, {AB}>
    DeviceBatchedGemmReduce_Xdl_CShuffle DeviceCGemm_4Gemm_Xdl_CShuffle
<{BMNK}, {CONV}, {XDL}, {V}, {cde_scalar_per_vector}, {CS}, {P}>
    DeviceGroupedConvFwdMultipleABD_Xdl_CShuffle_V3 DeviceGroupedConvFwdMultipleABD_Xdl_CShuffle_V3_DirectLoad
<{B}, {m_per_block}, {k_per_block}, {ScalarPerVector}>
    DeviceColumnToImage DeviceImageToColumn
<{B},M_C{B}_S{MThreadSliceSize},K_C1_S{KThreadSliceSize},{IN}_OutDstVectorSize_{OutDstVectorSize}>
    DeviceReduceThreadWise DeviceReduceThreadWiseMultiD
<{B},{MK}{IN},OutDstVectorSize_{OutDstVectorSizeSeq}>
    DeviceMultipleReduceBlockWise DeviceMultipleReduceMultiBlock
<{B},{MK}{IN}_OutDstVectorSize_{OutDstVectorSize}>
    DeviceReduceBlockWise DeviceReduceMultiBlock
<{GS}, {BMNK}, {AB}, {XDL}, {V}, {CS}> {LP}
    DeviceGemm_Xdl_CShuffle DeviceGemm_Xdl_CShuffleV2
<{GS}, {tensor_layout}{TILE}{WMMAS}{PS}, KPack: {KPack}
    DeviceGemmMultipleABD_Wmma_CShuffleV3
<{GS}, {layout_a}{layout_b}{layouts_d}{layout_e}{TILE}{WMMAS}{PS}, KPack: {KPack}
    DeviceGemmMultipleD_Wmma_CShuffleV3
<{MLK}, {SPECS0}> AEnableLds: {LDS3}
    DeviceBatchedGemmSoftmaxGemmPermute_Wmma_CShuffle DeviceMultiQueryAttentionForward_Wmma
<{NUMS}, {BMNK}, {AB}, {DIMS}>
    DeviceContractionMultipleD_Xdl_CShuffle DeviceGroupedContractionMultipleD_Xdl_CShuffle
<{NumDimG}, {NUMS}, {BMNK}, {AB}, {DIMS}>
    DeviceBatchedContractionMultipleD_Xdl_CShuffle DeviceSplitKContractionMultipleD_Xdl_CShuffle
, QueryGroupNumber: {QueryGroupNumber}, <{MLK}, {SPECS0}> AEnableLds: {LDS3}
    DeviceGroupedQueryAttentionForward_Wmma
<>
    DeviceConv3dFwdNaive_Input_N_Di_Hi_Wi_C_Weight_K_Z_Y_X_C_Output_N_Do_Ho_Wo_K
<{BMNK0}, {CONV}, {K1}, {VD}, {CShuffleMRepeatPerShuffle}, {CShuffleNRepeatPerShuffle}, {c_scalar_per_vector}>
    DeviceGroupedConvBwdWeight_Wmma_CShuffle
<{BMNK0}, {CONV}, {K1}, {XDL}, {VD}, {CS}, {CSPV}>
    DeviceGroupedConvFwdDl_NHWC_KYXC_NHWK
<{BMNK0}, {CONV}, {K1}, {XDL}, {VD}>
    DeviceConv2dFwdXdl_Input_N_Hi_Wi_C_Weight_K_Y_X_C_Output_N_Ho_Wo_K
<{BMNK0}, {CONV}, {K1}, {XPW}, {VD}, {CS}, {CSPV}[[, \
TransposeTransferSrcScalarPerVectorAligned: {TransposeTransferSrcScalarPerVectorAligned}, \
TransposeTransferDstScalarPerVectorAligned: {TransposeTransferDstScalarPerVectorAligned}]]>
    DeviceGroupedConvBwdWeight_Xdl_CShuffle
<{BMNK0}, {K1}, {THREAD}{GS}>
    DeviceGroupedGemmMultipleD_Dl
<{BMNK0}, {K1}, {XDL}, > NumGemmKPrefetchStage: {num_gemm_k_prefetch_stage}, {LP}
    DeviceBatchedGemmXdl
<{BMNK0}, {K1}, {XDL}, {ABlockTransferScalarPerVector}, {BBlockTransferScalarPerVector}, \
{CShuffleMRepeatPerShuffle}, {CShuffleNRepeatPerShuffle}, {GS}> {LP}, Prefetch: {num_gemm_k_prefetch_stage}
    DeviceGemmXdlSplitKCShuffle_LdsDirectLoad
<{BMNK0}, {K1}, {XDL}, {VD}> NumPrefetch: {NumPrefetch}, {LP}
    DeviceGemmXdl
<{BMNK0}, {K1}, {XDL}>
    DeviceGemmXdlSkipBLds
<{BMNK0}, {K1}, {XPW}, {VD}>
    DeviceConv2dBwdDataXdl_Input_N_Hi_Wi_C_Weight_K_Y_X_C_Output_N_Ho_Wo_K
<{BMNK0}, {K1}, {XPW}, {VD}>[[ Filter1x1Stride1Pad0]]
    DeviceConvNdBwdDataNwcKxcNwk_Xdl
<{BMNK0}, {K1}>[[ Filter1x1Stride1Pad0]]
    DeviceConvNdBwdDataNwcKxcNwk_Dl
<{BMNK}, {AB}, {CONV}, {XDL}, {V}, {CS}[[, \
TransposeTransferInScalarPerVectorAligned: {TransposeTransferInScalarPerVectorAligned}, \
TransposeTransferOutScalarPerVectorAligned: {TransposeTransferOutScalarPerVectorAligned}]]>
    DeviceGroupedConvBwdDataMultipleD_Xdl_CShuffle_v1
<{BMNK}, {AB}, {GEMM1}, {GS}, {SPECS}, {XDL}, {V}, {CS}>
    DeviceGroupedGemmSoftmaxGemmPermute_Xdl_CShuffle
<{BMNK}, {AB}, {GEMM1}, {GS}, {SPECS}>
    DeviceBatchedGemmSoftmaxGemmPermute_Xdl_CShuffle
<{BMNK}, {AB}, {GS}, {PostShuffleThreadClusterSize_M_N_0}, {PostShuffleThreadClusterSize_M_N_1}, \
{LayernormThreadClusterSize_M_N_0}, {LayernormThreadClusterSize_M_N_1}, {LayernormThreadSliceSize_M}> {LP}
    DeviceGemmMultipleDLayernorm_Xdl_CShuffle
<{BMNK}, {AB}, {GS}, {XDL}, {V}, {CS}>
    DeviceGemmMultipleDMultipleR_Xdl_CShuffle
<{BMNK}, {AB}, {GS}>
    DeviceBatchedGemmMultiD_Xdl
<{BMNK}, {AB}, {MPerDpp}, {NPerDpp}, {MDppPerWave}, {MDppPerWave}, {VD}> NumPrefetch: {NumPrefetch}, \
PipelineVersion: {pipeline_version_classic}
    DeviceGemmDpp
<{BMNK}, {AB}, {XDL}, {ABlockTransferScalarPerVector}, {BBlockTransferScalarPerVector}, {CS}, {GS}> {LP}
    DeviceGemmMultipleD_Xdl_CShuffle_LdsDirectLoad
<{BMNK}, {AB}, {XDL}, {ABlockTransferScalarPerVector}, {BBlockTransferScalarPerVector}, {CS}, {GS}> {LP}, \
Prefetch: {num_gemm_k_prefetch_stage}
    DeviceGemm_Xdl_CShuffle_LdsDirectLoad
<{BMNK}, {CONV}, {K1}, {V}>
    DeviceGroupedConvBwdDataMultipleD_Wmma_CShuffle
<{BMNK}, {CONV}, {K1}, {WMMA}> AEnableLds: {AEnableLds}, BEnableLds: {BEnableLds}, \
ABlockTransferSrcScalarPerVector: {a_src_scalar_per_vector}, \
BBlockTransferSrcScalarPerVector: {b_src_scalar_per_vector}
    DeviceGroupedConvFwdMultipleD_Wmma_CShuffle
<{BMNK}, {CONV}, {K1}, {XPW}, {VD}, {CS}, {CSPV}, {P}, {num_groups_to_merge}[[, \
TransposeTransferSrcScalarPerVector: {TransposeTransferSrcScalarPerVector}, \
TransposeTransferDstScalarPerVector: {TransposeTransferDstScalarPerVector}]]>
    DeviceGroupedConvBwdWeightTwoStage_Xdl_CShuffle
<{BMNK}, {CONV}, {XDL}, {V}, {CS}>
    DeviceGroupedConvFwdMultipleABD_Xdl_CShuffle
<{BMNK}, {CONV}, {XDL}, {V}, {cde_scalar_per_vector}, {CS}, {num_groups_to_merge}>
    DeviceGroupedConvFwdMultipleABD_Xdl_CShuffle
<{BMNK}, {CONV}, {XDL}, {V}, {cde_scalar_per_vector}, {CS}>
    DeviceGroupedConvFwdMultipleD_Xdl_CShuffle_Large_Tensor
<{BMNK}>
    DeviceBatchedGemmEPermuteXdl
<{B}, {Gemm0MPerBlock}, {Gemm0NPerBlock}, {Gemm0KPerBlock}, {A0K1}, {B0K1}, {B1K1}, {Gemm0MPerXdl}, \
{Gemm0NPerXdl}, {Gemm0MXdlPerWave}, {Gemm0NXdlPerWave}, {Gemm1NXdlPerWave}>
    DeviceBatchedGemmMultipleDGemmMultipleD_Xdl_CShuffle
<{B},M_C{B}_S{MThreadSliceSize},K_C1_S{KThreadSliceSize},{IN},OutDstVectorSize_{OutDstVectorSizeSeq}>
    DeviceMultipleReduceThreadwise
<{B},{CLUSTER},DYSrcVectorSize{DYSrcVectorSize}_X{XSrcVectorSize}_Gamma{GammaSrcVectorSize}\
_MeanRstd{MeanInvStdSrcVectorSize}_Dx{DXDstVectorSize}>
    DeviceNormalizationBwdDataImpl
<{B},{CLUSTER},VectorSize_DY{DYSrcVectorSize}_X{XSrcVectorSize}_DGamma{DGammaDstVectorSize}\
_DBeta{DBetaDstVectorSize}>
    DeviceNormalizationBwdGammaBetaImpl
<{B},{CLUSTER},XYSrcVectorDim_{XYSrcVectorDim},VectorSize_X{XSrcVectorSize}_Gamma{GammaSrcVectorSize}\
_Beta{BetaSrcVectorSize}_Y{YDstVectorSize}>
    DeviceNormalizationFwdImpl
<{B},{CLUSTER},XYSrcVectorDim_{XYVectorDim},VectorSize_X{XSrcVectorSize}_Gamma{GammaSrcVectorSize}\
_Beta{BetaSrcVectorSize}_Y{YDstVectorSize}>
    DeviceNormalizationFwdSplitKImpl
<{B},{MK}XDyDxVectorDim_{XDyDxVectorDim},VectorSize_X{XSrcVectorSize}_scale_{ScaleSrcVectorSize}\
_bias_{DscaleDbiasDstVectorSize}_mean_var_{MeanVarSrcVectorSize}_Dx_{DxDstVectorSize}>
    DeviceBatchNormBwdImpl
<{B},{MK}XSrcYDstVectorDim_{XSrcYDstVectorDim},VectorSize_X{XSrcVectorSize}_scale_{ScaleSrcVectorSize}\
_bias_{BiasSrcVectorSize}_mean_var_{MeanVarSrcDstVectorSize}_Y{YDstVectorSize}>
    DeviceBatchNormFwdImpl
<{B},{MK}XYSrcVectorDim_{XYSrcVectorDim},VectorSize_X{XSrcVectorSize}_Gamma{GammaSrcVectorSize}\
_Beta{BetaSrcVectorSize}_Y{YDstVectorSize}>
    DeviceElementwiseNormalizationImpl
<{LABE},{BMNK}, {AB}, {XDL}, {V}, {CS}, {GS}, >
    DeviceGroupedGemmMultipleDSplitKXdlCShuffleTwoStage
<{LABE},{BMNK}, {AB}, {XDL}, {V}, {CS}, {GS}, {P}>
    DeviceGroupedGemmMultipleDXdlCShuffleTileLoop
<{LABE},{BMNK}, {AB}, {XDL}, {V}, {CS}, {GS}>
    DeviceGroupedGemm_XdlSplitK
<{NumDim}, {B}, {M0PerBlock}, {M1PerBlock}, {M0PerThread}, {M1PerThread}>
    DeviceElementwiseImpl
<{NumDim}, {MPerThread}>
    DeviceElementwiseNormalizationImpl
<{Rank},{NumReduceDim},{B},{MK}{IN}_OutDstVectorSize_{OutDstVectorSize}>
    DeviceReduceSoftmax
<{TileLoadThreadGroupSize}, {TileMathThreadGroupSize}, {MNK}, {AB}>
    DeviceGemm_Xdl_WaveletModel_CShuffle
<{inner_op}>
    DeviceGroupedConvBwdWeight_Explicit_Xdl
<{layout_a}{layout_b0}{layout_b1}{layout_c}, A {dtype_a}, B0 {dtype_b0}, B1 {dtype_b1}, C {dtype_c}, \
Acc {dtype_acc}, Cshuf {dtype_cshuffle}, {MLK}>{PS}
    DeviceBatchedGemmGemm_Wmma_CShuffleV3
>BlkSize: {B}, BlkTile: {MNK}, {WMMAS}GemmSpec: {GS}, \
VmemWriteThreadCluster: {CDEShuffleBlockTransferClusterLengths_MBlock_MPerBlock_NBlock_NPerBlock_1}, \
{CDEShuffleBlockTransferClusterLengths_MBlock_MPerBlock_NBlock_NPerBlock_3}, \
LayerNormThreadCluster: {LayernormThreadClusterSize_M_N_0}, {LayernormThreadClusterSize_M_N_1}, \
LayerNormThreadSliceSize: {LayernormThreadSliceSize_M}, {PS}, KPack: {KPack}
    DeviceGemmMultipleDLayernorm_Wmma_CShuffleV3
{B}_{DimClusterSize}x{RowClusterSize}_{DimPerBlock}x{RowPerBlock}_{DimThreadSize}x{RowVectorSize}
    DeviceSparseEmbeddingsForwardLayernorm_
{GS}_{layout_a}{layout_b}{layout_c}_B{B}_Vec{a_src_scalar_per_vector}x{b_src_scalar_per_vector}\
x{CBlockTransferScalarPerVector_NWaveNPerXDL}_{m_per_block}x{n_per_block}x{k0_per_block}x{K1}[[ {LP}]]
    GemmXdlSplitKCShuffle_
{HEAD}WmmaTile: {m_per_wmma}x{n_per_wmma}, WmmaRepeat: {m_repeat}x{n_repeat}, \
VmemReadVec: {a_src_scalar_per_vector}x{b_src_scalar_per_vector}, {PS}
    DeviceGemmWmmaUniversalReduce
{UNIVERSAL}, Kpack: {AMmaKStride}, ScaleBlockSize: {ScaleBlockSize}
    DeviceGemmMX_Xdl_CShuffleV3
{UNIVERSAL}[[, Kpack: {AMmaKStride}]]
    DeviceGemmXdlUniversal
{layout_a}{layout_b}{layout_c}_B{B}_Vec{a_src_scalar_per_vector}x{b_src_scalar_per_vector}\
x{CBlockTransferScalarPerVector_NWaveNPerXDL}_{m_per_block}x{n_per_block}x{k0_per_block}x{K1}
    GemmXdlStreamK_
"""


def _spell_out(shape: str) -> str:
    """The shape with every group replaced by what it stands for."""
    return re.sub(r"\{(\w+)\}", lambda m: _spell_out(_GROUPS[m[1]]) if m[1] in _GROUPS else m[0], shape)


@cache
def shapes() -> Mapping[str, tuple[str, ...]]:
    """Op -> the shapes that may follow its name."""
    result: dict[str, tuple[str, ...]] = {}
    shape = ""
    for line in _SHAPES.strip().splitlines():
        if not line.startswith("    "):
            shape = _spell_out(line)
            continue
        for op in line.split():
            result[op] = (*result.get(op, ()), shape)
    return result
