"""The view that follows from the vocabulary's keys alone, and what a grammar says in their place."""

from __future__ import annotations

from tracer.model.kernel import GemmView
from tracer.names.stated_view import exact_quotient, moe_op, stated_view

_FIELDS = {"m_per_block": 128, "n_per_block": 96, "m_warp": 2, "n_warp": 5, "dtype_a": "bf16", "swizzle": 8}


def test_a_quotient_is_stated_only_where_it_comes_out_even() -> None:
    assert exact_quotient(128, 4) == 32
    assert exact_quotient(128, 3) is None
    assert exact_quotient(128, 0) is None
    assert exact_quotient(None, 4) is None


def test_a_view_states_what_the_fields_do_and_the_wave_tile_where_it_comes_out_even() -> None:
    assert stated_view(_FIELDS, "gemm") == GemmView(
        op="gemm", tile_m=128, tile_n=96, waves_m=2, waves_n=5, wave_tile_m=64, dtype_a="bf16"
    )


def test_what_a_grammar_says_itself_stands_in_place_of_what_the_keys_state() -> None:
    view = stated_view(_FIELDS, "gemm", waves_m=None, wave_tile_n=7, pipeline="v3")
    assert (view.waves_m, view.wave_tile_m, view.wave_tile_n, view.pipeline) == (None, None, 7, "v3")


def test_a_kernel_of_a_two_stage_moe_is_named_by_its_stage() -> None:
    assert moe_op({"stage": 2}) == "moe stage 2"
    assert moe_op({}) == "moe"
    assert moe_op({}, "gemm") == "gemm"
