"""One look-up in aiter's tuned configs: an op, a shape, a GPU and an environment in, a `TunedLookup` out.

The steps are aiter's own (tracer.aiter.lookups reads them from its text); a miss gets the most specific reason that the
shipped files support. What each status and reason means: docs/tuned-config.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from tracer.aiter.configs import LossReason, MergedConfig, merge, require
from tracer.aiter.csvfile import KeyValue, key_value, microseconds, read_csv
from tracer.aiter.lookups import FUSED_MOE, LookupRule, defaults, lookup_rule
from tracer.aiter.moe_tokens import legacy_arch, padded_tokens
from tracer.aiter.padding import get_padded_m
from tracer.aiter.row_index import SHAPE, Same, padded_column, row_index, shape_columns, values_of
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError
from tracer.model.environment import Target
from tracer.model.source import CsvRow, MissReason, TunedLookup, TunedStatus

NEAREST = 5
_STATUS = {None: TunedStatus.EXACT, 0: TunedStatus.PADDED_FINE, 1: TunedStatus.PADDED_COARSE}
_GPU = ("gfx", "cu_num")


class Steps(msgspec.Struct, frozen=True):
    """The keys that a look-up tries, in order.

    Attributes:
        columns: the key columns.
        tried: (status, M, key values) of each step.
    """

    columns: tuple[str, ...]
    tried: tuple[tuple[TunedStatus, int, tuple[KeyValue, ...]], ...]


def lookup(
    tree: AiterTree, op: str, given: Mapping[str, str | int], target: Target, environment: Mapping[str, str]
) -> TunedLookup:
    """Looks a call up as aiter's Python does.

    Args:
        tree: the aiter.
        op: one of `tracer.aiter.lookups.ops()`.
        given: key columns and their values: M, N, K (B) or token, model_dim, inter_dim, expert, topk, and what else
            the op's key needs (`q_dtype_w`, ...); columns that are not given take the op's defaults.
        target: architecture and CU count.
        environment: the environment variables that aiter would see.

    Raises:
        KeyError: the op is not known, or a key column has no value.
        SourceTreeError: aiter's files can't be read.
    """
    rule = lookup_rule(tree, op)
    merged = merge(tree, require(tree, rule.variable), environment)
    key = {**defaults(tree, op, target.arch), **_gpu(target), **{k: str(v) for k, v in given.items()}}
    if op == FUSED_MOE:
        merged = _as_looked_up(tree, Same(merged))
        steps = _moe_steps(tree, rule, merged, key)
    else:
        steps = steps_of(rule, merged, key)
    answer = look_up(tree, merged, steps, key, first_wins=rule.first_wins)
    if op != FUSED_MOE or not steps.tried:
        return answer
    padded = {**key, "token": str(steps.tried[0][1])}  # aiter writes the padded count into its list of what to tune
    caveat = answer.caveat or _any_activation(rule, answer, key)
    return msgspec.structs.replace(answer, untuned_row=untuned_row(tree, merged, padded), caveat=caveat)


def _any_activation(rule: LookupRule, answer: TunedLookup, key: Mapping[str, str]) -> str | None:
    """Says that a row for another activation was taken, where this aiter compares none."""
    if answer.row is None or not rule.ignored or answer.row.values.get("act_type") == key.get("act_type"):
        return None
    return (
        f"the row is for {answer.row.values.get('act_type')}: {rule.file} looks activations up by the enum, "
        "which no text of a CSV equals, so that the first row for any activation is taken"
    )


@lru_cache(maxsize=4)
def _as_looked_up(tree: AiterTree, table: Same) -> MergedConfig:
    """The MoE's table as `get_2stage_cfgs` reads it: rows without an architecture get one, fallback rows go."""
    merged: MergedConfig = table.value
    known = legacy_arch(tree)
    if not known:
        return merged
    filled = dict(merged.filled)
    for row in merged.rows:
        number = key_value(merged.value(row, "cu_num"))
        if merged.value(row, "gfx") in ("", "0", "nan", "None") and isinstance(number, int) and number in known:
            filled[(row.file, row.line)] = {**filled.get((row.file, row.line), {}), "gfx": known[number]}
    rows = tuple(row for row in merged.rows if row.values.get("_tag") != "flydsl_fallback")
    columns = tuple(dict.fromkeys((*merged.columns, "gfx")))
    return msgspec.structs.replace(merged, rows=rows, filled=filled, columns=columns)


def _moe_steps(tree: AiterTree, rule: LookupRule, merged: MergedConfig, key: Mapping[str, str]) -> Steps:
    """The keys that the fused MoE tries: tokens are padded, and some columns are not compared."""
    columns = tuple(column for column in rule.keys[0] if column not in rule.ignored)
    tokens, tried = int(key["token"]), []
    for padded in padded_tokens(tree, tokens):
        values = tuple(padded if column == "token" else key_value(key[column]) for column in columns)
        tried.append((TunedStatus.EXACT if padded == tokens else TunedStatus.PADDED_COARSE, padded, values))
    return Steps(columns, tuple(tried))


def _gpu(target: Target) -> dict[str, str]:
    stated = {"gfx": target.arch, "cu_num": target.compute_units}
    return {column: str(value) for column, value in stated.items() if value is not None}


