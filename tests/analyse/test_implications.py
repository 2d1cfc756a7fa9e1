"""What fields imply for a shape: each statement with its formula, and silence where an input is missing."""

from __future__ import annotations

import msgspec
import pytest

from tests import handmade
from tracer.analyse.coverage import uncovered_k
from tracer.model.capture import CaptureRecord, Resources
from tracer.model.evidence import Evidence
from tracer.model.roofline import Implication
from tracer.pipeline import build_report


def of(record: CaptureRecord, kernel: int = 0) -> dict[str, Implication]:
    kernels = [k for path in build_report(record).paths for k in path.kernels]
    return {item.key: item for item in kernels[kernel].implications}


def test_the_ck_instance_of_the_main_job() -> None:
    found = of(handmade.blockscale())
    shown = {key: (item.value, item.formula) for key, item in found.items()}
    assert shown == {
        "waves_per_block": (4, "ceil(256 / 64) = 4"),
        "wave_layout": ("1 x 4", "16 / (1 * 16) x 64 / (1 * 16) = 1 x 4"),
        "mfma_instruction": ("v_mfma_f32_16x16x32_fp8_fp8", "16x16 fp8 on gfx942"),
        "mfma_per_step": (8, "1 * 1 * (256 / 32) = 8"),
        "lds_bytes": (20480, "max((16 + 64) * 256 * 1, 16 * 64 * 4) = max(20480, 4096)"),
        "blocks_per_cu": (
            3,
            "lds: 65536 // (512 * ceil((20480) / 512)) = 65536 // 20480 = 3; slots: min(32 // 4, 16) = 8",
        ),
        "waves_per_simd": (3, "3 * 4 / 4 = 3"),
        "grid": (192, "ceil(128 / 16) * ceil(1536 / 64) = 8 * 24 = 192"),
        "k_steps": (28, "ceil(7168 / 256) = 28"),
        "tiles_per_cu": (0.632, "192 / 304 = 0.632"),
        "wave_quantisation": (36.8, "1 - 192 / (ceil(192 / 304) * 304) = 1 - 192 / 304"),
        "padding_waste": (0.0, "1 - 128 * 1536 / (128 * 1536) = 0"),
    }


def test_occupancy_without_registers_is_inferred() -> None:
    found = of(handmade.blockscale())
    assert found["blocks_per_cu"].evidence is Evidence.INFERRED
    assert found["blocks_per_cu"].note_key == "implication.note.registers_not_known"


def test_stated_lds_is_taken_as_stated() -> None:
    found = of(handmade.triton())
    assert (found["lds_bytes"].value, found["lds_bytes"].evidence) == (16384, Evidence.STATED)
    assert found["blocks_per_cu"].evidence is Evidence.RESOLVED
    assert found["blocks_per_cu"].value == 4


def test_lds_that_a_rule_of_source_gave_is_resolved_and_cites_the_rule() -> None:
    record = handmade.blockscale()
    place = "3rdparty/composable_kernel/include/ck/gridwise_ab_scale.hpp:986"
    launch = msgspec.structs.replace(record.launches[0], resources=Resources(lds_bytes=20480))
    parameters = {**record.dispatches[0].parameters, "sources": {"lds_bytes": place}}
    dispatch = msgspec.structs.replace(record.dispatches[0], parameters=parameters)
    found = of(msgspec.structs.replace(record, launches=(launch,), dispatches=(dispatch,)))["lds_bytes"]
    assert (found.value, found.evidence, found.source) == (20480, Evidence.RESOLVED, place)
    assert found.formula == "max((16 + 64) * 256 * 1, 16 * 64 * 4) = max(20480, 4096)"


def test_padding_is_counted_for_a_shape_that_the_tile_does_not_divide() -> None:
    record = handmade.blockscale()
    odd = msgspec.structs.replace(
        record, call=msgspec.structs.replace(record.call, shape={"M": 17, "N": 100, "K": 7168})
    )
    found = of(odd)
    assert found["padding_waste"].value == pytest.approx(100 * (1 - 17 * 100 / (32 * 128)), abs=0.05)


