"""Matches CK template arguments with parameter lists: a struct's or function's name and its arguments in, fields out.

A name can stand for several structs or for several versions of one, so it has several lists. The list is the one whose
every parameter can be what the argument is. Arguments that break off are read as far as all lists that fit agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import msgspec

from tracer.model.kernel import FieldValue
from tracer.names import ck_gridwise, ck_kernels, ck_tile_lists, ck_values
from tracer.names.compiled_reader import ListReader, compile_list
from tracer.names.converters import Convert, Fresh, Remembered

_ABBREVIATIONS: Mapping[str, str] = {
    "@A": "a_block_transfer -3 a_src_scalar_per_vector a_dst_scalar_per_vector -2",
    "@B": "b_block_transfer -3 b_src_scalar_per_vector b_dst_scalar_per_vector -2",
    "@C": "cshuffle_m cshuffle_n c_block_transfer c_block_spv",
    "@CT": "dtype_compute_a dtype_compute_b",
    "@K1": "ak1 bk1",
    "@L": "layout_a layout_b layout_c",
    "@LD": "layout_a layout_b layouts_d layout_c",
    "@LDS": "dtype_lds_a dtype_lds_b",
    "@LP": "loop_scheduler pipeline_version_classic",
    "@MNK": "m_per_block n_per_block k_per_block",
    "@OP": "a_element_op b_element_op cde_element_op",
    "@PAD": "pad_seqlen_q pad_seqlen_k pad_head_dim pad_head_dim_v",
    "@P": "pipeline_sched pipeline_version",
    "@XDL": "m_per_xdl n_per_xdl m_xdl_per_wave n_xdl_per_wave",
}

#: one argument that states several keys, one a number or all the same
_SEVERAL: Mapping[str, tuple[str, ...]] = {
    "block_mn": ("block_m", "block_n"),
    "tile_mnk": ("m_per_block", "n_per_block", "k_per_block"),
    "warps_mnk": ("m_warp", "n_warp", "k_warp"),
    "warp_tile_mnk": ("m_warp_tile", "n_warp_tile", "k_warp_tile"),
    "scale_group_mnk": ("scale_block_m", "scale_block_n", "scale_block_k"),
    "dtypes_abc": ("dtype_a", "dtype_b", "dtype_c", "dtype_acc"),
    "scale_block_mnk": ("scale_block_m", "scale_block_n", "scale_block_k"),
}
_RENAMED: Mapping[str, str] = {
    "v_row_major": "v_layout", "warps_m": "m_warp", "warps_n": "n_warp", "moe_kind": "stage",
    "fused_activation": "activation",
}  # fmt: skip

Variant = tuple[str, ...]
Choose = Callable[[str], Convert]
#: key -> index of the argument that states it; shared by all readings by one list, so never changed
Where = dict[str, int]
#: fields, argument index of each, and the index of the first argument that does not fit
Fit = tuple[dict[str, FieldValue], dict[str, int], int]


class Reading(msgspec.Struct):
    """Fields read from an argument list.

    Attributes:
        fields: key -> value.
        where: key -> index of the argument that states it.
        likely: key -> value, read by position although no known list fits.
        beyond: index of the first argument that no list explains; None when all are explained.
        reason: why, when there is such an argument.
    """

    fields: dict[str, FieldValue] = {}
    where: dict[str, int] = {}
    likely: dict[str, FieldValue] = {}
    beyond: int | None = None
    reason: str | None = None


def _expand(line: str) -> Variant:
    keys: list[str] = []
    for word in line.split():
        if word[0] == "-":
            keys += ["-"] * int(word[1:] or 1)
        elif word[0] == "@":
            keys += _expand(_ABBREVIATIONS[word])
        else:
            keys.append(word)
    return tuple(keys)


def parse(text: str) -> dict[str, tuple[Variant, ...]]:
    """Reads the tables: names, then a line `| keys` for each list; lines that begin with white space go on."""
    result: dict[str, tuple[Variant, ...]] = {}
    names: list[str] = []
    complete = True
    for entry in text.replace("\n  ", " ").split("\n"):
        if entry.startswith("| "):
            complete = True
            variant = _expand(entry[2:])
            for name in names:
                result[name] = (*result[name], variant)
        elif entry:
            # names of one entry may stand on several lines, before its first list
            names = entry.split() if complete else names + entry.split()
            complete = False
            result.update(dict.fromkeys(entry.split(), ()))
    return result


@cache
def structs() -> Mapping[str, tuple[Variant, ...]]:
    """Gridwise struct -> its lists."""
    return parse(ck_gridwise.GEMM_STRUCTS) | parse(ck_kernels.OTHER_STRUCTS)


@cache
def kernels() -> Mapping[str, tuple[Variant, ...]]:
    """Kernel function -> its lists."""
    return parse(ck_kernels.KERNELS)


@cache
def tile_structs() -> Mapping[str, tuple[Variant, ...]]:
    """ck_tile struct -> its lists, in the order in which they are asked."""
    return parse(ck_tile_lists.TILE_STRUCTS)


def keys(*tables: Mapping[str, tuple[Variant, ...]]) -> frozenset[str]:
    """Every field that the lists of the tables can state."""
    found: set[str] = set()
    for table in tables:
        for lists in table.values():
            for key in (key for variant in lists for key in variant if key not in ("-", "gridwise")):
                found.update(
                    ("dtype_a", "dtype_b") if key == "dtype_ab" else _SEVERAL.get(key, (_RENAMED.get(key, key),))
                )
    return frozenset(found)


@cache
def _plan(variant: Variant, choose: Choose) -> tuple[tuple[int, str, Convert], ...]:
    """What to convert: (index, key, converter) of every argument that states a field."""
    return tuple((i, key, choose(key)) for i, key in enumerate(variant) if key not in ("-", "gridwise"))


@cache
def _table(convert: Convert) -> Convert:
    return Fresh(convert) if convert in ck_values.LISTS else Remembered(convert)


@cache
def _reader(variant: Variant, choose: Choose) -> tuple[ListReader, Where] | None:
    """How to read arguments that all fit, and where each field stands; None where an argument states several keys."""
    entries: dict[str, tuple[int, Convert]] = {}
    renamed: dict[str, tuple[int, Convert]] = {}
    for index, key, convert in _plan(variant, choose):
        if key in _SEVERAL:
            return None
        entry = (index, _table(convert))
        if key == "dtype_ab":
            renamed.update(dtype_a=entry, dtype_b=entry)
        elif key in _RENAMED:
            renamed[_RENAMED[key]] = entry
        else:
            entries[key] = entry
    entries.update(renamed)
    return compile_list(entries), {key: index for key, (index, _) in entries.items()}


def _fit(variant: Variant, items: tuple[str, ...], choose: Choose) -> Fit:
    """The fields of the items by this list, and the index of the first item that can't be what it should be."""
    fields: dict[str, FieldValue] = {}
    where: dict[str, int] = {}
    count = len(items)
    for index, key, convert in _plan(variant, choose):
        if index >= count:
            break
        try:
            fields[key] = convert(items[index])
        except ValueError:
            return fields, where, index
        where[key] = index
    return fields, where, min(count, len(variant))


