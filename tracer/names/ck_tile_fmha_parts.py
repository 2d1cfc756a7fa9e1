"""Parts of CK-tile FMHA names that several kinds share: no input, parts of patterns out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

from tracer.model.kernel import FieldValue
from tracer.names.converters import NOT_STATED, Fresh
from tracer.names.parts import NUMBER, Part, choice, flag, lit, num, opt, seq, table, text

_SLOT = re.compile(r"\{(\w+)\}")
_PAD_KEYS = {"s": "pad_seqlen_q", "sk": "pad_seqlen_k", "d": "pad_head_dim", "dv": "pad_head_dim_v"}
_QSCALES = ("pertensor", "blockscale", "kv_blockscale", "mx", "perhead")


def tile(template: str) -> Part:
    """The tile as one mapping, its inner keys the slots of `template`: `b{bm0}x{bn0}`."""
    keys = _SLOT.findall(template)
    regex = _SLOT.sub(lambda _: NUMBER, template)
    numbers = re.compile(r"(?<![0-9])[0-9]+")

    def convert(printed: str) -> dict[str, int]:
        return dict(zip(keys, map(int, numbers.findall(printed)), strict=True))

    def write(fields: Mapping[str, FieldValue]) -> str:
        value: Any = fields.get("tile")
        if not isinstance(value, dict) or set(value) != set(keys):
            raise ValueError(f"field 'tile' must have the keys {', '.join(keys)}, not {value!r}")
        if any(isinstance(v, bool) or not isinstance(v, int) or v < 0 for v in value.values()):
            raise ValueError(f"field 'tile' must hold non-negative integers, not {value!r}")
        return template.format(**value)

    return Part(f"({regex})", (("tile", Fresh(convert)),), write, f"a tile {template}")


def on(key: str, token: str) -> Part:
    """An option that only its presence prints."""
    return flag(key, f"_{token}")


def on_or_n(key: str, token: str) -> Part:
    """An option that is always printed, with an `n` when it is off."""
    return flag(key, f"_{token}", f"_n{token}")


def pads(*letters: str, none: str = "") -> Part:
    """What may end inside a tile: `_psskddv`, letters in this order; `none` when nothing may."""
    keys = [_PAD_KEYS[letter] for letter in letters]
    rows = {}
    for on_ in itertools.product((False, True), repeat=len(letters)):
        word = "".join(itertools.compress(letters, on_))
        rows[f"_p{word}" if word else none] = on_
    return table(keys, rows)


HEAD = seq(num("head_dim"), lit("_"), text("dtype_a", r"[a-z]+[0-9]+(?:[a-z]+[0-9]+)?"))
MODE = choice("group_mode", {"batch": False, "group": True})
OCCUPANCY = opt(lit("_o") + num("occupancy"))
PIPELINE = text("pipeline_tag", r"q[rs](?:_[a-z0-9]+)*?", before=r"_v[rc](?:_|$)")
V_LAYOUT = choice("v_layout", {"_vr": "row", "_vc": "col"})
ISA = opt(lit("_") + text("isa", r"gfx[0-9a-f]+"))
PADS = pads("s", "sk", "d", "dv")
PADS_N = pads("s", "sk", "d", "dv", none="_npad")
BIAS = choice("bias", {"": "no", "_bias": "bias", "_alibi": "alibi"})
BIAS_N = choice("bias", {"_nbias": "no", "_bias": "bias", "_alibi": "alibi"})
_MASKED: dict[str, tuple[Any, Any]] = {"_mask": ("mask", True), "_mc": ("causal", True), "_mg": ("generic", True)}
MASK = table(("mask", "masked"), {"": ("no", False), **_MASKED})
MASK_N = table(("mask", "masked"), {"_nmask": ("no", False), **_MASKED})
#: fp8 by one scale a tensor (CK until 2025), or one of several scalings (2026)
QUANT = table(
    ("static_quant", "qscale"),
    {"_nsquant": (False, NOT_STATED), "_squant": (True, NOT_STATED), "_nqscale": (NOT_STATED, "no")}
    | {f"_{kind}": (NOT_STATED, kind) for kind in _QSCALES},
)
TILE = tile(
    "b{bm0}x{bn0}x{bk0}x{bn1}x{bk1}x{bk0max}_r{rm0}x{rn0}x{rk0}_r{rm1}x{rn1}x{rk1}_w{wm0}x{wn0}x{wk0}_w{wm1}x{wn1}x{wk1}"
)
TILE_OLD = tile("b{bm0}x{bn0}x{bk0}x{bn1}x{bk1}x{bk0blen}_r{rm}x{rn}x{rk}_w{wm}x{wn}x{wk}")
BWD_TILE = tile(
    "b{bm0}x{bn0}x{bk0}x{bk1}x{bk2}x{bk3}x{bk4}x{bhdq}x{bhdv}_r{rm0}x{rn0}x{rk0}_r{rm1}x{rn1}x{rk1}_r{rm2}x{rn2}x{rk2}"
    "_w{wm0}x{wn0}x{wk0}_w{wm1}x{wn1}x{wk1}"
)
