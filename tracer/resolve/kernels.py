"""What is known of one launch's kernel: launch, dispatch and chain in, decoded names and fields out."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.model.capture import CaptureRecord, Launch
from tracer.model.kernel import DecodedName
from tracer.model.report import FieldRow, KernelKind, KernelReport
from tracer.model.source import Dispatch, Hop, Layer
from tracer.names import registry
from tracer.names.base import Context
from tracer.names.vocabulary import SHARED

_GLOSSARY = {grammar.name: grammar.keys for grammar in registry.GRAMMARS}


def kind_of(record: CaptureRecord, launch: Launch, decoded: DecodedName | None) -> KernelKind:
    """What sort of source a kernel comes from, by how it was made, its family, and the target."""
    family = (decoded.family if decoded else None) or ""
    if launch.compiled is not None or "triton" in family:
        return KernelKind.TRITON
    if family.startswith("aiter_asm"):
        return KernelKind.ASSEMBLY
    arch = record.target.arch or ""
    if arch.startswith("gfx"):
        return KernelKind.HIP
    return KernelKind.CUDA if arch.startswith("sm_") else KernelKind.UNKNOWN


#: a longer C++ name is shown without its template arguments
LONGEST_NAME = 110


def short_name(launch: Launch, decoded: DecodedName | None = None, hops: Sequence[Hop] = ()) -> str:
    """What a page calls a kernel: its instance, else its name, cut where it is a C++ signature."""
    if launch.instance:
        return launch.instance
    if launch.kernel is None:
        named = [hop.name for hop in hops if hop.layer in (Layer.INSTANCE, Layer.KERNEL) and hop.name != "?"]
        return named[-1] if named else "?"
    return short_symbol(launch.kernel, decoded)


def short_symbol(name: str, decoded: DecodedName | None = None) -> str:
    """A kernel's own name, cut where it is a C++ signature: without result, parameters and long template arguments."""
    if decoded is not None and decoded.demangle == "ok":
        name = decoded.spelled
    if not name.startswith("void ") and "::" not in name:
        return name
    name = _without_parameters(name).removeprefix("void ")
    if len(name) > LONGEST_NAME and "<" in name:
        outer = name[: name.index("<")]
        inner = decoded.fields.get("kernel") if decoded is not None else None
        # ck_tile enters every kernel by one function: what its first argument is called says more
        name = f"{outer if not isinstance(inner, str) or outer.endswith(inner) else inner}<…>"
    return name


def _without_parameters(signature: str) -> str:
    """A demangled function without its list of parameters."""
    if not signature.endswith(")"):
        return signature
    depth = 0
    for at in range(len(signature) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(signature[at], 0)
        if depth == 0:
            return signature[:at]
    return signature


def field_rows(decoded: DecodedName) -> tuple[FieldRow, ...]:
    """Every field that a name states, with its place in the text and its glossary entry, in the name's order."""
    glossary = _GLOSSARY.get(decoded.grammar or "", {})
    rows = []
    for key, value in decoded.fields.items():
        start, end = decoded.spans[key]
        entry = glossary.get(key)
        rows.append(
            FieldRow(
                key=key,
                value=value,
                stated=decoded.spelled[start:end],
                start=start,
                end=end,
                meaning=entry.meaning if entry else None,
                unit=entry.unit if entry else None,
            )
        )
    return tuple(rows)


def symbol_rows(
    decoded: DecodedName | None, instance: DecodedName | None, dispatch: Dispatch | None
) -> tuple[FieldRow, ...]:
    """What a kernel's symbol states and its instance's name does not, as far as the source has not said it already."""
    if decoded is None or instance is None or not decoded.known or not instance.known:
        return ()
    told = {*instance.fields, *(dispatch.not_in_name if dispatch is not None else ())}
    return tuple(row for row in field_rows(decoded) if row.key not in told)


def beside_rows(dispatch: Dispatch, decoded: DecodedName | None) -> tuple[FieldRow, ...]:
    """What only the source states of an instance, with the glossary's meaning of each key."""
    own = _GLOSSARY.get((decoded.grammar if decoded else None) or "", {})
    rows = []
    for key, value in dispatch.not_in_name.items():
        entry = own.get(key) or SHARED.get(key)
        meaning, unit = (entry.meaning, entry.unit) if entry else (None, None)
        rows.append(FieldRow(key=key, value=value, stated="", start=0, end=0, meaning=meaning, unit=unit))
    return tuple(rows)


def kernel_report(
    record: CaptureRecord,
    launch: Launch,
    dispatch: Dispatch | None,
    hops: tuple[Hop, ...],
    frame_hops: int,
) -> KernelReport:
    """Decodes the names of a launch and gathers what the library's dispatch says of it."""
    keys = launch.compiled.keys if launch.compiled else None
    context = Context(target=record.target.arch, constexpr_keys=keys)
    decoded = registry.decode(launch.kernel, context) if launch.kernel else None
    instance_name = launch.instance or (dispatch.instance if dispatch else None)
    instance = registry.decode(instance_name, context) if instance_name else None
    best = instance if instance and instance.known else decoded
    return KernelReport(
        name=short_name(launch, decoded, hops),
        launch=launch,
        kind=kind_of(record, launch, decoded),
        decoded=decoded,
        instance_decoded=instance,
        fields=field_rows(best) if best else (),
        beside=beside_rows(dispatch, best) if dispatch else (),
        symbol_fields=symbol_rows(decoded, instance, dispatch),
        view=registry.view(best) if best and best.known else None,
        hops=hops,
        frame_hops=frame_hops,
        dispatch=dispatch,
    )
