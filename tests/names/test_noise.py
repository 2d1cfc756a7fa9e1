"""What profilers, shells and spreadsheets put around a name comes off, and nothing of the name does."""

from __future__ import annotations

import pytest

from tracer.names import noise, registry

NAME = "a8w8_blockscale_1x128x128_256x128x128x128_16x16_32x32_8x32x1_8x32x1_1x32x1x8_8_1x1_intrawave_v3"


@pytest.mark.parametrize(
    "text",
    [
        NAME, f"  {NAME}\n", f"{NAME}.kd", f"{NAME} [clone .kd]", f"{NAME}(.kd)", f'"{NAME}"', f"'{NAME}'", f"{NAME},",
        f"\ufeff{NAME}\r\n", f'"{NAME}.kd",', f"\u201c{NAME}\u201d", f"{NAME} [clone .kd].kd",
    ],
)  # fmt: skip
def test_noise_comes_off(text: str) -> None:
    cleaned = noise.clean(text)
    assert cleaned.name == NAME
    assert not cleaned.cut
    assert registry.decode(text).fields == registry.decode(NAME).fields
    assert registry.decode(text).text == text


@pytest.mark.parametrize("dots", ["...", "\u2026"])
def test_dots_at_the_end_say_that_the_name_was_cut_off(dots: str) -> None:
    cleaned = noise.clean(NAME[:60] + dots)
    assert cleaned.cut
    assert cleaned.name == NAME[:60]


@pytest.mark.parametrize(
    "name", ["void f<1>(int)", "f(int)", "[CUDA memset]", "Memcpy HtoD (Host -> Device)", "a.kd_b", "it's", ""]
)
def test_what_belongs_to_a_name_stays(name: str) -> None:
    assert noise.clean(name).name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("f" + ".kd" * 200_000, "f"),
        ("f" + " [clone .kd]" * 50_000, "f"),
        ("[" * 500_000 + "]", "[" * 500_000 + "]"),
    ],
    ids=["kd", "clone", "brackets"],
)
def test_noise_is_taken_off_texts_at_which_a_quadratic_reading_would_not_end(text: str, name: str) -> None:
    assert noise.clean(text).name == name
