"""What is wrong in tuned CSVs, and what aiter's own log says of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.aiter.test_configs import HEADER, OLD_CORE
from tests.aiter.test_configs import tree as config_tree
from tracer.aiter.aiter_log import LoggedLookup, read_log
from tracer.aiter.asm_tables import asm_kernels
from tracer.aiter.findings import FindingKind, Severity
from tracer.aiter.lint import lint
from tracer.aiter.tree import AiterTree

RECIPE = """{
    "module_gemm_a8w8_blockscale": {
        "srcs": ["f'{AITER_CSRC_DIR}/x.cu'"],
        "blob_gen_cmd": "f'{AITER_CSRC_DIR}/gen.py --working_path {{}} --tune_file {AITER_CONFIG_X_FILE}'"
    }
}
"""
TABLE = """
from dataclasses import dataclass
@dataclass
class KernelInstance:
    M: int
    @property
    def name(self) -> str:
        return f"a8w8_blockscale_{self.M}"
kernels_list = {0: KernelInstance(16), 1: KernelInstance(32)}
default_kernels_dict = {-1: KernelInstance(16)}
"""
GENERATOR = """
def get_tune_dict(path):
    for i in range(len(df)):
        kid = df.loc[i, "kernelId"]
        if kid < 0 or kid > len(kernels_list):
            continue
        tune_dict[(M, N, K)] = kernels_list[kid]
