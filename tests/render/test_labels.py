"""Short forms of long names: short enough for a tab, and with what tells kernels of one function apart."""

from __future__ import annotations

import msgspec
import pytest

from tests import handmade
from tests.names.goldens import case_names
from tests.render.markup import read, to_html
from tracer.pipeline import build_report
from tracer.render.labels import LONGEST_LABEL, brief
from tracer.render.nav import entry_of, menu
from tracer.render.pages import page_title, render_page

TENSILE = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1"
ADD = (
    "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<{0}>, std::array<char*, 3ul> >(int)"
)


@pytest.mark.parametrize("name", [name for _, name in case_names()])
def test_every_label_is_short_and_a_short_name_is_its_own(name: str) -> None:
    assert len(brief(name)) <= LONGEST_LABEL
    if len(name) <= LONGEST_LABEL:
        assert brief(name) == name


@pytest.mark.parametrize(
    ("name", "label"),
    [
        (TENSILE, "Cijk_Alik_Bljk_BBS_BH_Bias… 64x32x256"),
        (handmade.INSTANCE, "a8w8_blockscale_1x128x128… 16x64x256"),
        (handmade.REDUCE_KERNEL, "_gemm_a16w16_reduce_kernel (BLOCK_SIZE_M=32, BLOCK_SIZE_N=32, …)"),
        (ADD.format("c10::BFloat16"), "vectorized_elementwise_kernel (CUDAFunctor_add, bf16, vec_size=8, …)"),
        ("void mine::kernel<" + "int, " * 30 + "int>(int*)", "kernel…"),
        ("x" * 100, "x" * 53 + "…" + "x" * 18),
    ],
)
def test_a_label_keeps_the_function_and_the_main_values_of_a_name(name: str, label: str) -> None:
    assert brief(name) == label


def test_a_page_of_a_long_name_shows_it_whole_but_not_in_title_headings_and_menu() -> None:
    record = handmade.imported()
    name = ADD.format("c10::BFloat16, " + "c10::BFloat16, " * 8 + "float")
    launch = msgspec.structs.replace(record.launches[0], kernel=name)
    call = msgspec.structs.replace(record.call, op=name)
    report = build_report(msgspec.structs.replace(record, call=call, launches=(launch,)))
    text = render_page(report, "en")
    headings = [line for line in text.splitlines() if line.startswith(("#", "title:"))]
    assert max(map(len, headings)) < 160
    assert f"| Whole name | `{name}` |" in text
    assert "".join(read(to_html(text)).text).count(name) >= 2
    _, section = menu([entry_of(report)], "home")
    assert all(len(title) < 120 for title in section)


def test_titles_of_names_with_one_short_form_differ() -> None:
    record = handmade.imported()
    names = [ADD.format(f"c10::BFloat16, {n}") for n in (1, 2)]
    assert len({brief(name) for name in names}) == 1
    calls = [msgspec.structs.replace(record.call, op=name) for name in names]
    assert len({page_title(msgspec.structs.replace(record, call=call)) for call in calls}) == 2
