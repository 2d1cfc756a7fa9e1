"""The common view: what it holds of every golden name comes from the name's fields, in one spelling."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from tests.names import goldens
from tracer.model.kernel import DecodedName, GemmView
from tracer.names import registry
from tracer.names.common_view import common_view

_DECODED = [registry.decode(name) for _, name in goldens.case_names()]
_VIEWS = [(decoded, view) for decoded in _DECODED if (view := registry.view(decoded)) is not None]
_KEYS = [field.name for field in msgspec.structs.fields(GemmView) if field.name != "likely"]
#: field -> the key of the view that must hold its number
_SAME = {
    "m_per_block": "tile_m", "n_per_block": "tile_n", "k_per_block": "tile_k", "block_size": "threads_per_block",
    "m_per_xdl": "instruction_m", "n_per_xdl": "instruction_n", "k_per_xdl": "instruction_k", "mi_m": "instruction_m",
    "mi_n": "instruction_n", "mi_k": "instruction_k", "inst_m": "instruction_m", "inst_n": "instruction_n",
    "inst_k": "instruction_k", "m_warp_tile": "instruction_m", "n_warp_tile": "instruction_n",
    "k_warp_tile": "instruction_k", "m_per_wmma": "instruction_m", "n_per_wmma": "instruction_n", "m_warp": "waves_m",
    "n_warp": "waves_n", "k_warp": "waves_k", "m_waves": "waves_m", "n_waves": "waves_n", "k_wave": "waves_k",
    "global_split_u": "split_k", "split_k": "split_k", "num_stages": "stages",
}  # fmt: skip
#: what a name states for "none" or "as many as fit", which a view leaves open
_OPEN = {("split_k", 0), ("num_stages", 0), ("global_split_u", 0)}


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield value
    elif isinstance(value, (list, tuple)):
        yield from itertools.chain.from_iterable(map(_numbers, value))
    elif isinstance(value, dict):
        yield from itertools.chain.from_iterable(map(_numbers, value.values()))


def _reckoned(decoded: DecodedName) -> set[int]:
    """Numbers that the name's fields state, their products of up to three, and exact quotients of those."""
    stated = {n for n in _numbers([*decoded.fields.values(), *decoded.likely.values()]) if n > 0} | {1}
    if any(key.startswith("double_") and value is True for key, value in decoded.fields.items()):
        stated.add(2)
    products = {a * b * c for a, b, c in itertools.product(stated, repeat=3)}
    return products | {a // b for a, b in itertools.product(stated, products) if a % b == 0}


def test_the_golden_names_have_views_of_many_grammars() -> None:
    assert len({decoded.grammar for decoded, _ in _VIEWS}) >= 18


def test_every_number_of_a_view_is_a_field_or_reckoned_from_fields() -> None:
    for decoded, view in _VIEWS:
        numbers = {key: value for key in _KEYS if isinstance(value := getattr(view, key), int)}
        known = _reckoned(decoded)
        assert not {key: value for key, value in numbers.items() if value not in known}, decoded.text


def test_a_view_holds_the_fields_that_it_has_a_place_for() -> None:
    for decoded, view in _VIEWS:
        for key, place in _SAME.items():
            value = decoded.fields.get(key)
            if value is None or isinstance(value, bool) or (key, value) in _OPEN:
                continue
            assert getattr(view, place) == value, (decoded.text, key)


def test_a_name_that_states_nothing_has_a_view_of_nothing_but_its_kind() -> None:
    grammars = {grammar.name: grammar for grammar in registry.GRAMMARS}
    for decoded, _ in _VIEWS:
        assert decoded.grammar is not None
        bare = msgspec.structs.replace(decoded, fields={}, spans={}, likely={})
        view = common_view(grammars[decoded.grammar], bare)
        # every Tensile name states by its first letters that C is stored column by column
        known = {key for key in _KEYS if view is not None and getattr(view, key) is not None}
        assert known <= ({"op", "layout_c"} if decoded.grammar == "tensile" else {"op"}), decoded.text


def test_likely_values_are_those_that_go_with_the_likely_readings() -> None:
    marked = 0
    for decoded, view in _VIEWS:
        sure = registry.view(msgspec.structs.replace(decoded, likely={}))
        for key in _KEYS:
            alone = None if sure is None else getattr(sure, key)
            assert (key in view.likely) == (getattr(view, key) is not None and alone is None), (decoded.text, key)
        marked += bool(view.likely)
        assert not view.likely or decoded.likely
    assert marked


def test_layouts_and_types_have_one_spelling() -> None:
    for decoded, view in _VIEWS:
        for key in ("layout_a", "layout_b", "layout_c"):
            spelled = getattr(view, key)
            assert spelled is None or spelled in ("row", "col") or len(spelled) > 2, (decoded.text, key, spelled)
        for key in ("dtype_a", "dtype_b", "dtype_c", "dtype_acc"):
            spelled = getattr(view, key)
            assert spelled not in ("f16", "half", "b16", "f32", "float", "s", "e4m3", "s8", "i8", "s32", "i32"), (
                decoded.text
            )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cutlass_tensorop_s16816gemm_bf16_128x64_32x6_tn_align8", ("row", "col", None)),
        ("Cijk_Alik_Bljk_BBS_BH_MT128x96x64_MI16x16x1_SN_LDSB1_MIWT4_3_WG32_8_1", ("row", "col", "col")),
        ("_matmul_ogs_NNT_bf16xbf16xmxfp4_128x256x64x1_swiglu", ("row", "col", "row")),
        ("DeviceGemmXdlUniversal<Default, RCR> BlkSize: 256, BlkTile: 128x128x64, WaveTile: 32x32, WaveMap: 2x2, "
         "VmemReadVec: 8x8, BlkGemmPipelineScheduler: Intrawave, BlkGemmPipelineVersion: v3, "
         "BlkGemmPipelinePrefetchStages: 2", ("row", "col", "row")),
    ],
)  # fmt: skip
def test_one_storage_order_has_one_word_in_all_libraries(name: str, expected: tuple[str | None, ...]) -> None:
    view = registry.view(registry.decode(name))
    assert view is not None
    assert (view.layout_a, view.layout_b, view.layout_c) == expected
