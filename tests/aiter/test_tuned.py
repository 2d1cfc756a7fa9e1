"""Look-ups in tuned configs: which row is hit, or why none is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aiter.conftest import write_package
from tests.aiter.test_configs import NEW_CORE, OLD_CORE
from tracer.aiter.configs import merge, require
from tracer.aiter.lookups import LookupRule, fp8_dtype, lookup_rule, ops
from tracer.aiter.moe_tokens import padded_tokens
from tracer.aiter.tree import AiterTree
from tracer.aiter.tuned import lookup
from tracer.errors import SourceTreeError
from tracer.model.environment import Target
from tracer.model.source import MissReason, TunedLookup, TunedStatus

OP = "gemm_a8w8_blockscale"
OLD_OP = """
def get_config(M, N, K, file):
    table = read_csv(file).set_index(["cu_num", "M", "N", "K"]).to_dict("index")
    for gl in [None, 0, 1]:
        pass
def gemm_a8w8_blockscale(XQ):
    get_config(m, n, k, AITER_CONFIG_X_FILE)
"""
NEW_OP = """
def get_config(M, N, K, file):
    if "gfx" in df.columns:
        table = df.set_index(["gfx", "cu_num", "M", "N", "K"])
    else:
        table = df.set_index(["cu_num", "M", "N", "K"])
    for gl in [None, 0, 1]:
        pass
def gemm_a8w8_blockscale(XQ):
    get_config(m, n, k, AITER_CONFIGS.AITER_CONFIG_X_FILE)
