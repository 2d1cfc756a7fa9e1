"""What kind of instruction a mnemonic is: AMD's and PTX's mnemonics in, one of `KINDS` out.

AMD's are those of LLVM's AMDGPU backend for GFX9 (CDNA) to GFX12; PTX's those of the PTX ISA up to 8.8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

#: kind -> what it counts, in the order in which they are shown
KINDS: dict[str, str] = {
    "matrix": "matrix instructions: MFMA, SMFMAC, WMMA; on NVIDIA mma, wgmma, tcgen05.mma",
    "dot": "vector dot products (v_dot*, dp4a)",
    "global_load": "loads from memory (global, buffer, flat)",
    "global_store": "stores to memory",
    "load_to_lds": "loads from memory straight into LDS or shared memory",
    "atomic": "atomics on memory",
    "lds_read": "reads from LDS or shared memory",
    "lds_write": "writes to LDS or shared memory",
    "lds_other": "other LDS instructions: atomics, permutes, swizzles",
    "scratch": "loads and stores of scratch: spilled registers and private arrays",
    "scalar_load": "scalar loads (arguments and constants)",
    "wait": "waits for memory and matrix counters",
    "barrier": "barriers of the block",
    "pause": "instructions that only take time: s_nop, s_delay_alu, s_sleep",
    "branch": "branches, calls, and the end of the program",
    "valu": "other vector instructions",
    "salu": "other scalar instructions",
    "other": "anything else",
}

#: AMD: pattern at the beginning of a mnemonic -> kind; the first that fits counts
_AMD: tuple[tuple[str, str], ...] = (
    (r"v_(?:mfma|smfmac|wmma|swmmac)_", "matrix"),
    (r"v_(?:pk_)?dot\d", "dot"),
    (r"(?:global|buffer|flat|cluster|tensor)_load_.*lds", "load_to_lds"),
    (r"(?:global|buffer|flat)_(?:wait|wb|inv|gl[01]_inv|wbl2|wbinvl)", "other"),
    (r"(?:global|buffer|flat)_atomic", "atomic"),
    (r"(?:global|buffer|tbuffer|flat|image)_(?:load|sample|gather)|cluster_load", "global_load"),
    (r"(?:global|buffer|tbuffer|flat|image)_store|tensor_store_from_lds|global_store_async", "global_store"),
    (r"ds_(?:read|load)", "lds_read"),
    (r"ds_(?:write|store)", "lds_write"),
    (r"ds_|lds_", "lds_other"),
    (r"scratch_", "scratch"),
    (r"s_(?:buffer_|scratch_)?(?:load|store|atomic)_|s_prefetch", "scalar_load"),
    (r"s_wait(?:cnt|_)", "wait"),
    (r"s_barrier", "barrier"),
    (r"s_(?:nop|sleep|delay_alu|wakeup|setprio|clause)|v_nop", "pause"),
    (r"s_(?:branch|cbranch|call|setpc|swappc|rfe|endpgm|trap|subvector_loop)", "branch"),
    (r"v_", "valu"),
    (r"s_", "salu"),
)
_PTX: tuple[tuple[str, str], ...] = (
    (r"wgmma\.mma|mma\.|wmma\.mma|tcgen05\.mma", "matrix"),
    (r"dp[24]a", "dot"),
    (
        r"cp\.async\.(?:wait|bulk\.wait)|wgmma\.wait|tcgen05\.wait|mbarrier\.(?:try_wait|test_wait)|griddepcontrol",
        "wait",
    ),
    (r"cp\.async\.(?:commit|bulk\.commit|mbarrier)|wgmma\.(?:fence|commit)|tcgen05\.(?:fence|commit)", "other"),
    (r"cp\.(?:async\.bulk|reduce\.async\.bulk)[\w.:]*\.global\.shared", "global_store"),
    (r"cp\.async", "load_to_lds"),
    (r"bar\.|barrier\.|bar\.warp|mbarrier\.", "barrier"),
    (r"ld\.shared|ldmatrix|wmma\.load[\w.]*\.shared", "lds_read"),
    (r"st\.shared|st\.async|stmatrix|wmma\.store[\w.]*\.shared", "lds_write"),
    (r"(?:atom|red)\.(?:[\w:]+\.)*shared", "lds_other"),
    (r"atom|red\.", "atomic"),
    (r"ld\.(?:volatile\.|relaxed\.\w+\.|acquire\.\w+\.|weak\.)?(?:param|const)|ldu\.", "scalar_load"),
    (r"ld\.(?:volatile\.)?local|st\.(?:volatile\.)?local", "scratch"),
    (r"ld(?:\.|$)|wmma\.load|tex\.|tld4|suld|multimem\.ld", "global_load"),
    (r"st(?:\.|$)|wmma\.store|sust|multimem\.st", "global_store"),
    (r"tcgen05|fence|membar|prefetch|discard|createpolicy", "other"),
    (r"nanosleep|pmevent", "pause"),
    (r"bra|brx|call|ret|exit|trap", "branch"),
)


def _compiled(table: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], tuple[str, ...]]:
    pattern = re.compile("|".join(f"({text})" for text, _ in table))
    return pattern, tuple(kind for _, kind in table)


_AMD_RULES, _PTX_RULES = _compiled(_AMD), _compiled(_PTX)


def kind_of(mnemonic: str) -> str:
    """The kind of an instruction; AMD's mnemonics have an underscore before any dot, PTX's have none.

    A PTX mnemonic that no rule names is counted as `valu`: it computes in a thread's registers.
    """
    amd = "_" in mnemonic.partition(".")[0]
    pattern, kinds = _AMD_RULES if amd else _PTX_RULES
    found = pattern.match(mnemonic)
    if found is not None and found.lastindex is not None:
        return kinds[found.lastindex - 1]
    return "other" if amd else "valu"


def histogram(counts: Mapping[str, int]) -> dict[str, int]:
    """Kind -> instructions of it, in the order of KINDS; kinds without any are left out."""
    sums = dict.fromkeys(KINDS, 0)
    for mnemonic, count in counts.items():
        sums[kind_of(mnemonic)] += count
    return {kind: count for kind, count in sums.items() if count}


def matrix_instructions(counts: Mapping[str, int]) -> dict[str, int]:
    """The matrix and dot instructions among them, most frequent first."""
    found = {name: count for name, count in counts.items() if kind_of(name) in ("matrix", "dot")}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
