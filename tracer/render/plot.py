"""The roofline as a drawing: a RooflinePoint in, an inline SVG out, without a script, a font or an address in it.

Colours come from classes of the site's style sheet, with `currentColor` beneath: it reads on light and on dark pages.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator

import msgspec

from tracer.model.roofline import RooflinePoint

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 76, 16, 18, 48
#: key of a language file -> text
Label = Callable[[str], str]


class Mark(msgspec.Struct, frozen=True):
    """A point to draw.

    Attributes:
        flops_per_s: its height.
        label: what it is.
        css: class of the style sheet: "measured", "quoted" or "roof".
    """

    flops_per_s: float
    label: str
    css: str


def marks(point: RooflinePoint, label: Label) -> list[Mark]:
    """The points of a roofline: what was measured, what somebody quotes, and the roof over this intensity."""
    drawn = []
    for us, key in ((point.measured_us, "measured"), (point.quoted_us, "quoted"), (point.floor_us, "roof")):
        if us is not None and us > 0:
            drawn.append(Mark(point.work.flops / us * 1e6, label(f"plot.{key}"), key))
    return drawn


def _decades(low: float, high: float) -> range:
    return range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)


def _power(exponent: int, unit: str) -> str:
    prefixes = {0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
    base = exponent // 3 * 3
    return f"{10 ** (exponent - base)} {prefixes.get(base, f'1e{base} ')}{unit}"


class _Axes(msgspec.Struct, frozen=True):
    """The part of the plane that is shown, on logarithmic axes: intensity along x, FLOP/s along y."""

    low_x: float
    high_x: float
    low_y: float
    high_y: float

    def x(self, intensity: float) -> float:
        """Pixels from the left."""
        share = math.log10(intensity / self.low_x) / math.log10(self.high_x / self.low_x)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(self, flops_per_s: float) -> float:
        """Pixels from the top."""
        share = math.log10(flops_per_s / self.low_y) / math.log10(self.high_y / self.low_y)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


def _axes(intensity: float, bandwidth: float, peak: float | None, points: list[Mark]) -> _Axes:
    """Axes that hold the kernel, the ridge, the roof and the points, with room around them."""
    ridge = peak / bandwidth if peak else None
    low_x = 10 ** math.floor(math.log10(min(x for x in (intensity, ridge) if x)) - 0.7)
    high_x = 10 ** math.ceil(math.log10(max(x for x in (intensity, ridge) if x)) + 0.5)
    top = max([peak or bandwidth * high_x, *(m.flops_per_s for m in points)])
    high_y = 10 ** math.ceil(math.log10(top) + 0.15)
    return _Axes(low_x, high_x, min([bandwidth * low_x, *(m.flops_per_s * 0.6 for m in points)]), high_y)


def _text(px: float, py: float, words: str, css: str = "", anchor: str = "start") -> str:
    return f'<text x="{px}" y="{py}" text-anchor="{anchor}" class="{css}">{html.escape(words)}</text>'


def _grid(axes: _Axes) -> Iterator[str]:
    """A line a decade, with its number."""
    for exponent in _decades(axes.low_x, axes.high_x):
        px = axes.x(10.0**exponent)
        yield f'<line class="grid" x1="{px}" y1="{TOP}" x2="{px}" y2="{HEIGHT - BOTTOM}"/>'
        words = f"{10**exponent:,}" if exponent >= 0 else str(10.0**exponent)
        yield _text(px, HEIGHT - BOTTOM + 18, words, "tick", "middle")
    for exponent in _decades(axes.low_y, axes.high_y):
        py = axes.y(10.0**exponent)
        yield f'<line class="grid" x1="{LEFT}" y1="{py}" x2="{WIDTH - RIGHT}" y2="{py}"/>'
        yield _text(LEFT - 8, py + 4, _power(exponent, ""), "tick", "end")


def _roof(axes: _Axes, bandwidth: float, peak: float | None, intensity: float, label: Label) -> Iterator[str]:
    """The slope of the bandwidth and, where it is known, the peak that it ends at."""
    ridge = peak / bandwidth if peak else None
    knee = min(ridge or axes.high_x, axes.high_x)
    roof = f"{axes.x(axes.low_x)},{axes.y(bandwidth * axes.low_x)} {axes.x(knee)},{axes.y(bandwidth * knee)}"
    if peak:
        px, py = axes.x(knee), axes.y(peak)
        roof += f" {axes.x(axes.high_x)},{py}"
        words = f"{label('plot.peak')} {_rate(peak, 'FLOP/s')}"
        yield _text(WIDTH - RIGHT - 4, py - 8, words, "roof-label", "end")
        yield f'<line class="ridge" x1="{px}" y1="{py}" x2="{px}" y2="{HEIGHT - BOTTOM}"/>'
        yield _text(px + 5, HEIGHT - BOTTOM - 6, f"{label('plot.ridge')} {ridge:,.0f}", "tick")
    yield f'<polyline class="roof" fill="none" points="{roof}"/>'
    middle = math.sqrt(axes.low_x * min(knee, max(intensity, axes.low_x * 10)))
    yield _text(axes.x(middle) + 10, axes.y(bandwidth * middle) + 16, _rate(bandwidth, "B/s"), "roof-label")


def _points(axes: _Axes, points: list[Mark], intensity: float) -> Iterator[str]:
    """The kernel's intensity as a line, and on it what was measured, quoted and possible."""
    px = axes.x(intensity)
    yield f'<line class="here" x1="{px}" y1="{TOP}" x2="{px}" y2="{HEIGHT - BOTTOM}"/>'
    left = (px - 9, "end") if px > LEFT + 190 else (px + 9, "start")
    right = (px + 9, "start") if px < WIDTH - RIGHT - 190 else (px - 9, "end")
    for mark in points:
        py = axes.y(mark.flops_per_s)
        on_roof = mark.css == "roof"
        hollow = ' fill="none"' if on_roof else ""
        yield f'<circle class="mark-{mark.css}" cx="{px}" cy="{py}" r="5"{hollow}/>'
        words = f"{mark.label}: {_rate(mark.flops_per_s, 'FLOP/s')}"
        # the roof's own label stands above it to the left, where the slope has not yet come
        at, anchor = left if on_roof else right
        yield _text(at, py + (-8 if on_roof else 16), words, "mark-label", anchor)


def roofline_svg(point: RooflinePoint, label: Label) -> str | None:
    """Draws a roofline.

    Args:
        point: what to draw.
        label: key of a language file -> text.

    Returns:
        The SVG on one line, or None when the memory ceiling is not known (nothing to draw a slope from).
    """
    bandwidth, peak = point.memory.per_s, point.compute.per_s
    if not bandwidth:
        return None
    intensity = point.work.arithmetic_intensity
    points = marks(point, label)
    axes = _axes(intensity, bandwidth, peak, points)
    parts = [*_grid(axes), *_roof(axes, bandwidth, peak, intensity, label), *_points(axes, points, intensity)]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, label("plot.x"), "axis", "middle"))
    parts.append(
        f'<text class="axis" text-anchor="middle" transform="translate(14 {(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)">'
        f"{html.escape(label('plot.y'))}</text>"
    )
    title = html.escape(label("plot.title"))
    return (
        f'<svg class="kt-roofline" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}" '
        f'font-size="12" fill="currentColor" stroke="none"><title>{title}</title>{"".join(parts)}</svg>'
    )


def _rate(value: float, unit: str) -> str:
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"
