"""Tensile's solution parameters: a token of a kernel name (`GRVWA8`) in, its parameter and value out, and back.

A token is the parameter's abbreviation and its value. hipBLASLt abbreviates to the capital letters, rocBLAS to all but
the small letters (`LDSB` / `1LDSB`); names print the parameters sorted by their full names. Values: `n1` is -1, `0p30`
is 0.3, a list is joined by underscores, a string is reduced to its capital letters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tracer.model.kernel import FieldValue

#: validParameters and the required parameters of ROCm/Tensile (March 2025) and hipBLASLt's TensileLite (2024 to 2026)
_NAMES = """
1LDSBuffer ActivationAlt ActivationFuncCall ActivationFused AdaptiveGemm AdaptiveGemmGSUA AdaptiveGemmNTAB
AggressivePerfMode AssertAIGreaterThanEqual AssertAILessThanEqual AssertAlphaValue AssertBetaValue
AssertCEqualsD AssertFree0ElementMultiple AssertFree1ElementMultiple AssertMinApproxSize AssertSizeEqual
AssertSizeGreaterThan AssertSizeLessThan AssertSizeMultiple AssertStrideAEqual AssertStrideBEqual
AssertStrideCEqual AssertStrideDEqual AssertSummationElementMultiple AtomicAddC BufferLoad BufferStore
CheckDimOverflow CheckTensorDimAsserts ClusterDim ClusterLocalRead CompactLoopStore ConvertAfterDS DebugStreamK
DelayRemainingArguments DepthULdsDivisor DirectToLds DirectToLdsA DirectToLdsB DirectToLdsMetadata DirectToVgprA
DirectToVgprB DirectToVgprMXSA DirectToVgprMXSB DirectToVgprSparseMetadata DisableAtomicFail DisableKernelPieces
DisableVgprOverlapping DtlPlusLdsBuf EdgeType ExpandPointerSwap ExtraLatencyForLR ExtraMiLatencyLeft
ForceDisableShadowInit ForceStoreSC1 Fp16AltImpl Fp16AltImplRound FractionalLoad GlobalLoadVectorWidthA
GlobalLoadVectorWidthB GlobalRead2A GlobalRead2B GlobalReadCoalesceGroupA GlobalReadCoalesceGroupB
GlobalReadCoalesceVectorA GlobalReadCoalesceVectorB GlobalReadPerMfma GlobalReadVectorWidth
GlobalReadVectorWidthA GlobalReadVectorWidthB GlobalSplitU GlobalSplitUAlgorithm GlobalSplitUAtomicAdd
GlobalSplitUCoalesced GlobalSplitUSummationAssignmentRoundRobin GlobalSplitUWorkGroupMappingRoundRobin
GroupLoadStore HalfPLR ISA InitCIterWmma InnerUnroll InterleaveAlpha Kernel KernelLanguage LDSSegmentInterleave
LDSTrInst LdsBlockSizePerPadA LdsBlockSizePerPadB LdsBlockSizePerPadMXSA LdsBlockSizePerPadMXSB
LdsBlockSizePerPadMetadata LdsPadA LdsPadB LdsPadMXSA LdsPadMXSB LdsPadMetadata LocalDotLayout LocalRead2A
LocalRead2B LocalReadVectorWidth LocalWrite2A LocalWrite2B LocalWritePerMfma LoopDoWhile LoopTail MIArchVgpr
MIWaveGroup MIWaveTile MXLoadInst MXScaleFormat MagicDivAlg MaxOccupancy MaxVgprNumber MemoryModifierFormat
MinGRIncPerMfma MinKForGSU MinVgprNumber NoReject NonTemporal NonTemporalA NonTemporalB NonTemporalC
NonTemporalD NonTemporalE NonTemporalMXSA NonTemporalMXSB NonTemporalMetadata NonTemporalWS NonVolatile
NonVolatileA NonVolatileB NonVolatileC NonVolatileD NonVolatileE NonVolatileMXSA NonVolatileMXSB
NonVolatileMetadata NonVolatileWS NumElementsPerBatchStore NumLoadsCoalescedA NumLoadsCoalescedB OptNoLoadLoop
OptPreLoopVmcnt PackBatchDims PackFreeDims PackGranularity PackSummationDims PerformanceSyncLocation
PerformanceWaitCount PerformanceWaitLocation PersistentKernel PersistentKernelAlongBatch
PrefetchAcrossPersistent PrefetchAcrossPersistentMode PrefetchGL2 PrefetchGlobalRead PrefetchLocalRead
PreloadKernArgs PreloadKernelArguments ReplacementKernel SFCWGM ScheduleGROverBarrier ScheduleGlobalRead
ScheduleIterAlg ScheduleLocalWrite SourceSwap SpaceFillingAlgo StaggerU StaggerUMapping StaggerUStride
StoreCInUnroll StoreCInUnrollExact StoreCInUnrollInterval StoreCInUnrollPostLoop StorePriorityOpt
StoreRemapVectorWidth StoreSyncOpt StoreVectorWidth StreamK StreamKAtomic StreamKFixupTreeReduction
StreamKForceDPOnly StreamKXCCMapping SuppressNoLoadLoop SwInstructionPrefetch SwapGlobalReadOrder TDMInst
TDMIterateMode TDMSplit TailloopInNll TemporalHint TemporalHintA TemporalHintB TemporalHintC TemporalHintD
TemporalHintE TemporalHintMXSA TemporalHintMXSB TemporalHintMetadata TemporalHintWS ThreadSeparateGlobalReadA
ThreadSeparateGlobalReadB ThreadTile TotalVgprNumber TransposeLDS TransposeLDSMetadata UnrollIncIsDepthU
UnrollLoopSwapGlobalReadOrder UnrollMajorLDSA UnrollMajorLDSB UnrollMemFence Use64bShadowLimit
Use64bShadowLimitMX UseDualFMAC UseInstOffsetForGRO UsePLRPack UseSgprForGRO UseSubtileImpl VectorAtomicWidth
VectorStore VectorWidth VectorWidthA VectorWidthB VgprForLocalReadPacking WaveSeparateGlobalReadA
WaveSeparateGlobalReadB WavefrontSize WorkGroup WorkGroupMapping WorkGroupMappingType WorkGroupMappingXCC
WorkGroupMappingXCCGroup WorkGroupReduction
"""
FULL_NAMES = tuple(_NAMES.split())

#: full name -> the field's key, where the vocabulary has one
FIELDS: Mapping[str, str] = {
    "1LDSBuffer": "one_lds_buffer",
    "ClusterLocalRead": "cluster_local_read",
    "DirectToVgprA": "direct_to_vgpr_a",
    "DirectToVgprB": "direct_to_vgpr_b",
    "GlobalReadVectorWidthA": "global_read_vector_width_a",
    "GlobalReadVectorWidthB": "global_read_vector_width_b",
    "GlobalSplitU": "global_split_u",
    "GlobalSplitUAlgorithm": "global_split_u_algorithm",
    "ISA": "isa",
    "LdsBlockSizePerPadA": "lds_block_size_per_pad_a",
    "LdsBlockSizePerPadB": "lds_block_size_per_pad_b",
    "LdsPadA": "lds_pad_a",
    "LdsPadB": "lds_pad_b",
    "LocalReadVectorWidth": "local_read_vector_width",
    "MIWaveTile": "mi_wave_tile",
    "MaxOccupancy": "max_occupancy",
    "NumElementsPerBatchStore": "num_elements_per_batch_store",
    "PrefetchGlobalRead": "prefetch_global_read",
    "PrefetchLocalRead": "prefetch_local_read",
    "ScheduleIterAlg": "schedule_iter_alg",
    "SourceSwap": "source_swap",
    "StaggerU": "stagger_u",
    "StoreRemapVectorWidth": "store_remap_vector_width",
    "StoreVectorWidth": "store_vector_width",
    "StreamK": "stream_k",
    "ThreadTile": "thread_tile",
    "TransposeLDS": "transpose_lds",
    "UnrollLoopSwapGlobalReadOrder": "unroll_loop_swap_gr_order",
    "VectorWidthA": "vector_width_a",
    "VectorWidthB": "vector_width_b",
    "WavefrontSize": "wavefront_size",
    "WorkGroup": "work_group",
    "WorkGroupMapping": "work_group_mapping",
}
FULL_NAME_OF: Mapping[str, str] = {field: name for name, field in FIELDS.items()}

_ALGORITHMS = {"SB": "SingleBuffer", "MB": "MultipleBuffer", "MBSK": "MultipleBufferSingleKernel"}
_ALGORITHM_LETTERS = {word: letters for letters, word in _ALGORITHMS.items()}
_FIRST_OF_TWO = {"AFEM": "AssertFree0ElementMultiple"}
_SECOND_OF_TWO = {"AssertFree0ElementMultiple": "AssertFree1ElementMultiple"}
#: rocBLAS spells out what hipBLASLt calls PreloadKernArgs; the other two share an abbreviation and stand in no name
_NOT_ABBREVIATED = ("PreloadKernelArguments", "MaxVgprNumber", "MinVgprNumber")


def _capitals(name: str) -> str:
    return "".join(c for c in name if c.isupper())


def _no_small_letters(name: str) -> str:
    return "".join(c for c in name if not c.islower())


_ABBREVIATED = [name for name in FULL_NAMES if name not in _NOT_ABBREVIATED]
_BY_CAPITALS: dict[str, str] = {_capitals(name): name for name in _ABBREVIATED} | _FIRST_OF_TWO
#: abbreviations that hold a digit, longest first; only rocBLAS prints them
_WITH_DIGITS = sorted(
    ((_no_small_letters(name), name) for name in _ABBREVIATED if _capitals(name) != _no_small_letters(name)),
    key=lambda pair: -len(pair[0]),
)
_TOKEN = re.compile(r"([0-9]{0,9}[A-Z]+)((?:n?[0-9]{1,9}(?:p[0-9]{1,9})?)?)").fullmatch
_ISA = re.compile(r"ISA([0-9a-f]+)").fullmatch
_VALUE = re.compile(r"(?:n?[0-9]{1,9}(?:p[0-9]{1,9})?)?").fullmatch
_LONGEST_TOKEN = 64
#: how many texts are remembered; all names of hipBLASLt and rocBLAS that are known hold some hundred
_REMEMBERED = 2048
CONTINUES = re.compile(r"n?[0-9]{1,9}(?:p[0-9]{1,9})?").fullmatch


class Token(NamedTuple):
    """One token of a parameter list.

    Attributes:
        full: the parameter's full name; an abbreviation that is not known as it is.
        key: the field's key, or None where the vocabulary has none.
        value: what the text stands for.
        text: the text of the value.
        keeps_digits: whether the abbreviation keeps digits; None where both libraries abbreviate alike.
        known: whether the parameter is in the table.
        goes_on: whether numbers may follow that belong to the value.
    """

    full: str
    key: str | None
    value: FieldValue
    text: str
    keeps_digits: bool | None
    known: bool
    goes_on: bool


def read_token(token: str) -> Token | None:
    """Reads one token; None for a text that is no token at all."""
    split = _split_token(token) if len(token) <= _LONGEST_TOKEN else None
    if split is None:
        return None
    full, text, keeps_digits = split
    # GSUM: more than one split, how many is chosen at run time
    key = None if (full, text) == ("GlobalSplitU", "M") else FIELDS.get(full)
    goes_on = full != "ISA" and CONTINUES(text) is not None
    return Token(full, key, read_value(full, text), text, keeps_digits, full in KNOWN, goes_on)


class _Tokens(dict[str, Token | None]):
    """The tokens that names hold, remembered: names share most of them."""

    def __missing__(self, token: str) -> Token | None:
        read = read_token(token)
        if len(self) < _REMEMBERED and len(token) <= _LONGEST_TOKEN:
            self[token] = read
        return read


#: `read_token`, remembered
TOKENS = _Tokens()


class Parameter(NamedTuple):
    """One parameter with all of its value, as it stands in a list without damage.

    Attributes:
        full: the parameter's full name.
        key: the field's key, or None where the vocabulary has none.
        value: what the text stands for; a list is to be copied.
        length: the characters of the value.
        keeps_digits: whether the abbreviation keeps digits; None where both libraries abbreviate alike.
        is_list: whether the value is a list.
    """

    full: str
    key: str | None
    value: Any
    length: int
    keeps_digits: bool | None
    is_list: bool


class _Parameters(dict[str, Parameter | None]):
    """The parameters that names hold, remembered; None for what is none or is not known."""

    def __missing__(self, text: str) -> Parameter | None:
        head, _, rest = text.partition("_")
        token = TOKENS[head]
        read = None
        if token is not None and token.known and (not rest or token.goes_on):
            printed = f"{token.text}_{rest}" if rest else token.text
            value = read_value(token.full, printed) if rest else token.value
            read = Parameter(token.full, token.key, value, len(printed), token.keeps_digits, isinstance(value, list))
        if len(self) < _REMEMBERED and len(text) <= _LONGEST_TOKEN:
            self[text] = read
        return read


PARAMETERS = _Parameters()
#: splits a list into parameters: at every underscore but those before a number that goes on with a value
SPLIT = re.compile(r"_(?!n?[0-9]{1,9}(?:p[0-9]{1,9})?(?:_|$))").split


def _split_token(token: str) -> tuple[str, str, bool | None] | None:
    isa = _ISA(token)
    if isa:
        return "ISA", isa.group(1), None
    for short, name in _WITH_DIGITS:
        if token.startswith(short) and _VALUE(token, len(short)):
            return name, token[len(short) :], True
    m = _TOKEN(token)
    if m is None:
        return None
    short, value = m.groups()
    full = _BY_CAPITALS.get(short)
    if full is not None:
        return full, value, False if _capitals(full) != _no_small_letters(full) else None
    if not value:
        for end in range(len(short) - 1, 1, -1):
            if short[:end] in ("GSUA", "KL", "GSU", "WGMT", "LDL", "ET", "MMF", "SFA", "MXSF", "MXLI"):
                return _BY_CAPITALS[short[:end]], short[end:], None
    return short, value, None


def second(full: str) -> str | None:
    """The parameter that a second token with the same abbreviation stands for; None when there is no such one."""
    return _SECOND_OF_TWO.get(full)


def _number(text: str) -> FieldValue:
    if "p" in text:
        return float(text.replace("p", "."))
    return -int(text[1:]) if text[0] == "n" else int(text)


def read_value(full: str, text: str) -> FieldValue:
    """The value that `text` stands for; text that would not be written back the same is kept as text."""
    if full == "ISA":
        return f"gfx{text}"
    if full == "GlobalSplitUAlgorithm":
        return _ALGORITHMS.get(text, text)
    parts = text.split("_")
    if not all(map(CONTINUES, parts)):
        return text
    value: FieldValue = [_number(part) for part in parts] if len(parts) > 1 else _number(text)
    return value if write_value(full, value) == text else text


def write_value(full: str, value: FieldValue) -> str:
    """The text of a value. Raises ValueError for one that no name can hold."""
    if full == "ISA":
        return str(value).removeprefix("gfx")
    if full == "GlobalSplitUAlgorithm":
        return _ALGORITHM_LETTERS.get(str(value), str(value))
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return f"n{-value}" if value < 0 else str(value)
    if isinstance(value, float):
        whole, hundredths = divmod(round(value * 100), 100)
        return f"{whole}p{hundredths:02d}"
    if isinstance(value, list):
        return "_".join(write_value(full, item) for item in value)
    raise ValueError(f"{full} cannot be {value!r}")


def abbreviation(full: str, keeps_digits: bool) -> str:
    """The abbreviation of a parameter; a name that is no parameter of the table comes back as it is."""
    if full not in KNOWN:
        return full
    return _no_small_letters(full) if keeps_digits else _capitals(full)


KNOWN = frozenset(FULL_NAMES)
