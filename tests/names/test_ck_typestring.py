"""Every device op's type string is written from fields and read back, in each of its forms."""

from __future__ import annotations

import re

from tracer.names import registry
from tracer.names.ck_typestrings import shapes

_VALUES = {
    "pipeline_sched": "Intrawave",
    "pipeline_version": "v3",
    "pipeline_version_classic": "v2",
    "loop_scheduler": "Interwave",
    "gemm_specialization": "MNPadding",
    "conv_specialization": "OddC",
    "masking_specialization": "MaskDisabled",
    "OutDstVectorSizeSeq": "2_4",
    "layouts_d": "RC",
    "tensor_layout": "RCCR",
    "inner_op": "DeviceGemmXdlSkipBLds<256, 128, 128, 4, 8, 32, 32, 2, 2>",
}


def _printed(key: str, numbers: dict[str, int]) -> str:
    if key.startswith("tensor_specialization_"):
        return "Packed"
    if key.startswith("layout_"):
        return "R"
    if key.startswith("dtype_"):
        return "fp16"
    return _VALUES.get(key) or str(numbers.setdefault(key, 2 * len(numbers) + 1))


def _names() -> list[str]:
    result = []
    for op, forms in shapes().items():
        for form in forms:
            for kept in (form.replace("[[", "").replace("]]", ""), re.sub(r"\[\[.*?\]\]", "", form)):
                numbers: dict[str, int] = {}
                result.append(op + re.sub(r"\{(\w+)\}", lambda m, n=numbers: _printed(m[1], n), kept))  # type: ignore[misc]
    return result


def test_every_form_of_every_op_is_read_and_written_back() -> None:
    names = _names()
    assert len(names) > 200
    for name in names:
        answer = registry.decode(name)
        assert answer.family == "ck_typestring", name
        assert answer.complete, name
        assert registry.format_name(answer) == name
        assert len(set(answer.fields)) > 1 or "<>" in name


def test_a_value_printed_twice_must_be_the_same_twice() -> None:
    name = "DeviceBatchedGemmGemm_Xdl_CShuffle<128, 32, 128, 64, 4, 4, {}, 256, 32, 4, Default>"
    assert registry.decode(name.format(32)).fields["m_per_block"] == 32
    answer = registry.decode(name.format(64))
    assert "m_per_block" not in answer.fields
    assert not answer.complete


def test_an_op_that_is_not_known_keeps_its_name_and_nothing_else() -> None:
    answer = registry.decode("DeviceGemmOfTomorrow_Xdl<256, 128, 128, 32>")
    assert answer.fields == {"device_op": "DeviceGemmOfTomorrow_Xdl"}
    assert [piece.text for piece in answer.unparsed] == ["<256, 128, 128, 32>"]
    assert registry.decode("DeviceReduceKernel<float>").family != "ck_typestring"
