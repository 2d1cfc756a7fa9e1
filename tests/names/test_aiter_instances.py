"""aiter's instance tables as a second opinion: a name that they build must decode to the values it was built from."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.names import sources
from tracer.names import registry

_TILE = {
    "BLOCK_SIZE": "block_size", "MPerBLOCK": "m_per_block", "NPerBLOCK": "n_per_block", "KPerBLOCK": "k_per_block",
}  # fmt: skip
_CLASSIC = {
    **_TILE, "ABLOCK_TRANSFER": "a_block_transfer", "BBLOCK_TRANSFER": "b_block_transfer",
    "CBLOCK_TRANSFER": "c_block_transfer", "CBLOCK_SPV": "c_block_spv", "CSHUFFLE_MX_PER_WAVE_PERSHUFFLE": "cshuffle_m",
    "CSHUFFLE_NX_PER_WAVE_PERSHUFFLE": "cshuffle_n", "PIPELINE_VERSION": "pipeline_version",
}  # fmt: skip
_XDL = {**_CLASSIC, "AK1": "ak1", "BK1": "bk1", "MPerXDL": "m_per_xdl", "NPerXDL": "n_per_xdl"}
_SCALED = {
    **_XDL, "ScaleBlockM": "scale_block_m", "ScaleBlockN": "scale_block_n", "ScaleBlockK": "scale_block_k",
}  # fmt: skip
_MAPPED = {
    **_CLASSIC, "WAVE_TILE_M": "m_per_xdl", "WAVE_TILE_N": "n_per_xdl", "WAVE_MAP_M": "m_xdl_per_wave",
    "WAVE_MAP_N": "n_xdl_per_wave",
}  # fmt: skip
_CKTILE = {
    "MTile": "m_per_block", "NTile": "n_per_block", "KTile": "k_per_block", "MWarp": "m_warp", "NWarp": "n_warp",
    "KWarp": "k_warp", "MWTile": "m_warp_tile", "NWTile": "n_warp_tile", "KWTile": "k_warp_tile",
    "BlockPerCu": "block_per_cu", "sTileParitionerGroupNum": "tile_partitioner_group_num",
    "sTileParitionerM01": "tile_partitioner_m01", "PadM": "pad_m", "sTransposeC": "transpose_c",
}  # fmt: skip
_CKTILE_SCALED = {
    "M_Tile": "m_per_block", "N_Tile": "n_per_block", "K_Tile": "k_per_block", "M_Warp": "m_warp", "N_Warp": "n_warp",
    "K_Warp_Tile": "k_warp_tile", "TransposeC": "transpose_c", "UsePersistentKernel": "persistent",
    "BlockPerCu": "block_per_cu", "AQRowMajor": "aq_row_major",
}  # fmt: skip
_DEEPGEMM = {
    **_TILE, "WAVE_TILE_M": "m_warp_tile", "WAVE_TILE_K": "k_warp_tile", "WAVE_MAP_M": "m_warp", "WAVE_MAP_N": "n_warp",
}  # fmt: skip
_OPUS = {
    "BLOCK_SIZE": "block_size", "B_M": "m_per_block", "B_N": "n_per_block", "B_K": "k_per_block", "T_M": "m_warp",
    "T_N": "n_warp", "W_M": "m_warp_tile", "W_N": "n_warp_tile", "W_K": "k_warp_tile", "GROUP_M": "scale_block_m",
    "GROUP_N": "scale_block_n", "GROUP_K": "scale_block_k", "has_oob": "has_oob", "is_4g_safe": "safe_4g",
}  # fmt: skip
_OPUS_MOE = {"block_m": "m_per_block", "block_n": "n_per_block", "sort_block_m": "sort_block_m", "out_mode": "out_mode"}

_TABLES = [
    ("ck_gemm_a8w8/gemm_a8w8_common.py", "aiter_ck_a8w8_rowwise", _MAPPED),
    ("ck_batched_gemm_a8w8/batched_gemm_a8w8_common.py", "aiter_ck_a8w8_batched_rowwise", _MAPPED),
    ("ck_batched_gemm_bf16/batched_gemm_bf16_common.py", "aiter_ck_bf16_batched", _MAPPED),
    ("ck_gemm_a8w8_bpreshuffle/gemm_a8w8_bpreshuffle_common.py", "aiter_ck_a8w8_bpreshuffle", _XDL),
    ("ck_gemm_a4w4_blockscale/gemm_a4w4_blockscale_common.py", "aiter_ck_a4w4_blockscale", _XDL),
    ("ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_common.py", "aiter_ck_a8w8_blockscale", _SCALED),
    ("ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_instance.py", "aiter_ck_a8w8_blockscale", _SCALED),
    (
        "ck_gemm_a8w8_blockscale_bpreshuffle/gemm_a8w8_blockscale_bpreshuffle_common.py",
        "aiter_ck_a8w8_blockscale_bpreshuffle",
        _SCALED,
    ),
    ("ck_deepgemm/deepgemm_common.py", "aiter_ck_deepgemm", _DEEPGEMM),
    ("opus_gemm/opus_gemm_common.py", "aiter_opus_gemm", _OPUS),
    ("opus_moe/opus_moe_common.py", "aiter_opus_moe", _OPUS_MOE),
]
_NEED_CHIP = [
    ("cktile_gemm_a8w8_bpreshuffle/gemm_a8w8_bpreshuffle_cktile_common.py", "aiter_cktile_a8w8_bpreshuffle", _CKTILE),
    ("ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_cktile_instance.py", "aiter_cktile_a8w8_blockscale", _CKTILE_SCALED),
]
_IDS = [Path(path).stem for path, _, _ in _TABLES]


def _compare(path: Path, family: str, columns: dict[str, str]) -> None:
    checked = 0
    for instance in sources.instances(sources.load(path)):
        # tables of contracts and reductions have names too, which no kernel or tuned row carries
        if not hasattr(instance, next(iter(columns))) or "gemmstyle" in instance.name:
            continue
        answer = registry.decode(instance.name)
        assert answer.family == family, instance.name
        assert answer.complete, (instance.name, answer.unparsed)
        assert registry.format_name(answer) == instance.name
        for column, key in columns.items():
            value = getattr(instance, column, None)
            if key in answer.fields and value is not None:
                value = [value] if key == "c_block_spv" and isinstance(value, int) else value
                assert answer.fields[key] == value, (instance.name, key)
        checked += 1
    assert checked, f"{path} has no instances"


@pytest.mark.parametrize(("path", "family", "columns"), _TABLES, ids=_IDS)
def test_names_of_the_installed_aiter_decode_to_what_they_were_built_from(
    path: str, family: str, columns: dict[str, str]
) -> None:
    _compare(sources.installed("aiter_meta") / "csrc" / path, family, columns)


@pytest.mark.aiter_main
@pytest.mark.parametrize(("path", "family", "columns"), _TABLES, ids=_IDS)
def test_names_of_aiters_main_decode_to_what_they_were_built_from(
    path: str, family: str, columns: dict[str, str], aiter_main: Path
) -> None:
    _compare(aiter_main / "csrc" / path, family, columns)


@pytest.mark.aiter_main
@pytest.mark.parametrize(("path", "family", "columns"), _NEED_CHIP, ids=[Path(row[0]).stem for row in _NEED_CHIP])
def test_ck_tile_names_of_aiters_main_decode_to_what_they_were_built_from(
    path: str, family: str, columns: dict[str, str], aiter_main: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the module asks a helper for the GPU; a stand-in answers, so that neither torch nor a GPU is needed
    chip = ModuleType("chip_info")
    monkeypatch.setattr(chip, "get_gfx", lambda: "gfx950", raising=False)
    monkeypatch.setitem(sys.modules, "chip_info", chip)
    monkeypatch.setattr(sys, "path", list(sys.path))  # the module adds a folder of aiter's
    _compare(aiter_main / "csrc" / path, family, columns)
