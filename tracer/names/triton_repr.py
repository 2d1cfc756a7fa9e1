"""aiter's Triton names with their configuration: in comes `_gemm_a16_w16_kernel_HAS_BIAS_1_...`, out come constexprs.

    {kernel}[_{KEY}_{VALUE}]...

Keys and values both contain underscores, so the keys must be known: from the kernel's own declaration
(`Context.constexpr_keys`), else from the table of aiter's declarations (`triton_keys.py`). Where neither fits, every
known key is looked for, and a note says that the reading is a guess. Values are integers, or text without lower-case
letters: None and "" both print NONE, True prints 1, `.cg` prints CG; a key that is no constexpr of the kernel prints
NONE too. A value ends where the next key begins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import ClassVar

from tracer.errors import NameSyntaxError
from tracer.model.kernel import DecodedName, FieldValue, GemmView, Span
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.stated_view import stated_view
from tracer.names.triton_guess import Pairs, guess, looks_like_pairs
from tracer.names.triton_keys import declared_keys
from tracer.names.vocabulary import pick

_FAMILY = "aiter_triton_repr"
#: an integer (most are), several joined by underscores, or a symbol in capitals
_VALUE = r"(?:[0-9]++(?=_[A-Za-z]|\Z)|-?[0-9][A-Z0-9.]*?(?:_-?[0-9.]+)*?|[A-Z][A-Z0-9._]*?)"
#: known kernels are looked up by the first characters of the name
_HEAD = 8
#: longer texts are no kernel names, and looking for keys in them would be slow
_LONGEST = 4096
#: field <- the first of these keys that the name prints with an integer
_DERIVED = {
    "m_per_block": ("BLOCK_SIZE_M", "BLOCK_M"),
    "n_per_block": ("BLOCK_SIZE_N", "BLOCK_N"),
    "k_per_block": ("BLOCK_SIZE_K", "BLOCK_K"),
    "num_stages": ("num_stages",),
    "num_warps": ("num_warps",),
    "split_k": ("NUM_KSPLIT",),
    "causal": ("IS_CAUSAL", "CAUSAL", "causal"),
}
_GUESS_NOTE = (
    "ambiguous: no declaration at hand fits this name, so keys known from other kernels were looked for; "
    "the kernel's own key list settles it"
)


class _Values(dict[str, FieldValue]):
    """Printed values, read: an integer as an integer, everything else as printed. Names share few of them."""

    def __missing__(self, printed: str) -> FieldValue:
        digits = printed[1:] if printed.startswith("-") else printed
        number = digits.isascii() and digits.isdigit() and _canonical(digits) and printed != "-0"
        value = int(printed) if number else printed
        if len(self) < 4096:
            self[printed] = value
        return value


def _canonical(digits: str) -> bool:
    """Whether Python prints this number as these digits."""
    return len(digits) <= 18 and (digits == "0" or digits[0] != "0")


_value = _Values().__getitem__


@lru_cache(maxsize=2048)
def _suffix(keys: tuple[str, ...]) -> re.Pattern[str]:
    """What follows the base name for one key list, a group a value.

    Atomic groups: a value ends at the first place where the next key begins, and is not tried again. A key that is
    listed twice must print one value twice.
    """
    ahead = [*(f"(?=_{re.escape(key)}_)" for key in keys[1:]), r"\Z"]
    values = [_VALUE if keys.index(key) == i else rf"\{keys.index(key) + 1}" for i, key in enumerate(keys)]
    return re.compile(
        "".join(f"(?>_{re.escape(key)}_({value}){end})" for key, value, end in zip(keys, values, ahead, strict=True))
    )


@lru_cache(maxsize=2048)
def _repeating(base: str) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """The key lists of a kernel that print some key twice: distinct keys -> keys as printed."""
    lists = declared_keys().get(base, ())
    return {distinct: keys for keys in lists if len(distinct := tuple(dict.fromkeys(keys))) < len(keys)}


@cache
def _by_head() -> Mapping[str, tuple[tuple[str, int, tuple[tuple[str, ...], ...]], ...]]:
    """First characters -> (base name with its underscore, its length, its key lists), longest base name first."""
    heads: dict[str, list[tuple[str, int, tuple[tuple[str, ...], ...]]]] = {}
    for base, lists in declared_keys().items():
        heads.setdefault(base[:_HEAD], []).append((f"{base}_", len(base), lists))
    return {head: tuple(sorted(rows, key=lambda row: -row[1])) for head, rows in heads.items()}


class TritonRepr(Grammar):
    """aiter's Triton and Gluon kernels that print their configuration."""

    name = "triton_repr"
    families = (_FAMILY,)
    formal = frozenset(families)
    link = "https://github.com/ROCm/aiter/blob/main/aiter/ops/triton/utils/_triton/kernel_repr.py"
    keys: ClassVar[Mapping[str, Key]] = {
        **pick(
            "causal", "base_name", "m_per_block", "n_per_block", "k_per_block", "num_stages", "num_warps", "split_k"
        ),
        "constexprs": Key("Configuration: the kernel's constexpr keys with the symbols printed for their values."),
    }

    def accepts(self, name: str) -> bool:
        """Says whether `name` is a known kernel with one of its first keys, or shows at least two known pairs."""
        if not _possible(name):
            return False
        for base, end, lists in _by_head().get(name[:_HEAD], ()):
            if name.startswith(base) and any(name.startswith(f"{keys[0]}_", end + 1) for keys in lists):
                return True
        return looks_like_pairs(name)

    def read(self, name: str, context: Context = NO_CONTEXT) -> DecodedName | None:
        """Reads a known kernel by its declaration at once; asks `accepts` for every other name."""
        if not context.constexpr_keys and _possible(name):
            answer = _declared(name)
            if answer is not None:
                return answer
        return super().read(name, context)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        """Reads `name` by the keys that `context` gives, by the table, or by guess."""
        if context.constexpr_keys:
            pairs = guess(name, None, context.constexpr_keys)
            if pairs is not None and not pairs.rest:
                return _answer(name, pairs, ())
        answer = _declared(name)
        if answer is not None:
            return answer
        known = [end for base, end, _ in _by_head().get(name[:_HEAD], ()) if name.startswith(base)]
        pairs = guess(name, known[0] if known else None)
        if pairs is None or pairs.keys in _repeating(name[: pairs.base_end]):
            expected = "the keys that the kernel declares"
            raise NameSyntaxError(name, known[0] if known else 0, len(name), "no reading fits", expected=expected)
        return _answer(name, pairs, (_GUESS_NOTE,))

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        """Writes the name: base name and pairs, in their order."""
        if family != _FAMILY:
            return super().format(family, fields)
        base, pairs = fields.get("base_name"), fields.get("constexprs")
        if not isinstance(base, str) or not isinstance(pairs, Mapping):
            raise ValueError("a Triton name needs base_name and constexprs")
        for key, (value, _) in _derived(tuple(pairs), list(pairs.values())).items():
            if fields.get(key, value) != value:
                raise ValueError(f"{key} is {fields[key]!r} but the constexprs say {value!r}")
        printed = _repeating(base).get(tuple(pairs), tuple(pairs))
        return base + "".join(f"_{key}_{pairs[key]}" for key in printed)

    def view(self, decoded: DecodedName) -> GemmView | None:
        """The tile, where the kernel has one of all three extents."""
        f = decoded.fields
        if "k_per_block" not in f:
            return None
        return stated_view(f, None, stages=f.get("num_stages"))


