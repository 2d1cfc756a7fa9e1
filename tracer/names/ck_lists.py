"""Matches CK template arguments with parameter lists: a struct's or function's name and its arguments in, fields out.

A name can stand for several structs or for several versions of one, so it has several lists. The list is the one whose every
parameter can be what the argument is. Arguments that break off are read as far as all lists that fit agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec

from tracer.model.kernel import FieldValue
from tracer.names import ck_gridwise, ck_kernels, ck_values
from tracer.names.ck_values import Convert

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
    "@P": "pipeline_sched pipeline_version",
    "@XDL": "m_per_xdl n_per_xdl m_xdl_per_wave n_xdl_per_wave",
}

Variant = tuple[str, ...]


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


def _parse(text: str) -> dict[str, tuple[Variant, ...]]:
    """Reads the tables: names, then a line `| keys` for each list; lines that begin with white space go on."""
    result: dict[str, tuple[Variant, ...]] = {}
    for entry in text.replace("\n  ", " ").split("\n"):
        if entry.startswith("| "):
            variant = _expand(entry[2:])
            for name in names:
                result[name] = (*result[name], variant)
            fresh = True
        elif entry:
            # names of one entry may stand on several lines, before its first list
            names = entry.split() if not result or fresh else names + entry.split()
            result.update(dict.fromkeys(names, ()))
            fresh = False
    return result


@cache
def structs() -> Mapping[str, tuple[Variant, ...]]:
    """Gridwise struct -> its lists."""
    return _parse(ck_gridwise.GEMM_STRUCTS) | _parse(ck_kernels.OTHER_STRUCTS)


@cache
def kernels() -> Mapping[str, tuple[Variant, ...]]:
    """Kernel function -> its lists."""
    return _parse(ck_kernels.KERNELS)


@cache
def keys() -> frozenset[str]:
    """Every key of every list; `dtype_ab` states two."""
    found = {key for table in (structs(), kernels()) for lists in table.values() for keys in lists for key in keys}
    return frozenset(found - {"-", "dtype_ab", "gridwise"} | {"dtype_a", "dtype_b"})


@cache
def _plan(variant: Variant) -> tuple[tuple[int, str, Convert], ...]:
    """What to convert: (index, key, converter) of every argument that states a field."""
    return tuple((i, key, ck_values.converter(key)) for i, key in enumerate(variant) if key not in ("-", "gridwise"))


def _fit(variant: Variant, items: tuple[str, ...]) -> tuple[dict[str, FieldValue], dict[str, int], int]:
    """The fields of the items by this list, and the index of the first item that can't be what it should be."""
    fields: dict[str, FieldValue] = {}
    where: dict[str, int] = {}
    count = len(items)
    for index, key, convert in _plan(variant):
        if index >= count:
            break
        try:
            fields[key] = convert(items[index])
        except ValueError:
            return fields, where, index
        where[key] = index
    return fields, where, min(count, len(variant))


def read(variants: tuple[Variant, ...], items: tuple[str, ...], cut: bool) -> Reading:
    """Reads the arguments by the list that fits them.

    Args:
        variants: the lists that the name may have, the newest last.
        items: whole arguments, in order.
        cut: whether more arguments followed that are lost.
    """
    count = len(items)
    if cut:
        return _read_cut(variants, items)
    best: tuple[dict[str, FieldValue], dict[str, int], int] = ({}, {}, -1)
    for variant in reversed(variants):
        if len(variant) == count:
            fit = _fit(variant, items)
            if fit[2] == count:
                return _split_ab(Reading(fit[0], fit[1]))
            best = max(best, fit, key=lambda f: f[2])
    for variant in sorted(variants, key=len, reverse=True):
        if len(variant) < count:
            fit = _fit(variant, items)
            if fit[2] == len(variant):
                reason = f"a template argument more than the {len(variant)} that are known"
                return _split_ab(Reading(fit[0], fit[1], beyond=len(variant), reason=reason))
            best = max(best, fit, key=lambda f: f[2])
        elif len(variant) > count:
            best = max(best, _fit(variant, items), key=lambda f: f[2])
    return _anchored(items, best)


def _read_cut(variants: tuple[Variant, ...], items: tuple[str, ...]) -> Reading:
    """Reads a beginning of the arguments: the fields in which all lists that fit agree."""
    count = len(items)
    fits = [fit for variant in variants if len(variant) >= count and (fit := _fit(variant, items))[2] == count]
    if not fits:
        fits = [fit for variant in variants if (fit := _fit(variant, items))[2] == len(variant)]
        if not fits:
            best = max((_fit(variant, items) for variant in variants), key=lambda f: f[2], default=({}, {}, 0))
            return _anchored(items, best)
    fields, where, _ = fits[-1]
    agreed = [key for key in fields if all(fit[1].get(key) == where[key] for fit in fits)]
    return _split_ab(Reading({key: fields[key] for key in agreed}, {key: where[key] for key in agreed}))


def _anchored(items: tuple[str, ...], best: tuple[dict[str, FieldValue], dict[str, int], int]) -> Reading:
    """No list fits: enum casts name their meaning themselves; what a list says by position is only likely."""
    result = Reading(beyond=0, reason="an argument list that no known version of the library has")
    for index, item in enumerate(items):
        key = ck_values.enum_key(item) if item.startswith("(") else None
        if key is not None and key not in result.fields:
            try:
                result.fields[key] = ck_values.converter(key)(item)
                result.where[key] = index
            except ValueError:
                continue
    likely = _split_ab(Reading(best[0], best[1]))
    result.likely = {key: value for key, value in likely.fields.items() if key not in result.fields}
    return result


def _split_ab(reading: Reading) -> Reading:
    """One parameter for A and B states the type of both."""
    for part in (reading.fields, reading.where):
        if "dtype_ab" in part:
            both = part.pop("dtype_ab")
            part["dtype_a"] = part["dtype_b"] = both  # type: ignore[assignment]
    return reading