def test_a_grid_that_differs_from_the_tiles_is_said_and_only_inferred() -> None:
    record = handmade.blockscale()
    launch = msgspec.structs.replace(record.launches[0], grid=(304, 1, 1))
    found = of(msgspec.structs.replace(record, launches=(launch,)))
    assert found["grid"].evidence is Evidence.INFERRED
    assert found["grid"].note_values == {"launched": 304}
    # what the blocks do with the tiles is then not known, but how many there are for each CU is
    assert found["tiles_per_cu"].formula == "304 / 304 = 1"
    assert not {"k_steps", "wave_quantisation"} & set(found)


def product(m: int, n: int, k: int, kernel: str, grid: tuple[int, int, int] | None) -> dict[str, Implication]:
    """What follows for a product of row-major matrices by one kernel."""
    record = handmade.live()
    call = msgspec.structs.replace(record.call, shape={"M": m, "N": n, "K": k})
    launch = msgspec.structs.replace(record.launches[0], kernel=kernel, grid=grid)
    return of(msgspec.structs.replace(record, call=call, launches=(launch,)))


TENSILE = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x16x64_MI16x16x1_SN_K1"
TURNED = "implication.note.turned"


def test_a_column_major_library_takes_the_calls_n_for_its_m() -> None:
    found = product(15, 151936, 4096, TENSILE, (594, 1, 1))
    assert found["grid"].formula == "ceil(151936 / 256) * ceil(15 / 16) = 594 * 1 = 594"
    assert (found["grid"].evidence, found["grid"].note_key) == (Evidence.RESOLVED, TURNED)
    assert (found["padding_waste"].value, found["padding_waste"].evidence) == (6.3, Evidence.RESOLVED)
    assert found["k_steps"].value == 64


def test_without_a_launch_that_agrees_the_order_of_m_and_n_is_only_inferred() -> None:
    found = product(15, 151936, 4096, TENSILE, None)
    assert found["grid"].value == 594
    assert {found[key].evidence for key in ("grid", "padding_waste", "tiles_per_cu", "wave_quantisation")} == {
        Evidence.INFERRED
    }


def test_a_launch_that_fits_the_calls_own_order_alone_keeps_it() -> None:
    found = product(15, 151936, 4096, TENSILE, (9496, 1, 1))
    assert found["grid"].formula == "ceil(15 / 256) * ceil(151936 / 16) = 1 * 9496 = 9496"
    assert (found["grid"].evidence, found["grid"].note_key) == (Evidence.RESOLVED, None)


def test_split_k_multiplies_the_blocks_and_shortens_the_loop() -> None:
    found = of(handmade.triton())
    assert found["grid"].formula == "ceil(16 / 16) * ceil(3072 / 16) * 4 = 1 * 192 * 4 = 768"
    assert found["k_steps"].formula == "ceil(ceil(3072 / 4) / 256) = 3"


def test_a_split_of_k_that_the_dispatch_passes_counts() -> None:
    record = handmade.blockscale()
    dispatch = msgspec.structs.replace(record.dispatches[0], parameters={"k_batch": 4})
    launch = msgspec.structs.replace(record.launches[0], grid=None)
    found = of(msgspec.structs.replace(record, dispatches=(dispatch,), launches=(launch,)))
    assert found["grid"].formula == "ceil(128 / 16) * ceil(1536 / 64) * 4 = 8 * 24 * 4 = 768"
    assert found["k_steps"].formula == "ceil(ceil(7168 / 4) / 256) = 7"


def test_a_kernel_that_is_no_gemm_gets_no_gemm_statements() -> None:
    assert set(of(handmade.triton(), 1)) == {"waves_per_block", "lds_bytes", "blocks_per_cu", "waves_per_simd"}
    assert set(of(handmade.imported())) == {"waves_per_block"}


@pytest.mark.parametrize(
    ("splits", "size", "k", "covered"), [(1, 3072, 7168, 3072), (4, 768, 3072, None), (1, 3072, 3072, None)]
)
def test_a_configuration_that_leaves_part_of_k_out_is_found(
    splits: int, size: int, k: int, covered: int | None
) -> None:
    found = uncovered_k({"NUM_KSPLIT": splits, "SPLITK_BLOCK_SIZE": size}, k)
    assert (found.covered if found else None) == covered


def test_kernels_without_these_constants_are_left_alone() -> None:
    assert uncovered_k({}, 7168) is None
    assert uncovered_k({"NUM_KSPLIT": 1, "SPLITK_BLOCK_SIZE": 64}, None) is None
