"""`ktrace devices`: a table, one device with every source, JSON Lines, and a name that does not exist."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from tests.cli.conftest import Answer
from tracer.devices.registry import all_devices

Ktrace = Callable[..., Answer]


def test_every_device_has_a_line(ktrace: Ktrace) -> None:
    answer = ktrace("devices")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert len(lines) == len(all_devices()) + 1
    assert next(line.split()[:6] for line in lines if line.startswith("MI300X")) == [
        "MI300X", "gfx942", "304", "5.30", "1,307.4", "2,614.9",
    ]  # fmt: skip


def test_what_is_not_public_reads_unknown(ktrace: Ktrace) -> None:
    assert "unknown" in next(line for line in ktrace("devices").out.splitlines() if line.startswith("MI308X"))
    assert (
        "clock_mhz                             unknown  not public; tables disagree (?)"
        in ktrace("devices", "MI308X").out
    )


def test_a_device_shows_every_figure_with_its_source(ktrace: Ktrace) -> None:
    out = ktrace("devices", "mi355x").out
    assert "MI355X: AMD Instinct MI355X (AMD, gfx950)" in out
    assert re.search(r"fp16 +2\.5166e\+15  4096 FLOP/clk/CU x 256 CUs x 2400 MHz", out)
    assert "assumed for                    gfx950 with 256 compute units" in out


def test_json_has_one_object_a_device_with_values_and_sources(ktrace: Ktrace) -> None:
    objects = [json.loads(line) for line in ktrace("devices", "--json").out.splitlines()]
    assert [o["key"] for o in objects] == [d.key for d in all_devices()]
    mi308x = next(o for o in objects if o["key"] == "MI308X")
    assert mi308x["clock_mhz"]["value"] is None
    assert mi308x["compute_units"] == {
        "value": 80.0, "source": "rocprof-compute soc file (V): 4 XCDs x 20; aiter chip_info (V)",
    }  # fmt: skip
    assert mi308x["vgprs_per_simd"]["value"] == 512
    assert mi308x["registers_per_sm"] is None


def test_an_unknown_device_is_wrong_usage_with_the_nearest_names(ktrace: Ktrace) -> None:
    answer = ktrace("devices", "MI300")
    assert answer.code == 2
    assert "MI300X" in answer.err
    assert "Traceback" not in answer.err
