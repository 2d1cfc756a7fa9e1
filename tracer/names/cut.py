"""What a name that was cut off does not state: in comes its reading, out comes what of it the cut leaves certain.

The last token before a cut may be the beginning of a longer one (`M_12` of `M_128`), and whether an option that is not
printed would have followed is not known.
"""

from __future__ import annotations

import msgspec

from tracer.model.kernel import DecodedName, Unparsed


def without_the_cut(answer: DecodedName) -> DecodedName:
    """Takes the fields that touch the end of the text, and those stated by leaving a token out there, off `answer`.

    Fields that the family states (empty span at the beginning) stay. Of a mapping that touches the end, the last entry
    goes. Of likely readings, those printed at the end and those that something is not there go. C++ text is left to its
    grammars, which count brackets and know where an argument ends.
    """
    if not answer.fields or "<" in answer.spelled:
        return answer
    if answer.likely:
        printed = answer.spelled.rstrip("_")
        likely = {k: v for k, v in answer.likely.items() if v is not False and not printed.endswith(str(v))}
        answer = msgspec.structs.replace(answer, likely=likely)
    if any(piece.text for piece in answer.unparsed):
        return answer
    end = len(answer.spelled)
    printed_to = max(stop for start, stop in answer.spans.values())
    fields, spans = dict(answer.fields), dict(answer.spans)
    first = end
    for key, (start, stop) in answer.spans.items():
        if start < stop == end:
            last = answer.spelled.rfind("_", start, end)
            if isinstance(fields[key], dict) and len(fields[key]) > 1 and last > start:
                fields[key] = dict(list(fields[key].items())[:-1])
                spans[key] = (start, last)
                first = min(first, last + 1)
            else:
                del fields[key], spans[key]
                first = min(first, start)
        elif start == stop >= printed_to:
            del fields[key], spans[key]
    if len(fields) == len(answer.fields) and first == end:
        return answer
    # what a field with a wide text no longer states may still be stated by fields inside it
    first = max(first, *(stop for _, stop in spans.values()), 0)
    rest = Unparsed(answer.spelled[first:], first, "the name was cut off here")
    return msgspec.structs.replace(answer, fields=fields, spans=spans, unparsed=(rest,))