"""


def tree(root: Path, rows: str, model_rows: str | None = None) -> AiterTree:
    files = {"x_tuned_gemm.csv": HEADER + rows}
    if model_rows is not None:
        files["model_configs/x_tuned_gemm_m.csv"] = HEADER + model_rows
    aiter = config_tree(root, files, OLD_CORE)
    more = {
        "aiter/jit/optCompilerConfig.json": RECIPE,
        "csrc/gen.py": GENERATOR,
        "csrc/ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_common.py": TABLE,
        "hsa/gfx942/i8gemm/t.csv": "tile_m,knl_name,co_name\n16,_ZN5aiter1kE,k.co\n",
    }
    for name, text in more.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return aiter


def kinds(aiter: AiterTree) -> list[tuple[str, int | None]]:
    return [(finding.kind.value, finding.line) for finding in lint(aiter, {}).findings]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("80,1,2,3,0,5.0,a8w8_blockscale_16", None),
        ("80,1,2,3,1,5.0,a8w8_blockscale_16", FindingKind.ID_NAME_MISMATCH),
        ("80,1,2,3,0,5.0,a8w8_blockscale_64", FindingKind.UNKNOWN_INSTANCE),
        ("80,1,2,3,9,5.0,a8w8_blockscale_16", FindingKind.NOT_BUILT),
        ("80,1,2,3,9,5.0,_ZN5aiter1kE", None),
        ("80,1,2,3,1,5.0,_ZN5aiter1kE", FindingKind.ASM_ROW_BAKED),
        ("80,1,2,3,9,5.0,_ZN5aiter1zE", FindingKind.UNKNOWN_INSTANCE),
        ("80,0,2,3,0,5.0,a8w8_blockscale_16", FindingKind.BAD_KEY),
        ("80,1,,3,0,5.0,a8w8_blockscale_16", FindingKind.BAD_KEY),
        ("80,1,2,3,0,0,a8w8_blockscale_16", FindingKind.BAD_TIME),
        ("80,1,2,3,0,,a8w8_blockscale_16", FindingKind.BAD_TIME),
    ],
)
def test_a_row_is_judged_by_what_the_tree_has(tmp_path: Path, row: str, kind: FindingKind | None) -> None:
    assert kinds(tree(tmp_path, row + "\n")) == ([(kind.value, 2)] if kind else [])


def test_rows_lost_in_the_merge_are_found_with_the_row_that_is_kept(tmp_path: Path) -> None:
    aiter = tree(
        tmp_path,
        "80,1,2,3,0,5.0,a8w8_blockscale_16\n",
        "304,1,2,3,0,4.0,a8w8_blockscale_16\n304,1,2,3,0,4.5,a8w8_blockscale_16\n",
    )
    findings = lint(aiter, {}).findings
    assert [(f.kind, f.severity, f.file.rsplit("/", 1)[-1], f.line) for f in findings] == [
        (FindingKind.LOST_SLOWER, Severity.INFO, "x_tuned_gemm_m.csv", 3),
        (FindingKind.LOST_OTHER_GPU, Severity.ERROR, "x_tuned_gemm.csv", 2),
    ]
    assert all(f.other == "aiter/configs/model_configs/x_tuned_gemm_m.csv:2" for f in findings)


def test_a_merge_that_fails_is_a_finding_of_the_whole_file(tmp_path: Path) -> None:
    aiter = tree(tmp_path, "", "")
    (tmp_path / "aiter/configs/model_configs/x_tuned_gemm_m.csv").write_text("M,N\n")
    assert kinds(aiter) == [("merge_fails", None)]


def test_an_assembly_kernel_is_known_with_its_code_object(tmp_path: Path) -> None:
    aiter = tree(tmp_path, "")
    ((kernel,),) = asm_kernels(aiter, "gfx942").values()
    assert (kernel.code_object, kernel.shipped, kernel.row.line) == ("hsa/gfx942/i8gemm/k.co", False, 2)
    assert asm_kernels(aiter, "gfx9999") == {}


def test_the_wheels_files_lose_231_blockscale_rows_to_other_gpus(wheel: AiterTree) -> None:
    result = lint(wheel, {})
    assert Counter(f.kind for f in result.findings)[FindingKind.LOST_OTHER_GPU] == 231
    assert not [f for f in result.findings if f.kind is FindingKind.UNKNOWN_INSTANCE]
    for finding in result.findings:
        assert finding.line is None or finding.line <= len(wheel.absolute(finding.file).read_text().splitlines())


def test_mains_files_lose_nothing(main_tree: AiterTree) -> None:
    found = Counter(f.kind for f in lint(main_tree, {}).findings)
    assert found[FindingKind.LOST_OTHER_GPU] == 0
    assert found[FindingKind.MERGE_FAILS] == 0


END = "will use default config!"
MOE = "'torch.bfloat16', 'torch.bfloat16', 'torch.bfloat16', 'QuantType.No'"
LOG = f"""\
[aiter] import [module_gemm_a8w8_blockscale] under /x
[aiter] shape is M:128, N:1536, K:7168, not found tuned config in /tmp/a8w8_blockscale_tuned_gemm.csv, {END}
INFO 12:00 [aiter] shape is M:128, N:1536, K:7168, not found tuned config in /tmp/a8w8_blockscale_tuned_gemm.csv, {END}
[aiter] shape is M:7, N:512, K:7168, found padded_M: 16, N:512, K:7168 is tuned on cu_num = 256 in \
/tmp/a8w8_blockscale_bpreshuffle_tuned_gemm.csv , kernel name is a8w8_x!
[aiter] shape is M:1, N:7168, K:256, q_dtype_w:torch.int8, not found tuned config in \
/tmp/a8w8_bpreshuffle_tuned_gemm.csv, {END}
[aiter] shape is B:16, M:32, N:1280, K:8192, not found tuned config in CKGEMM, {END}
[aiter] shape is B:16, M:32, N:1280, K:8192 dtype is bf16, not found tuned config in CKGEMM, {END}
[aiter] shape is M:1, N:2, K:3, not found tuned config in CKGEMM or asmGEMM, {END}
[aiter] shape is M:3, N:4, K:5, not found tuned config in /home/me/mine.csv, {END}
[aiter] [fused_moe] using 2stage default for (304, 64, 4096, 1536, 8, 2, 'ActivationType.Silu', {MOE}, True, False)
[aiter] [fused_moe] using 1stage (kernelName1='_ZN1aE', kernelName2='') for \
('gfx942', 80, 16, 4096, 1536, 8, 2, <ActivationType.Silu: 0>, {MOE}, True, False)
shape of the world
"""


def test_a_log_gives_each_shape_once_with_its_op(wheel: AiterTree) -> None:
    read = read_log(wheel, LOG.splitlines(), {"AITER_CONFIG_GEMM_A8W8": "/home/me/mine.csv"})
    assert [(entry.op, entry.hit, entry.line, entry.count) for entry in read] == [
        ("gemm_a8w8_blockscale", False, 2, 2),
        ("gemm_a8w8_blockscale_bpreshuffle", True, 4, 1),
        ("gemm_a8w8_bpreshuffle", False, 5, 1),
        ("batched_gemm_a8w8", False, 6, 1),
        ("batched_gemm_bf16", False, 7, 1),
        ("gemm_a4w4", False, 8, 1),
        ("gemm_a8w8", False, 9, 1),
        ("fused_moe", False, 10, 1),
        ("fused_moe", True, 11, 1),
    ]
    assert read[1] == LoggedLookup(
        op="gemm_a8w8_blockscale_bpreshuffle",
        key={"M": "7", "N": "512", "K": "7168"},
        hit=True,
        file="/tmp/a8w8_blockscale_bpreshuffle_tuned_gemm.csv",
        padded_m=16,
        cu_num=256,
        kernel="a8w8_x",
        line=4,
    )
    assert read[2].key == {"M": "1", "N": "7168", "K": "256", "q_dtype_w": "torch.int8"}
    default, named = read[-2:]
    assert (default.key, default.cu_num) == (named.key | {"token": "64"}, 304)
    assert (named.key["token"], named.key["act_type"], named.key["use_g1u1"]) == ("16", "ActivationType.Silu", "1")
    assert (named.kernel, named.cu_num, named.file) == ("_ZN1aE", 80, None)


def test_a_file_that_no_variable_leads_to_has_no_op(wheel: AiterTree) -> None:
    (entry,) = read_log(wheel, LOG.splitlines()[8:9], {})
    assert (entry.op, entry.file) == (None, "/home/me/mine.csv")