"""
HEADER = "cu_num,M,N,K,kernelId,us,kernelName\n"


def tree(root: Path, rows: str, model_rows: str | None = None, *, new: bool = False) -> AiterTree:
    write_package(root)
    files = {
        "csrc/x": "",
        "aiter/jit/core.py": NEW_CORE if new else OLD_CORE,
        "aiter/ops/gemm_op_a8w8.py": NEW_OP if new else OLD_OP,
        "aiter/configs/x_untuned_gemm.csv": "M,N,K\n",
        "aiter/configs/x_tuned_gemm.csv": ("gfx," if new else "") + HEADER + rows,
    }
    if model_rows is not None:
        files["aiter/configs/model_configs/x_tuned_gemm_m.csv"] = ("gfx," if new else "") + HEADER + model_rows
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return AiterTree.find(root)


def ask(aiter: AiterTree, m: int, n: int = 1536, k: int = 7168, cu: int = 304, arch: str = "gfx942") -> TunedLookup:
    return lookup(aiter, OP, {"M": m, "N": n, "K": k}, Target(arch=arch, compute_units=cu), {})


ROWS = "304,128,1536,7168,3,18.5,a\n304,256,1536,7168,4,20,b\n80,512,1536,7168,5,30,c\n"


@pytest.mark.parametrize(
    ("m", "status", "padded"),
    [
        (128, TunedStatus.EXACT, 128),
        (120, TunedStatus.PADDED_FINE, 128),
        (100, TunedStatus.PADDED_COARSE, 128),
        (129, TunedStatus.PADDED_COARSE, 256),
    ],
)
def test_the_row_is_found_at_the_first_level_that_has_one(
    tmp_path: Path, m: int, status: TunedStatus, padded: int
) -> None:
    answer = ask(tree(tmp_path, ROWS), m)
    assert (answer.status, answer.padded_m, answer.reason) == (status, padded, None)
    assert answer.row is not None
    assert answer.row.values["M"] == str(padded)
    assert answer.recorded_us == float(answer.row.values["us"])
    assert answer.key == {"cu_num": "304", "M": str(m), "N": "1536", "K": "7168"}


@pytest.mark.parametrize(
    ("rows", "asked", "reason"),
    [
        ("", {}, MissReason.FILE_EMPTY),
        (ROWS, {"n": 1537}, MissReason.NO_SUCH_NK),
        (ROWS, {"k": 128}, MissReason.NO_SUCH_NK),
        (ROWS, {"m": 4000}, MissReason.M_DIFFERS),
        (ROWS, {"m": 512}, MissReason.CU_NUM_DIFFERS),
        (ROWS, {"cu": 256}, MissReason.CU_NUM_DIFFERS),
    ],
)
def test_a_miss_says_what_differs(tmp_path: Path, rows: str, asked: dict[str, int], reason: MissReason) -> None:
    answer = ask(tree(tmp_path, rows), **{"m": 128, **asked})  # type: ignore[arg-type]
    assert (answer.status, answer.reason, answer.row) == (TunedStatus.MISS, reason, None)
    assert answer.untuned_row == f"{asked.get('m', 128)},{asked.get('n', 1536)},{asked.get('k', 7168)}"


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    aiter = tree(tmp_path, ROWS)
    setting = {"AITER_CONFIG_X": "/nowhere/tuned.csv"}
    answer = lookup(aiter, OP, {"M": 1, "N": 2, "K": 3}, Target(arch="gfx942", compute_units=304), setting)
    assert (answer.reason, answer.environment) == (MissReason.FILE_MISSING, setting)


def test_main_tells_architectures_apart(tmp_path: Path) -> None:
    aiter = tree(tmp_path, "gfx950,256,128,1536,7168,3,18.5,a\n", new=True)
    assert ask(aiter, 128, cu=256, arch="gfx950").status is TunedStatus.EXACT
    assert ask(aiter, 128, cu=256, arch="gfx1250").reason is MissReason.GFX_DIFFERS


def test_a_row_lost_in_the_merge_is_named_with_the_row_kept(tmp_path: Path) -> None:
    aiter = tree(tmp_path, "80,128,1536,7168,5,30,c\n", "304,128,1536,7168,3,18.5,a\n")
    answer = ask(aiter, 128, cu=80)
    assert (answer.status, answer.reason) == (TunedStatus.MISS, MissReason.DROPPED_BY_MERGE)
    assert answer.lost_row is not None
    assert answer.kept_row is not None
    assert (answer.lost_row.file, answer.lost_row.line) == ("aiter/configs/x_tuned_gemm.csv", 2)
    assert (answer.kept_row.file, answer.kept_row.line) == ("aiter/configs/model_configs/x_tuned_gemm_m.csv", 2)


def test_a_padded_hit_says_that_a_closer_row_was_lost(tmp_path: Path) -> None:
    aiter = tree(tmp_path, "80,100,1536,7168,5,30,c\n80,128,1536,7168,5,1,c\n", "304,100,1536,7168,3,18.5,a\n")
    answer = ask(aiter, 100, cu=80)
    assert (answer.status, answer.padded_m) == (TunedStatus.PADDED_COARSE, 128)
    assert answer.lost_row is not None
    assert answer.lost_row.values["M"] == "100"


def test_a_tie_in_the_merge_is_admitted(tmp_path: Path) -> None:
    aiter = tree(tmp_path, "304,128,1536,7168,5,30,c\n", "80,128,1536,7168,3,30,a\n")
    answer = ask(aiter, 128, cu=80)
    assert answer.reason is MissReason.DROPPED_BY_MERGE
    assert answer.caveat is not None
    assert "either" in answer.caveat


def test_rows_that_repeat_a_key_make_aiters_look_up_raise(tmp_path: Path) -> None:
    answer = ask(tree(tmp_path, "304,1,2,3,5,30,c\n304,1,2,3,6,31,d\n"), 1, 2, 3)
    assert answer.caveat is not None
    assert "x_tuned_gemm.csv:3 repeats" in answer.caveat


def test_nearest_rows_are_of_this_gpu_first_then_by_distance(tmp_path: Path) -> None:
    answer = ask(tree(tmp_path, ROWS), 510)
    assert [row.values["M"] for row in answer.nearest] == ["256", "128", "512"]


def test_a_row_that_the_answer_names_is_not_among_the_nearest(tmp_path: Path) -> None:
    first = "80,128,1536,7168,5,30,c\n80,100,1536,7168,5,30,c\n"
    aiter = tree(tmp_path, first, "304,128,1536,7168,3,18.5,a\n304,100,1536,7168,3,18.5,a\n80,512,1536,7168,5,30,c\n")
    missed, hit = ask(aiter, 128, cu=80), ask(aiter, 500, cu=80)
    assert missed.kept_row is not None
    assert missed.kept_row not in missed.nearest
    assert [(row.values["cu_num"], row.values["M"]) for row in missed.nearest] == [("80", "512"), ("304", "100")]
    assert hit.row is not None
    assert [row.values["M"] for row in hit.nearest] == ["128", "100"]


def test_an_op_that_looks_nothing_up_is_an_error(tmp_path: Path) -> None:
    aiter = tree(tmp_path, ROWS)
    (tmp_path / "aiter" / "ops" / "gemm_op_a8w8.py").write_text("def gemm_a8w8_blockscale(XQ):\n    pass\n")
    with pytest.raises(SourceTreeError, match="consults no tuned config"):
        ask(aiter, 1)


@pytest.mark.parametrize(
    ("cu", "arch", "row", "lost"), [(304, "gfx942", 29, None), (80, "gfx942", None, 224), (256, "gfx950", None, 137)]
)
def test_the_wheel_hits_128_1536_7168_on_304_cus_only(
    wheel: AiterTree, cu: int, arch: str, row: int | None, lost: int | None
) -> None:
    answer = ask(wheel, 128, cu=cu, arch=arch)
    assert (answer.row.line if answer.row else None) == row
    assert (answer.lost_row.line if answer.lost_row else None) == lost
    assert answer.reason == (MissReason.DROPPED_BY_MERGE if lost else None)
    for place in filter(None, (answer.row, answer.lost_row, answer.kept_row)):
        text = wheel.absolute(place.file).read_text().splitlines()[place.line - 1]
        assert text == ",".join(place.values.values())


def every_rule(aiter: AiterTree) -> list[LookupRule]:
    return [lookup_rule(aiter, op) for op in ops()]


def test_every_look_up_of_the_wheel_is_read_from_its_text(wheel: AiterTree) -> None:
    rules = every_rule(wheel)
    assert all(rule.keys[-1][0] == "cu_num" for rule in rules)
    assert {rule.op for rule in rules if len(rule.levels) == 1} == {
        "gemm_a8w8_ASM",
        "gemm_a8w8_bpreshuffle",
        "batched_gemm_a8w8",
        "batched_gemm_bf16",
        "fused_moe",
    }


def test_every_look_up_of_main_is_read_from_its_text(main_tree: AiterTree) -> None:
    assert all(rule.keys[0][0] == "gfx" for rule in every_rule(main_tree))


def test_the_fp8_type_follows_the_target(wheel: AiterTree) -> None:
    assert fp8_dtype(wheel, "gfx942") == "torch.float8_e4m3fnuz"
    assert fp8_dtype(wheel, "gfx950") == "torch.float8_e4m3fn"
    assert fp8_dtype(wheel, "gfx9999") is None


MOE_SHAPE: dict[str, str | int] = {"token": 300, "model_dim": 6144, "inter_dim": 4096, "expert": 8, "topk": 2}


def test_the_fused_moe_is_looked_up_by_padded_tokens(wheel: AiterTree) -> None:
    answer = lookup(wheel, "fused_moe", MOE_SHAPE, Target(arch="gfx942", compute_units=80), {})
    assert (answer.status, answer.padded_m) == (TunedStatus.PADDED_COARSE, 512)
    assert answer.row is not None
    assert answer.row.values["kernelName1"].startswith("moe_ck2stages_gemm1_")
    assert (answer.untuned_row or "").startswith("512,6144,4096,8,2,")
    exact = lookup(wheel, "fused_moe", {**MOE_SHAPE, "token": 512}, Target(arch="gfx942", compute_units=80), {})
    assert (exact.status, exact.row) == (TunedStatus.EXACT, answer.row)


def test_a_moe_of_another_gpu_type_or_size_misses_with_its_reason(wheel: AiterTree) -> None:
    def reason(units: int = 80, **more: str | int) -> MissReason | None:
        target = Target(arch="gfx942", compute_units=units)
        return lookup(wheel, "fused_moe", {**MOE_SHAPE, **more}, target, {}).reason

    assert reason(units=304) is MissReason.CU_NUM_DIFFERS
    assert reason(token=4) is MissReason.M_DIFFERS
    assert reason(expert=7) is MissReason.NO_SUCH_NK
    assert reason(q_type="QuantType.per_1x32") is MissReason.DTYPE_DIFFERS


@pytest.mark.parametrize("tree_name", ["wheel", "main_tree"])
def test_moe_look_ups_give_what_pandas_gives_for_the_same_key(tree_name: str, request: pytest.FixtureRequest) -> None:
    pandas = pytest.importorskip("pandas")
    tree: AiterTree = request.getfixturevalue(tree_name)
    rule = lookup_rule(tree, "fused_moe")
    merged = merge(tree, require(tree, rule.variable), {})
    table = pandas.DataFrame([{**row.values, "place": f"{row.file}:{row.line}"} for row in merged.rows])
    if "gfx" in rule.keys[0]:
        legacy = {"80": "gfx942", "304": "gfx942", "256": "gfx950"}
        table["gfx"] = table["gfx"].replace("", None).fillna(table["cu_num"].map(legacy))
        table = table[table["_tag"].fillna("") != "flydsl_fallback"]
    columns = [column for column in rule.keys[0] if column not in rule.ignored]
    first = table.drop_duplicates(subset=columns, keep="first")
    step = max(1, len(first) // 40)
    for record in first.iloc[::step].to_dict("records"):
        key = {column: record[column] for column in rule.keys[0]}
        target = Target(arch=str(record.get("gfx", "gfx942")), compute_units=int(key.pop("cu_num")))
        key.pop("gfx", None)
        answer = lookup(tree, "fused_moe", key, target, {})
        tokens = padded_tokens(tree, int(key["token"]))[0]
        if tokens != int(key["token"]):  # no call asks for a count that is not a padded one
            continue
        assert answer.row is not None
        assert f"{answer.row.file}:{answer.row.line}" == record["place"]


def test_main_takes_a_row_for_any_activation_and_says_so(main_tree: AiterTree) -> None:
    rule = lookup_rule(main_tree, "fused_moe")
    assert (rule.ignored, rule.first_wins) == (("act_type",), True)
    target = Target(arch="gfx942", compute_units=80)
    answer = lookup(main_tree, "fused_moe", {**MOE_SHAPE, "act_type": "ActivationType.Swiglu"}, target, {})
    assert answer.row is not None
    assert "the first row for any activation is taken" in (answer.caveat or "")


@pytest.mark.parametrize(
    ("tree_name", "tokens", "tried"),
    [
        ("wheel", 1, (16,)),
        ("wheel", 17, (32,)),
        ("wheel", 5000, (1024,)),
        ("main_tree", 17, (32,)),
        ("main_tree", 40000, (32768,)),
        ("main_tree", 200000, (131072, 32768)),
    ],
)
def test_tokens_are_padded_by_aiters_own_function(
    tree_name: str, tokens: int, tried: tuple[int, ...], request: pytest.FixtureRequest
) -> None:
    assert padded_tokens(request.getfixturevalue(tree_name), tokens) == tried
