"""What Tensile's names say beyond the golden cases: values, order, and the wave arithmetic of the common view."""

from __future__ import annotations

import pytest

from tracer.names import registry, tensile_parameters

_NAME = "Cijk_Alik_Bljk_BBS_BH_MT128x96x64_MI16x16x1_SN_LDSB1_MIWT4_3_WG32_8_1"


@pytest.mark.parametrize(
    ("token", "full", "value"),
    [
        ("LDSB1", "1LDSBuffer", 1),
        ("1LDSB0", "1LDSBuffer", 0),
        ("AF1EM8", "AssertFree1ElementMultiple", 8),
        ("U64SL1", "Use64bShadowLimit", 1),
        ("NTn1", "NonTemporal", -1),
        ("GRPM0p30", "GlobalReadPerMfma", 0.3),
        ("GSUAMBSK", "GlobalSplitUAlgorithm", "MultipleBufferSingleKernel"),
        ("KLA", "KernelLanguage", "A"),
        ("ISA90a", "ISA", "gfx90a"),
        ("ASAE01", "AssertStrideAEqual", "01"),
        ("XYZ7", "XYZ", 7),
    ],
)
def test_a_token_is_read_as_parameter_and_value_and_written_back(token: str, full: str, value: object) -> None:
    read = tensile_parameters.read_token(token)
    assert read is not None
    assert (read.full, read.value) == (full, value)
    back = tensile_parameters.abbreviation(full, read.keeps_digits is True) + tensile_parameters.write_value(
        full, read.value
    )
    assert back == token


def test_parameters_out_of_order_keep_their_order_as_a_field() -> None:
    name = _NAME.replace("LDSB1_MIWT4_3", "MIWT4_3_LDSB1")
    answer = registry.decode(name)
    assert answer.fields["parameter_order"] == ["MIWaveTile", "1LDSBuffer", "WorkGroup"]
    assert registry.format_name(answer) == name
    assert "parameter_order" not in registry.decode(_NAME).fields


def test_the_view_derives_waves_from_tile_and_wave_tile() -> None:
    view = registry.view(registry.decode(_NAME))
    assert view is not None
    assert (view.tile_m, view.tile_n, view.tile_k) == (128, 96, 64)
    assert (view.wave_tile_m, view.wave_tile_n) == (64, 48)
    assert (view.waves_m, view.waves_n, view.waves_k) == (2, 2, 1)
    assert view.threads_per_block == 256
    assert (view.layout_a, view.layout_b) == ("row", "col")


def test_the_three_spellings_of_one_problem_type_say_the_same() -> None:
    old, middle, new = (
        registry.decode(f"Cijk_Alik_Bljk_{problem}_MT16x16x64_MI16x16x1_SN_LDSB1").fields
        for problem in ("BBS_BH_Bias_HAS_SAV", "B_BS_BH_Bias_HA_S_SAV", "BBS_BH_Bias_HA_S_SAV")
    )
    for fields in (middle, new):
        assert {**fields, "problem_type": ""} == {**old, "problem_type": ""}