def _possible(name: str) -> bool:
    """Whether `name` is a word, or one with a negative or fractional number, and no longer than kernel names are."""
    return len(name) <= _LONGEST and (name.isidentifier() or name.replace("-", "_").replace(".", "_").isidentifier())


def _declared(name: str) -> DecodedName | None:
    """Reads `name` by the declaration of a known kernel; None when no declaration fits."""
    for base, end, lists in _by_head().get(name[:_HEAD], ()):
        if name.startswith(base):
            for keys in lists:
                m = _suffix(keys).fullmatch(name, end)
                if m is not None:
                    return _answer(name, Pairs(end, keys, m.groups(), m.regs[1:]), ())
    return None


@lru_cache(maxsize=2048)
def _places(keys: tuple[str, ...]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """For each field that other families have too, the positions in `keys` that may say it, in order of preference."""
    places = ((field, tuple(keys.index(name) for name in names if name in keys)) for field, names in _DERIVED.items())
    return tuple((field, positions) for field, positions in places if positions)


def _derived(keys: tuple[str, ...], values: Sequence[FieldValue]) -> dict[str, tuple[FieldValue, int]]:
    """Field -> value and position, where a constexpr says what other families have a field for."""
    found: dict[str, tuple[FieldValue, int]] = {}
    for field, places in _places(keys):
        for place in places:
            value = values[place]
            if type(value) is int and field != "causal":
                found[field] = (value, place)
                break
            if field == "causal" and (value == 0 or value == 1):
                found[field] = (value == 1, place)
                break
    return found


def _answer(name: str, pairs: Pairs, notes: tuple[str, ...]) -> DecodedName:
    values = list(map(_value, pairs.values))
    fields: dict[str, FieldValue] = {
        "base_name": name[: pairs.base_end],
        "constexprs": dict(zip(pairs.keys, values, strict=True)),  # a key that is printed twice stands once
    }
    spans: dict[str, Span] = {
        "base_name": (0, pairs.base_end),
        "constexprs": (pairs.base_end + 1, pairs.spans[-1][1]),
    }
    for field, (value, place) in _derived(pairs.keys, values).items():
        fields[field] = value
        spans[field] = pairs.spans[place]
    return DecodedName(name, name, "triton_repr", _FAMILY, fields, spans, pairs.rest, notes=notes)
