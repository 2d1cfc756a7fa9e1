"""A C++ kernel whose parameters nobody documents: its demangled text in, its name and template arguments out.

For libraries that are closed or change their templates from release to release: what stands where is kept as printed.
"""

from __future__ import annotations

from collections.abc import Mapping

from tracer.model.kernel import DecodedName, FieldValue, Span, Unparsed
from tracer.names import cpp
from tracer.names.base import Key
from tracer.names.vocabulary import pick

KEYS: Mapping[str, Key] = {
    **pick("kernel"),
    "template_arguments": Key("The template arguments in their order, as printed."),
}


def read(function: cpp.Function, grammar: str, family: str) -> DecodedName:
    """The answer for a kernel function: name and template arguments, and what a cut leaves open."""
    text = function.text
    fields: dict[str, FieldValue] = {"kernel": function.name}
    spans: dict[str, Span] = {"kernel": (function.start, function.start + len(function.name))}
    unparsed: tuple[Unparsed, ...] = ()
    arguments = function.arguments
    if arguments is not None:
        whole = list(arguments.whole(text))
        end = arguments.span(len(whole) - 1)[1] if whole else arguments.starts[0] if arguments.starts else arguments.end
        if whole:
            fields["template_arguments"] = [item.replace("> >", ">>") for item in whole]
            spans["template_arguments"] = (arguments.starts[0], end)
        if arguments.cut and end < len(text):
            unparsed = (Unparsed(text[end:], end, "the template arguments are cut off here"),)
    return DecodedName(text, text, grammar, family, fields, spans, unparsed)
