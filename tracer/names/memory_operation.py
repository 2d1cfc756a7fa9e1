"""Copies and fills of memory as profilers name them, and the kernels that ROCm's runtime fills and copies with.

Memcpy HtoD (Pinned -> Device)    Memset (Device)        Kineto
[CUDA memcpy Host-to-Device]      [CUDA memset]          Nsight
CopyHostToDevice                  FillBuffer             roctracer
__amd_rocclr_copyBuffer           __amd_rocclr_fillBufferAligned
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.vocabulary import pick

_KINDS = {"H": "host", "D": "device", "P": "peer", "A": "array"}
_LONG = {"Host": "H", "Device": "D", "Peer": "P", "Array": "A"}
_PLACE = "(?:Host|Device|Peer|Array)"
_FORMS = tuple(
    re.compile(form + "$")
    for form in (
        r"(?P<copy>Memcpy) (?P<direction>[HDPA]to[HDPA]) \((?P<source_memory>\w+) -> (?P<target_memory>\w+)\)",
        r"(?P<fill>Memset) \((?P<target_memory>\w+)\)",
        rf"\[CUDA (?:(?P<copy>memcpy) (?P<direction>[HDPA]to[HDPA]|{_PLACE}-to-{_PLACE})|(?P<fill>memset))\]",
        rf"(?P<copy>Copy)(?P<direction>{_PLACE}To{_PLACE})",
        r"(?P<fill>Fill)Buffer",
        r"(?P<kernel>__amd_rocclr_(?:(?P<copy>copy)|(?P<fill>fill))\w+)",
    )
)


class MemoryOperation(Grammar):
    """Copies and fills."""

    name = "memory_operation"
    families = ("memory_operation",)
    formal: ClassVar[frozenset[str]] = frozenset()
    prefixes = ("Memcpy ", "Memset ", "[CUDA mem", "CopyHost", "CopyDevice", "FillBuffer", "__amd_rocclr_")
    link = "https://github.com/pytorch/kineto/blob/main/libkineto/src/CuptiActivity.cpp"
    keys: ClassVar[Mapping[str, Key]] = {
        **pick("op", "kernel"),
        "source": Key("Where a copy comes from: host, device, peer (another GPU) or array."),
        "target": Key("Where a copy goes to: host, device, peer (another GPU) or array."),
        "source_memory": Key("Kind of memory that is read, as printed."),
        "target_memory": Key("Kind of memory that is written, as printed."),
    }

    def accepts(self, name: str) -> bool:
        return any(form.match(name) is not None for form in _FORMS)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        m = next(m for form in _FORMS if (m := form.match(name)) is not None)
        found = {key: value for key, value in m.groupdict().items() if value is not None}
        op = "copy" if "copy" in found else "fill"
        fields: dict[str, FieldValue] = {"op": op}
        spans = {"op": m.span(op)}
        if "direction" in found:
            start, end = m.span("direction")
            first, last = re.split("-to-|to|To", found["direction"])
            fields["source"], spans["source"] = _KINDS[_LONG.get(first, first)], (start, start + len(first))
            fields["target"], spans["target"] = _KINDS[_LONG.get(last, last)], (end - len(last), end)
        for key in ("source_memory", "target_memory", "kernel"):
            if key in found:
                fields[key], spans[key] = found[key], m.span(key)
        return DecodedName(name, name, self.name, self.families[0], fields, spans)