def steps_of(rule: LookupRule, merged: MergedConfig, key: Mapping[str, str]) -> Steps:
    """The keys that a rule tries for a call. Raises KeyError when a key column has no value."""
    fitting = [k for k in rule.keys if all(column in merged.columns for column in k)]
    columns = (fitting or rule.keys[-1:])[0]
    m, n, k = (int(key[axis]) for axis in ("M", "N", "K"))
    tried = []
    for level in rule.levels:
        padded = m if level is None else get_padded_m(m, n, k, level)
        values = tuple(padded if column == "M" else key_value(key[column]) for column in columns)
        tried.append((_STATUS[level], padded, values))
    return Steps(columns, tuple(tried))


def look_up(
    tree: AiterTree, merged: MergedConfig, steps: Steps, key: Mapping[str, str], *, first_wins: bool = False
) -> TunedLookup:
    """Walks the steps over a merged table, and says why when none of them hits."""
    index = row_index(merged, steps.columns)
    answer = TunedLookup(
        status=TunedStatus.MISS,
        key={column: key[column] for column in steps.columns},
        files=merged.files,
        missing=merged.missing,
        environment=merged.environment,
        untuned_row=untuned_row(tree, merged, key),
        untuned_file=merged.variable.untuned if tree.absolute(merged.variable.untuned).is_file() else None,
        caveat=merged.failure or (None if first_wins else index.repeated),
    )
    near = _near(merged, steps, key)
    lost = next((index.lost[values] for _, _, values in steps.tried if values in index.lost), None)
    for status, padded, values in steps.tried:
        row = index.rows.get(values)
        if row is not None:
            closer = lost if lost is not None and values_of(merged, lost.row, steps.columns) != values else None
            return msgspec.structs.replace(
                answer,
                status=status,
                padded_m=padded,
                row=row,
                recorded_us=microseconds(row),
                lost_row=closer.row if closer else None,
                kept_row=closer.kept if closer else None,
                nearest=_others(near, row, closer.kept if closer else None),
            )
    if lost is not None:
        tie = f"{_place(lost.row)} and {_place(lost.kept)} recorded the same time: aiter's sort may keep either"
        return msgspec.structs.replace(
            answer,
            reason=MissReason.DROPPED_BY_MERGE,
            lost_row=lost.row,
            kept_row=lost.kept,
            nearest=_others(near, lost.kept),
            caveat=answer.caveat or (tie if lost.reason is LossReason.TIE else None),
        )
    return msgspec.structs.replace(answer, reason=_reason(merged, steps), nearest=_others(near))


def _place(row: CsvRow) -> str:
    return f"{row.file}:{row.line}"


def _same_shape(merged: MergedConfig, steps: Steps, wanted: Mapping[str, KeyValue]) -> list[CsvRow]:
    """Rows of the shape that is looked for, whatever their padded extent."""
    shape = tuple(wanted[column] for column in shape_columns(steps.columns))
    return row_index(merged, steps.columns).by_shape.get(shape, [])


def _reason(merged: MergedConfig, steps: Steps) -> MissReason:
    """Why no step hit: the fewest differences that a shipped row has from what was looked for."""
    if not merged.files:
        return MissReason.FILE_MISSING
    if not merged.rows:
        return MissReason.FILE_EMPTY
    wanted = dict(zip(steps.columns, steps.tried[0][2], strict=True))
    reachable = {padded for _, padded, _ in steps.tried}
    axis = padded_column(steps.columns)
    same = _same_shape(merged, steps, wanted)
    if not same:
        return MissReason.NO_SUCH_NK
    near = [row for row in same if key_value(merged.value(row, axis)) in reachable]
    others = [column for column in steps.columns if column not in (*SHAPE, *_GPU)]
    differences = [{c for c in steps.columns if c != axis and key_value(merged.value(r, c)) != wanted[c]} for r in near]
    if not differences:
        return MissReason.M_DIFFERS
    fewest = min(differences, key=lambda d: ("gfx" in d, "cu_num" in d, len(d)))
    if fewest & set(others) and not fewest & set(_GPU):
        return MissReason.DTYPE_DIFFERS
    return MissReason.GFX_DIFFERS if "gfx" in fewest else MissReason.CU_NUM_DIFFERS


def _near(merged: MergedConfig, steps: Steps, key: Mapping[str, str]) -> list[CsvRow]:
    """Rows of the same N and K (and B), for the same GPU first, then by distance in M."""
    wanted = {c: key_value(key[c]) for c in steps.columns}
    axis = padded_column(steps.columns)
    m = int(key[axis])
    found = []
    for row in _same_shape(merged, steps, wanted):
        other = [c for c in steps.columns if c not in SHAPE and key_value(merged.value(row, c)) != wanted[c]]
        distance = abs(float(merged.value(row, axis) or "inf") - m)
        found.append((bool(set(other) & set(_GPU)), bool(other), distance, row.file, row.line, row))
    return [entry[-1] for entry in sorted(found, key=lambda entry: entry[:-1])]


def _others(near: Iterable[CsvRow], *named: CsvRow | None) -> tuple[CsvRow, ...]:
    """The nearest rows without those that the answer names anyway."""
    return tuple(row for row in near if row not in named)[:NEAREST]


def untuned_row(tree: AiterTree, merged: MergedConfig, key: Mapping[str, str]) -> str | None:
    """The line to append to the untuned CSV for a call; None when a column of it is not known here."""
    path = tree.absolute(merged.variable.untuned)
    try:
        columns = read_csv(path, merged.variable.untuned).columns
    except SourceTreeError:
        return None
    if not columns or any(column not in key for column in columns):
        return None
    return ",".join(key[column] for column in columns)
