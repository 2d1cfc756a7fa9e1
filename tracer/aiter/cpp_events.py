"""What a walk through host C++ passes and how it can end: plain records and the two exceptions that stop a walk."""

from __future__ import annotations

from typing import Any

import msgspec


class Undecided(Exception):
    """The walk needs a value that can't be known here.

    Attributes:
        line: where.
        text: the condition or expression, as written.
        function: the function it stands in.
    """

    def __init__(self, line: int, text: str, function: str) -> None:
        super().__init__(f"line {line}: {text}")
        self.line, self.text, self.function = line, text, function


class Refused(Exception):
    """The C++ itself refuses the call (TORCH_CHECK, throw)."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(f"line {line}: {text}")
        self.line, self.text = line, text


class Returned(Exception):
    """A function of the file returns (control flow of the walk, never seen outside)."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Event(msgspec.Struct, frozen=True):
    """Something that the walk passed.

    Attributes:
        kind: "enter" or "leave" (a function), "condition", "lookup" or "return".
        line: where.
        text: the function's name, the condition or key as written, the returned name.
        outcome: for a condition whether it held, for a look-up whether the key is in the table.
        key: for a look-up, the values.
    """

    kind: str
    line: int
    text: str
    outcome: bool | None = None
    key: tuple[Any, ...] = ()


class KernelLaunch(msgspec.Struct, frozen=True):
    """A `kernel<<<grid, block>>>` that the walk reached.

    Attributes:
        kernel: the kernel's name without template arguments; types: its template arguments, resolved where known.
        grid, block: extents; None where not known.
        line: of the launch.
        code_object: path of the kernel's code object below `AITER_ASM_DIR`, where it has one.
        loaded: the line that loads the code object.
        stack: the functions of the file that the launch stands in, outermost first.
    """

    kernel: str
    types: tuple[str, ...]
    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    line: int
    code_object: str | None = None
    loaded: int | None = None
    stack: tuple[str, ...] = ()
