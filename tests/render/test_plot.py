"""The roofline drawing: well-formed, self-contained, with its points where they belong."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from tests import handmade
from tracer.analyse.roofline import Time, analyse_roofline
from tracer.devices.registry import get_device
from tracer.model.evidence import Evidence
from tracer.model.roofline import RooflinePoint
from tracer.ops.gemm import blockscale_work
from tracer.pipeline import build_report
from tracer.render.plot import roofline_svg


def point(device: str = "MI300X", us: float | None = None, quoted: float | None = None) -> RooflinePoint:
    return analyse_roofline(
        blockscale_work(128, 1536, 7168, 2),
        get_device(device),
        device_evidence=Evidence.ASSUMED,
        measured=Time(us=us, how="graph") if us else None,
        quoted=Time(us=quoted, how="tuner") if quoted else None,
    )


def draw(roofline: RooflinePoint) -> ElementTree.Element:
    svg = roofline_svg(roofline, lambda key: f"<{key}>")
    assert svg is not None
    return ElementTree.fromstring(svg)


def centres(svg: ElementTree.Element) -> dict[str, tuple[float, float]]:
    return {c.get("class", ""): (float(c.get("cx", 0)), float(c.get("cy", 0))) for c in svg.iter("circle")}


def test_a_drawing_is_well_formed_and_names_nothing_outside_itself() -> None:
    svg = roofline_svg(point(us=20.0, quoted=18.0), str)
    assert svg is not None
    ElementTree.fromstring(svg)
    assert not re.search(r"https?:|href|<script|url\(|<image|<style", svg)
    assert "\n" not in svg


def test_labels_are_escaped() -> None:
    assert "<plot.peak>" in "".join(draw(point()).itertext())


def test_slower_times_lie_lower_over_one_intensity() -> None:
    found = centres(draw(point(us=40.0, quoted=18.0)))
    assert set(found) == {"mark-roof", "mark-measured", "mark-quoted"}
    assert len({x for x, _ in found.values()}) == 1
    assert found["mark-roof"][1] < found["mark-quoted"][1] < found["mark-measured"][1]


def test_the_point_on_the_roof_lies_on_the_slope_of_the_bandwidth() -> None:
    svg = draw(point())
    x, y = centres(svg)["mark-roof"]
    (roof,) = svg.iter("polyline")
    (x0, y0), (x1, y1), _ = (tuple(map(float, p.split(","))) for p in roof.get("points", "").split())
    assert y == pytest.approx(y0 + (y1 - y0) * (x - x0) / (x1 - x0), abs=1.0)


def test_a_time_above_the_roof_is_drawn_above_it_and_inside_the_frame() -> None:
    found = centres(draw(point(us=0.2)))
    assert 0 < found["mark-measured"][1] < found["mark-roof"][1]


def test_an_unknown_peak_draws_the_slope_alone() -> None:
    svg = draw(point("MI308X"))
    (roof,) = svg.iter("polyline")
    assert len(roof.get("points", "").split()) == 2
    assert "<plot.peak>" not in "".join(svg.itertext())


def test_a_dry_record_draws_no_measured_point() -> None:
    report = build_report(handmade.blockscale())
    assert report.roofline is not None
    assert set(centres(draw(report.roofline))) == {"mark-roof", "mark-quoted"}