def read(
    variants: tuple[Variant, ...], items: tuple[str, ...], cut: bool, choose: Choose = ck_values.converter
) -> Reading:
    """Reads the arguments by the list that fits them.

    Args:
        variants: the lists that the name may have, the newest last.
        items: whole arguments, in order.
        cut: whether more arguments followed that are lost.
        choose: gives the converter of a key.
    """
    count = len(items)
    if cut:
        return _read_cut(variants, items, choose)
    best: Fit = ({}, {}, -1)
    for variant in reversed(variants):
        if len(variant) == count:
            reader = _reader(variant, choose)
            if reader is not None:
                try:
                    return Reading(reader[0](items), reader[1])
                except ValueError:
                    pass  # this list does not fit; how far it does is asked below
            fit = _fit(variant, items, choose)
            if fit[2] == count:
                return _spread(Reading(fit[0], fit[1]))
            best = max(best, fit, key=lambda f: f[2])
    for variant in sorted(variants, key=len, reverse=True):
        if len(variant) < count:
            fit = _fit(variant, items, choose)
            if fit[2] == len(variant):
                reason = f"a template argument more than the {len(variant)} that are known"
                return _spread(Reading(fit[0], fit[1], beyond=len(variant), reason=reason))
            best = max(best, fit, key=lambda f: f[2])
        elif len(variant) > count:
            best = max(best, _fit(variant, items, choose), key=lambda f: f[2])
    return _anchored(items if choose is ck_values.converter else (), best)


def _read_cut(variants: tuple[Variant, ...], items: tuple[str, ...], choose: Choose) -> Reading:
    """Reads a beginning of the arguments: the fields in which all lists that fit agree."""
    count = len(items)
    fits = [fit for variant in variants if len(variant) >= count and (fit := _fit(variant, items, choose))[2] == count]
    if not fits:
        fits = [fit for variant in variants if (fit := _fit(variant, items, choose))[2] == len(variant)]
        if not fits:
            best = max((_fit(variant, items, choose) for variant in variants), key=lambda f: f[2], default=({}, {}, 0))
            return _anchored(items if choose is ck_values.converter else (), best)
    fields, where, _ = fits[-1]
    agreed = [key for key in fields if all(fit[1].get(key) == where[key] for fit in fits)]
    return _spread(Reading({key: fields[key] for key in agreed}, {key: where[key] for key in agreed}))


def _anchored(items: tuple[str, ...], best: Fit) -> Reading:
    """No list fits: CK's enum casts name their meaning themselves; what a list says by position is only likely."""
    result = Reading(beyond=0, reason="an argument list that no known version of the library has")
    for index, item in enumerate(items):
        key = ck_values.enum_key(item) if item.startswith("(") else None
        if key is not None and key not in result.fields:
            try:
                result.fields[key] = ck_values.converter(key)(item)
                result.where[key] = index
            except ValueError:
                continue
    likely = _spread(Reading(best[0], best[1]))
    result.likely = {key: value for key, value in likely.fields.items() if key not in result.fields}
    return result


def _spread(reading: Reading) -> Reading:
    """Spreads what one argument states over its keys: `dtype_ab` over A's and B's type, a shape over its extents."""
    fields, where = reading.fields, reading.where
    for key in [key for key in fields if key == "dtype_ab" or key in _SEVERAL or key in _RENAMED]:
        value = fields.pop(key)
        index = where.pop(key)
        if key == "dtype_ab":
            several = {"dtype_a": value, "dtype_b": value}
        elif key in _RENAMED:
            several = {_RENAMED[key]: value}
        else:
            several = dict(zip(_SEVERAL[key], value, strict=False))
        fields.update(several)
        where.update(dict.fromkeys(several, index))
    return reading
