"""aiter's CK GEMM instance names: `a8w8_blockscale_...`, `a8w8_rowwise_...` and their kin, in both generations.

    a8w8_blockscale_{SBMxSBNxSBK}_{BLOCKxMxNxK}_{AK1xBK1}_{MPerXDLxNPerXDL}[_{MXdlPerWavexNXdlPerWave}]
        _{A transfer}_{B transfer}_{C transfer}_{C scalars per vector}_{CShuffle MxN}_{scheduler}_v{pipeline}

The group after MPerXDL x NPerXDL is printed by aiter from late 2025 on; the older generation leaves it out, and then the
values stand in the source only. The family's prefix decides which groups follow (see each pattern below).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue, GemmView
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.pattern import Part, Pattern, int_list, lit, num, nums, opt, seq, words
from tracer.names.vocabulary import pick

_TILE = nums(("block_size", "m_per_block", "n_per_block", "k_per_block"))
_SCALE = nums(("scale_block_m", "scale_block_n", "scale_block_k"))
_K1 = nums(("ak1", "bk1"))
_XDL = nums(("m_per_xdl", "n_per_xdl"))
_WAVE_MAP = nums(("m_xdl_per_wave", "n_xdl_per_wave"))
_SCHED = words("pipeline_sched", "intrawave", "interwave", "default")


def _groups(*parts: Part) -> Part:
    """Parts joined by single underscores."""
    return seq(*[p for part in parts for p in (lit("_"), part)][1:])


def _tail() -> Part:
    """The groups that end every name of these families."""
    return _groups(
        int_list("a_block_transfer", count=3),
        int_list("b_block_transfer", count=3),
        int_list("c_block_transfer", count=4),
        int_list("c_block_spv"),
        nums(("cshuffle_m", "cshuffle_n")),
        _SCHED,
        lit("v") + num("pipeline_version"),
    )


_A8W8: Mapping[str, FieldValue] = {"a_bits": 8, "b_bits": 8}
_PATTERNS = {
    # the optional group is told apart by its number of `x`: one here, two in the A transfer that follows
    "a8w8_blockscale_": Pattern(
        "aiter_ck_a8w8_blockscale",
        lit("a8w8_blockscale_"),
        _groups(_SCALE, _TILE, _K1, _XDL),
        opt(lit("_") + _WAVE_MAP),
        lit("_"),
        _tail(),
        constants=_A8W8,
    ),
}


class AiterCk(Grammar):
    """aiter's CK GEMM instances."""

    name = "aiter_ck"
    families = tuple(p.family for p in _PATTERNS.values())
    formal = frozenset(families)
    prefixes = ("a8w8_blockscale_",)
    link = "https://github.com/ROCm/aiter/tree/main/csrc/ck_gemm_a8w8_blockscale"
    keys: ClassVar[Mapping[str, Key]] = pick(
        "block_size", "m_per_block", "n_per_block", "k_per_block", "ak1", "bk1", "m_per_xdl", "n_per_xdl",
        "m_xdl_per_wave", "n_xdl_per_wave", "a_block_transfer", "b_block_transfer", "c_block_transfer", "c_block_spv",
        "cshuffle_m", "cshuffle_n", "pipeline_sched", "pipeline_version", "scale_block_m", "scale_block_n",
        "scale_block_k", "a_bits", "b_bits",
    )  # fmt: skip

    def accepts(self, name: str) -> bool:
        return name.startswith("a8w8_blockscale_") and not name.startswith(
            ("a8w8_blockscale_cktile_", "a8w8_blockscale_bpreshuffle_")
        )

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        pattern = _PATTERNS["a8w8_blockscale_"]
        return pattern.match(name, self.name) or pattern.repair(name, self.name)

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        for pattern in _PATTERNS.values():
            if pattern.family == family:
                return pattern.format(fields)
        return super().format(family, fields)

    def view(self, decoded: DecodedName) -> GemmView | None:
        f = decoded.fields
        return GemmView(
            op="gemm",
            tile_m=f.get("m_per_block"),
            tile_n=f.get("n_per_block"),
            tile_k=f.get("k_per_block"),
            instruction_m=f.get("m_per_xdl"),
            instruction_n=f.get("n_per_xdl"),
            threads_per_block=f.get("block_size"),
            pipeline=f"{f.get('pipeline_sched')} v{f.get('pipeline_version')}",
        )
