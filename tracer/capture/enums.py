"""The enums that aiter's modules export: C++ header text in, member values out."""

from __future__ import annotations

import enum
import re
from pathlib import Path
from typing import Any

from tracer.errors import SourceTreeError

#: headers that hold the enums, relative to csrc/include; the second exists on main only
_HEADERS = ("aiter_enum.h", "mx_quant_utils.h")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENUM = re.compile(r"\benum\s+(?:class|struct)?\s*(\w+)\s*(?::\s*[\w:]+\s*)?\{([^}]*)\}")


class _Exported(enum.IntEnum):
    __str__ = enum.Enum.__str__
    __format__ = enum.Enum.__format__


def pybind_enum(name: str, members: dict[str, int]) -> Any:
    """An enum as pybind11 exports it: a member's text is `QuantType.No`, by which aiter names modules."""
    made: Any = _Exported
    return made(name, members)


def read_enums(text: str) -> dict[str, dict[str, int]]:
    """Every enum of a C++ text: name -> member -> value, counted as C++ counts.

    Raises:
        SourceTreeError: a value is no integer literal.
    """
    found: dict[str, dict[str, int]] = {}
    for name, body in _ENUM.findall(_COMMENT.sub("", text)):
        members: dict[str, int] = {}
        following = 0
        for part in body.split(","):
            member, has_value, value = (piece.strip() for piece in part.partition("="))
            if not member:
                continue
            if has_value:
                try:
                    following = int(value, 0)
                except ValueError:
                    raise SourceTreeError(
                        f"the enum {name} gives {member} the value {value!r}", expected="an integer literal"
                    ) from None
            members[member] = following
            following += 1
        found[name] = members
    return found


def tree_enums(csrc: Path) -> dict[str, dict[str, int]]:
    """The enums of an aiter tree.

    Raises:
        SourceTreeError: the header that holds them is missing, or lacks the two that every aiter has.
    """
    found: dict[str, dict[str, int]] = {}
    for header in _HEADERS:
        path = csrc / "include" / header
        if path.is_file():
            found |= read_enums(path.read_text(encoding="utf-8", errors="replace"))
    missing = [name for name in ("ActivationType", "QuantType") if name not in found]
    if missing:
        raise SourceTreeError(
            f"{csrc / 'include' / _HEADERS[0]} does not declare {' and '.join(missing)}",
            expected="the enums that aiter's Python imports",
            hint="install aiter again, or name another tree with --aiter",
        )
    return found
