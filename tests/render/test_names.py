"""A decoded name in colours: every character is there, every stated piece says what it states."""

from __future__ import annotations

import re

import pytest

from tests.names.goldens import case_names
from tests.render.markup import read
from tracer.names import registry
from tracer.render.names import coloured_name
from tracer.resolve.kernels import field_rows

NAMES = [name for _, name in case_names()][::7]


@pytest.mark.parametrize("name", NAMES)
def test_no_character_of_a_name_is_lost_or_added(name: str) -> None:
    decoded = registry.decode(name)
    words = read(coloured_name(decoded, field_rows(decoded)))
    assert "".join(words.text) == decoded.spelled
    assert {tag for tag, _ in words.tags} <= {"div", "span"}


def test_a_group_of_numbers_joined_by_x_has_one_colour() -> None:
    name = "a8w8_blockscale_1x128x128_256x16x64x256_16x16_16x16_16x16x1_16x16x1_1x16x1x16_4_1x1_intrawave_v1"
    decoded = registry.decode(name)
    page = coloured_name(decoded, field_rows(decoded))
    spans = re.findall(r'<span class="kt-g(\d)" title="([^"]*)">([^<]*)</span>', page)
    assert spans[:9] == [
        ("0", "scale_block_m = 1", "1"),
        ("0", "scale_block_n = 128", "128"),
        ("0", "scale_block_k = 128", "128"),
        ("1", "block_size = 256", "256"),
        ("1", "m_per_block = 16", "16"),
        ("1", "n_per_block = 64", "64"),
        ("1", "k_per_block = 256", "256"),
        ("2", "ak1 = 16", "16"),
        ("2", "bk1 = 16", "16"),
    ]


def test_what_was_not_understood_is_marked() -> None:
    decoded = registry.decode("a8w8_blockscale_1x128x128_256x16x64x256_16x16_oops<b>")
    page = coloured_name(decoded, field_rows(decoded))
    assert "kt-unparsed" in page
    assert "<b>" not in page
