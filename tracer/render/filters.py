"""Plain functions that templates use: values in, Markdown out. What came from a trace or a library is escaped here.

Text from outside (names, paths, docstrings, messages) is hostile until proven otherwise: it may hold HTML, Markdown,
control characters or line breaks.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from tracer.model.source import SourceRef

#: what Python-Markdown lets a backslash escape, as far as it matters inside a line
_BACKSLASH = re.compile(r"([\\`*\[\]{}|#!])")
_WORD_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_AS_ENTITY = re.compile(r"[~^$]")
_LIST_START = re.compile(r"^(\d+)([.)])(?=\s)|^([-+])(?=\s)")


def visible(text: str) -> str:
    r"""One line of printable text: line breaks, control and direction characters become `\n`, `\x1b`, `\u202e`."""
    if text.isprintable():
        return text
    return "".join(
        c if c == " " or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else _spelled(c)
        for c in text
    )


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def markdown(text: str) -> Markup:
    """Text that reads as itself inside a line of Markdown: neither HTML nor Markdown of its own."""
    line = html.escape(visible(text), quote=False)
    line = _BACKSLASH.sub(r"\\\1", line)
    line = _WORD_EDGE_UNDERSCORE.sub(r"\\_", line)
    line = _AS_ENTITY.sub(lambda m: f"&#{ord(m[0])};", line)
    if line.startswith("?"):
        line = f"&#63;{line[1:]}"  # `???` opens a block
    line = _LIST_START.sub(lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", line)
    return Markup(line)


def code(text: object) -> Markup:
    """A code span that holds exactly this text."""
    line = visible(str(text))
    if not line.strip():
        return Markup("` `") if line else Markup("``")
    fence = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return Markup(f"{fence}{pad}{line}{pad}{fence}")


def fence(text: str, language: str = "text") -> Markup:
    """A fenced block that holds exactly this text, whatever stands in it."""
    body = "\n".join(visible(line) for line in text.split("\n"))
    marks = "`" * max(3, max((len(run) for run in re.findall(r"`+", body)), default=0) + 1)
    return Markup(f"{marks}{language}\n{body}\n{marks}")


def html_text(text: object) -> Markup:
    """Text for a raw HTML block."""
    return Markup(html.escape(visible(str(text)), quote=True))


def url(address: str | None) -> str | None:
    """A web address that is safe to link to; None for anything but http and https."""
    if not address or not re.match(r"https?://[^\s/]", address):
        return None
    return quote(address, safe=":/?#@!$&*+,;=%~-._")


def place_text(ref: SourceRef) -> str:
    """`path:line`, or `path:first-last`."""
    if ref.line is None:
        return ref.file
    last = f"-{ref.end_line}" if ref.end_line is not None and ref.end_line != ref.line else ""
    return f"{ref.file}:{ref.line}{last}"


def place(ref: SourceRef | None) -> Markup:
    """A place in source as code, linked where a public address of it is known; a dash for none."""
    if ref is None:
        return Markup("–")
    address = url(ref.permalink)
    text = code(place_text(ref))
    return Markup(f"[{text}]({address})") if address else Markup(f"{text}{{ .kt-place }}")


def short_place(ref: SourceRef) -> Markup:
    """`file:line` without the folders, for lists that name the files once above."""
    return place(SourceRef(ref.file.rpartition("/")[2], ref.line, ref.tree, ref.end_line, ref.permalink))


def named_place(name: str, ref: SourceRef | None) -> Markup:
    """`[name](place)`: the name linked where an address is known, then the local `path:line`."""
    if ref is None:
        return code(name)
    address = url(ref.permalink)
    linked = Markup(f"[{code(name)}]({address})") if address else code(name)
    return Markup(f"{linked} {code(place_text(ref))}{{ .kt-place }}")


def number(value: float) -> str:
    """A figure with thousands separators, at most four significant digits behind the point."""
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"


def microseconds(value: float | None) -> str:
    """A time given in µs, with three significant digits."""
    if value is None:
        return "–"
    if value < 0.01:
        return f"{value * 1000:.3g} ns"
    return f"{value:.3g} µs" if value < 1000 else f"{value:,.0f} µs"


def _scaled(value: float, base: float, units: tuple[str, ...]) -> str:
    step = 0
    while abs(value) >= base and step < len(units) - 1:
        value /= base
        step += 1
    return f"{value:.4g} {units[step]}"


def byte_count(value: float | None) -> str:
    """Bytes in binary units."""
    return "–" if value is None else _scaled(value, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


def flop_count(value: float | None) -> str:
    """Operations in decimal units."""
    return "–" if value is None else _scaled(value, 1000, ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"))


def rate(value: float | None, unit: str) -> str:
    """A rate in decimal units: `2.615 PFLOP/s`, `5.3 TB/s`."""
    if value is None:
        return "?"
    return _scaled(value, 1000, ("", "k", "M", "G", "T", "P", "E")) + unit


def percent(value: float | None) -> str:
    """A share, never clipped."""
    return "–" if value is None else f"{value * 100:.3g} %" if value < 10 else f"{value * 100:,.0f} %"


def shortened(text: str, most: int = 72) -> str:
    """A long name with its middle left out, for tables and menus."""
    if len(text) <= most:
        return text
    tail = most // 4
    return f"{text[: most - tail - 1]}…{text[-tail:]}"


def field_value(value: Any) -> str:
    """A decoded value as a person writes it: lists joined by x, true and false in words."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        between = "x" if all(isinstance(v, int) and not isinstance(v, bool) for v in value) else ", "
        return between.join(field_value(v) for v in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={field_value(v)}" for k, v in value.items())
    return "–" if value is None else str(value)


def dims(value: tuple[int, ...] | None) -> str:
    """A grid or a block: `(12, 8, 1)`."""
    return "–" if value is None else f"({', '.join(str(v) for v in value)})"


FILTERS: dict[str, Any] = {
    "md": markdown,
    "visible": visible,
    "code": code,
    "fence": fence,
    "html": html_text,
    "place": place,
    "short_place": short_place,
    "named_place": named_place,
    "number": number,
    "us": microseconds,
    "bytes": byte_count,
    "flops": flop_count,
    "rate": rate,
    "percent": percent,
    "value": field_value,
    "shortened": shortened,
    "dims": dims,
}
