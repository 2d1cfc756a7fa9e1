"""AMD assembly text: kernels, resources and counts; broken metadata; Triton's own output against its code object."""

from __future__ import annotations

from tests.codeobjects.texts import AMDGCN
from tracer.codeobjects.amdgcn import is_amdgcn, read_amdgcn
from tracer.codeobjects.instructions import histogram
from tracer.codeobjects.kernel import KernelArgument


def test_resources_are_those_of_the_metadata() -> None:
    code = read_amdgcn(AMDGCN)
    (found,) = code.kernels
    res = found.resources
    assert (str(code.target), found.name) == ("gfx942", "scale")
    assert (res.vgprs, res.agprs, res.sgprs, res.vgpr_spills, res.lds_bytes) == (156, 16, 24, 2, 0)
    assert (found.architectural_vgprs, found.code_bytes, found.kernarg_bytes) == (140, 88, 56)
    assert (found.max_block_threads, found.wave_size, found.dynamic_stack) == (256, 64, False)
    assert found.arguments == (
        KernelArgument(name="x", kind="global_buffer", offset=0, size_bytes=8, address_space="global"),
        KernelArgument(kind="by_value", offset=8, size_bytes=4),
    )


def test_instructions_are_counted_by_mnemonic() -> None:
    (found,) = read_amdgcn(AMDGCN).kernels
    assert found.instructions == {
        "s_load_dwordx2": 1,
        "s_waitcnt": 1,
        "buffer_load_dword lds": 1,
        "buffer_load_dword": 1,
        "ds_read_b128": 1,
        "v_mfma_f32_16x16x16_bf16": 2,
        "s_cbranch_scc1": 1,
        "s_endpgm": 1,
    }
    assert found.instructions_from == "assembly text"


def test_instructions_of_other_functions_are_counted_apart() -> None:
    (lost,) = read_amdgcn(AMDGCN).lost
    assert (lost.what, lost.count) == ("instructions of functions that are no kernel, counted to none", 1)


def test_directives_stand_in_for_metadata_that_is_not_there() -> None:
    text = AMDGCN[: AMDGCN.index("\t.amdgpu_metadata")]
    (found,) = read_amdgcn(text).kernels
    assert (found.resources.vgprs, found.resources.lds_bytes, found.kernarg_bytes) == (156, 0, 56)
    assert (found.resources.sgprs, found.max_block_threads) == (None, None)
    assert found.instructions is not None


def test_a_directive_that_is_an_expression_is_not_known() -> None:
    text = AMDGCN[: AMDGCN.index("\t.amdgpu_metadata")].replace(
        ".amdhsa_next_free_vgpr 156", ".amdhsa_next_free_vgpr max(totalnumvgprs(scale.num_agpr, scale.num_vgpr), 1, 0)"
    )
    (found,) = read_amdgcn(text).kernels
    assert (found.resources.vgprs, found.architectural_vgprs) == (None, 140)


def test_metadata_that_is_no_yaml_is_counted() -> None:
    code = read_amdgcn(AMDGCN.replace("amdhsa.kernels:\n", "amdhsa.kernels: [unclosed\n"))
    assert "metadata blocks that are no YAML" in [lost.what for lost in code.lost]
    assert [found.name for found in code.kernels] == ["scale"]


def test_a_kernel_whose_metadata_is_no_number_is_counted() -> None:
    code = read_amdgcn(AMDGCN.replace(".vgpr_count:     156", ".vgpr_count:     lots"))
    assert "kernels whose metadata can't be read" in [lost.what for lost in code.lost]


def test_metadata_that_is_cut_off_is_still_read_as_far_as_it_goes() -> None:
    code = read_amdgcn(AMDGCN[: AMDGCN.index("amdhsa.version:")])
    assert code.kernels[0].resources.sgprs == 24


def test_a_kernel_whose_code_is_not_in_the_text_says_so() -> None:
    (found,) = read_amdgcn(AMDGCN[AMDGCN.index("\t.amdgpu_metadata") :]).kernels
    assert (found.instructions, found.notes) == (None, ("its code is not in this text",))


def test_two_kernels_keep_their_instructions_apart() -> None:
    text = AMDGCN.replace("deviceside", "second") + "\t.amdhsa_kernel second\n\t\t.amdhsa_next_free_vgpr 8\n"
    text += "\t.end_amdhsa_kernel\n"
    first, second = read_amdgcn(text).kernels
    assert histogram(first.instructions or {})["matrix"] == 2
    assert (second.name, second.instructions) == ("second", {"s_setpc_b64": 1})


def test_other_text_is_no_amd_assembly() -> None:
    assert is_amdgcn(AMDGCN)
    assert not is_amdgcn("\t.text\n\t.globl main\nmain:\n\tret\n")
    assert not is_amdgcn("")
