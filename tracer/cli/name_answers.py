"""What `ktrace decode` prints of one name: a decoded name in, a JSON object (docs/json.md) or a block of text out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType

from tracer.cli.name_text import printable, value_text
from tracer.model.kernel import DecodedName, GemmView
from tracer.names import registry

if TYPE_CHECKING:
    from tracer.resolve.symbol_instances import InstanceMatch

_encode = msgspec.json.Encoder().encode


class NameAnswer(msgspec.Struct):
    """The documented object of `decode --json`, in the order of its keys; the last two are there when asked for."""

    name: str
    family: str | None
    fields: dict[str, Any]
    unparsed: list[str]
    grammar: str | None
    likely: dict[str, Any]
    demangle: str | None
    notes: tuple[str, ...]
    view: GemmView | None
    instances: list[str] | None = None
    instance_sources: list[Any] | None = None
    spelled: str | UnsetType = UNSET
    spans: dict[str, tuple[int, int]] | UnsetType = UNSET


def answer_of(
    decoded: DecodedName, *, instances: Sequence[InstanceMatch] | None = None, spans: bool = False
) -> NameAnswer:
    """The documented object of one name.

    Args:
        decoded: the name, read.
        instances: the instances that compile to this symbol; None when nobody could look.
        spans: whether to add the text that was read and where in it each field stands.
    """
    return NameAnswer(
        decoded.text,
        decoded.family,
        decoded.fields,
        [piece.text for piece in decoded.unparsed],
        decoded.grammar,
        decoded.likely,
        decoded.demangle,
        decoded.notes,
        registry.view(decoded),
        None if instances is None else [match.instance for match in instances],
        None if instances is None else list(instances),
        decoded.spelled if spans else UNSET,
        decoded.spans if spans else UNSET,
    )


def encode(value: Any) -> bytes:
    r"""`value` as one line of JSON.

    A byte that was no UTF-8 is written as the escape of its surrogate (`\udcff`), as Python's json module does.
    """
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError):
        import json  # writes lone surrogates and integers of any size, which msgspec refuses

        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()


def block(decoded: DecodedName, instances: Sequence[InstanceMatch] | None = None) -> str:
    """The name, its family, and a line a field with the text that states it."""
    lines = [printable(decoded.text) or "(empty)", f"  {'family':24} {decoded.family or 'unknown'}"]
    if decoded.spelled != decoded.text:
        lines.append(f"  {'read as':24} {printable(decoded.spelled)}")
    for key, value in decoded.fields.items():
        start, end = decoded.spans[key]
        stated = printable(decoded.spelled[start:end]) if end > start else "(not printed)"
        said = value_text(value)
        lines.append(f"  {key:24} {said}" if said == stated else f"  {key:24} {said:20} {stated}")
    lines += [f"  {f'likely {key}':24} {value_text(value)}" for key, value in decoded.likely.items()]
    for match in instances or ():
        lines.append(f"  {'instance':24} {printable(match.instance)}")
        lines.append(f"  {'  of':24} {match.family}, kernel id {match.id}, {match.file}:{match.line}")
        lines += [f"  {'  tuned row':24} {file}:{line}" for file, line in match.rows]
        if match.rows_in_total > len(match.rows):
            lines.append(f"  {'':24} and {match.rows_in_total - len(match.rows)} more rows")
    if instances is not None and not instances:
        lines.append(f"  {'instance':24} none in this aiter's tables")
    for piece in decoded.unparsed:
        reason = f"  ({printable(piece.reason)})" if piece.reason else ""
        lines.append(f"  {'not understood':24} {printable(piece.text) or '(the end)'}{reason}")
    lines += [f"  {'note':24} {printable(note)}" for note in decoded.notes]
    return "\n".join(lines) + "\n"
