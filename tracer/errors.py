"""The errors ktrace raises on purpose, each with the exit code that the command line answers with.

KtraceError            exit 1: the work failed
|- UsageError          exit 2: the command was called wrongly (unknown op, bad shape, bad target)
|- GateError           exit 3: a gate that was asked for (--fail-on ...) did not hold
|- CaptureError        a run of the op could not be captured (child died, op raised before a record was made)
|- RecordError         a record file is truncated, of a newer schema, or no record at all
|- TraceError          a trace file from which nothing could be read
|- SourceTreeError     aiter (or another source tree) is missing, broken, or of an unknown layout
|- CodeObjectError     a code object, bundle or assembly text that can't be read
|- RenderError         a page or site could not be written
`- NameSyntaxError     a kernel name claims a grammar and breaks it (registry.decode turns it into an answer)
"""

from __future__ import annotations


class KtraceError(Exception):
    """Something ktrace can explain: what failed, what was expected, what to do next.

    Attributes:
        message: the input and the part that failed, in one sentence.
        expected: what would have been accepted, or None.
        hint: the next step for the user, or None.
        exit_code: the process's exit status.
    """

    exit_code = 1

    def __init__(self, message: str, *, expected: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.hint = hint

    def __str__(self) -> str:
        parts = [self.message]
        if self.expected:
            parts.append(f"expected: {self.expected}")
        if self.hint:
            parts.append(f"next step: {self.hint}")
        return "\n".join(parts)


class UsageError(KtraceError):
    """The command was called wrongly."""

    exit_code = 2


class GateError(KtraceError):
    """A gate that the user asked for did not hold."""

    exit_code = 3


class CaptureError(KtraceError):
    """A run of the op could not be captured."""


class RecordError(KtraceError):
    """A record file cannot be read."""


class TraceError(KtraceError):
    """A trace file from which nothing could be read."""


class SourceTreeError(KtraceError):
    """A source tree (aiter) is missing, broken, or of an unknown layout."""


class CodeObjectError(KtraceError):
    """A code object, a bundle of them, or an assembly text from which nothing could be read."""


class RenderError(KtraceError):
    """A page or a site could not be written."""


class NameSyntaxError(KtraceError):
    """A kernel name claims a grammar and breaks it.

    Attributes:
        text: the whole name.
        start: offset in `text` at which the grammar stopped.
        end: offset just past the part that broke it.
    """

    def __init__(self, text: str, start: int, end: int, message: str, *, expected: str | None = None) -> None:
        super().__init__(message, expected=expected)
        self.text = text
        self.start = start
        self.end = end
