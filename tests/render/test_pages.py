"""Whole pages against stored ones: every kind of record, in both languages, from one set of facts."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from tests import handmade
from tests.render.markup import read, to_html
from tracer.model.capture import Argument, ArgumentKind, CaptureRecord, TensorInfo
from tracer.model.evidence import Evidence, Mode
from tracer.model.source import CandidateLaunch, Decorator, FlowStep, Hop, Layer, SourceRef, TunedStatus
from tracer.names.registry import GRAMMARS
from tracer.pipeline import build_report
from tracer.render.filters import markdown
from tracer.render.languages import LANGUAGES
from tracer.render.pages import page_folder, page_name, page_title, render_page

FOLDER = Path(__file__).parents[1] / "data" / "pages"
MEANINGS = {str(markdown(key.meaning)) for grammar in GRAMMARS for key in grammar.keys.values()}
CASES = [(name, language) for name in handmade.ALL for language in LANGUAGES]


def normalised(page: str) -> str:
    """A page without what changes by itself: dates, versions of ktrace, digests, drawings, the glossary's wording."""
    for meaning in sorted(MEANINGS, key=len, reverse=True):
        page = page.replace(f"| {meaning} |", "| <meaning> |")
    page = re.sub(r"<svg .*?</svg>", "<svg/>", page)
    page = re.sub(r"\d{4}-\d\d-\d\dT[\d:.+Z-]+", "<date>", page)
    page = re.sub(r"(\| ktrace \| )[^|]+\|", r"\1<version> |", page)
    page = re.sub(r' #[0-9a-f]{4}"$', ' #<digest>"', page, flags=re.MULTILINE)
    return re.sub(r"-[0-9a-f]{8}\.json", "-<digest>.json", page)


def page(name: str, language: str) -> str:
    return render_page(build_report(handmade.ALL[name]()), language)


@pytest.mark.parametrize(("name", "language"), CASES)
def test_a_page_is_the_stored_one(name: str, language: str, update_goldens: bool) -> None:
    stored = FOLDER / f"{name}.{language}.md"
    found = normalised(page(name, language))
    if update_goldens:
        stored.parent.mkdir(exist_ok=True)
        stored.write_text(found, encoding="utf-8")
    assert found == stored.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "language"), CASES)
def test_no_table_or_list_falls_apart(name: str, language: str) -> None:
    words = read(to_html(page(name, language)))
    text = "".join(words.text)
    assert "|---" not in text
    assert ".kt-" not in text
    assert "??? " not in text.replace("[?]", "")
    assert "Undefined" not in text


def facts(text: str) -> set[str]:
    """Everything on a page that is no prose: code spans, numbers with units, places."""
    return set(re.findall(r"`+[^`\n]+`+", text)) | set(re.findall(r"\d[\d.,]* (?:µs|FLOP/B|[KMG]iB|[MG]FLOP)", text))


@pytest.mark.parametrize("name", handmade.ALL)
def test_both_languages_state_the_same_facts(name: str) -> None:
    zh, en = (facts(page(name, language)) for language in ("zh", "en"))
    ours = {"`--device`", "`__global__`", "`ktrace OP --shape …`"}
    assert zh - ours == en - ours


@pytest.mark.parametrize("language", LANGUAGES)
def test_dry_live_and_imported_pages_have_the_same_sections(language: str) -> None:
    heading = re.compile(r"^## .*\{ #([a-z]+)(?:-\d+)? \}$", re.MULTILINE)
    outlines = [
        list(dict.fromkeys(heading.findall(page(name, language)))) for name in ("blockscale", "live", "imported")
    ]
    assert outlines[0] == outlines[1] == outlines[2]
    assert outlines[0] == [
        "overview", "path", "timings", "roofline", "pattern", "tuned", "flow", "reproduce", "versions", "legend",
    ]  # fmt: skip


def test_every_hop_of_the_list_says_how_it_is_known() -> None:
    text = page("blockscale", "en")
    listed = text.split("## Path 1:")[1].split("### HIP Kernel")[0]
    hops = [line for line in listed.splitlines() if line.strip().startswith("- `") or "Kernel ↓" in line]
    assert len(hops) > 10
    for line in hops:
        assert re.search(r"\.kt-(observed|stated|resolved|inferred|assumed|unresolved)", line), line


def test_a_dry_page_shows_no_time_as_measured() -> None:
    text = page("blockscale", "en")
    assert "Nothing was timed" in text
    assert "**Measured**" not in text
    assert "quoted from the tuned CSV, not measured here" in text


def test_hostile_text_reaches_a_page_as_text() -> None:
    words = read(to_html(page("failed", "en")))
    text = "".join(words.text)
    assert "<script>alert(1)</script>" in text
    assert "[not](javascript:alert(1))" in text
    assert "{{ 7 * 7 }} | {% raw %} \\x1b[31mred\\u202e" in text
    assert not {"script", "img"} & {tag for tag, _ in words.tags}
    assert not [attrs for _, attrs in words.tags if any(key.startswith("on") for key in attrs)]
    assert not [attrs for tag, attrs in words.tags if tag == "a" and (attrs.get("href") or "").startswith("javascript")]


def test_hostile_front_matter_cannot_leave_the_title() -> None:
    record = handmade.failed()
    record = msgspec.structs.replace(record, call=msgspec.structs.replace(record.call, op='x"\n<b>&', shape={}))
    first = render_page(build_report(record), "en").split("---\n")[1]
    assert re.fullmatch(r'title: "x&quot;\\n&lt;b&gt;&amp; gfx942 304 CU dry #[0-9a-f]{4}"\n', first)


def test_the_same_call_has_the_same_name_and_any_other_another() -> None:
    record = handmade.blockscale()
    later = msgspec.structs.replace(record, recorded_at="2027-01-01T00:00:00+00:00")
    assert page_name(later) == page_name(record)
    others = [
        handmade.lost_row(),
        handmade.triton(),
        msgspec.structs.replace(record, call=msgspec.structs.replace(record.call, options={"dtype": "fp16"})),
        msgspec.structs.replace(record, environment=msgspec.structs.replace(record.environment, trees=())),
        msgspec.structs.replace(record, mode="live"),  # type: ignore[arg-type]
    ]
    names = {page_name(other) for other in others}
    assert page_name(record) not in names
    assert len(names) == len(others)


@pytest.mark.parametrize(
    ("op", "folder"),
    [
        ("void attention<0, (vllm::Type)0, ck_tile::ComposedAttention<0u> >(int const*)", "attention"),
        ("at::native::copy<4, std::array<char*, 2ul> >(int)", "copy"),
        ("void (anonymous namespace)::store_kvcache<2048l>(Params)", "store_kvcache"),
        ("nn.Module: RMSNorm", "RMSNorm"),
        ("torch.nn.functional:linear", "linear"),
        ("ns::<script>", "op"),
    ],
)
def test_a_kernels_folder_is_its_function_not_a_part_of_its_arguments(op: str, folder: str) -> None:
    record = handmade.imported()
    assert page_folder(msgspec.structs.replace(record, call=msgspec.structs.replace(record.call, op=op))) == folder


def test_names_on_disk_are_plain_whatever_the_op_is_called() -> None:
    record = handmade.blockscale()
    for op in ("../../etc/passwd", "a/b", "pkg.mod:fn", "aten::mm", "中文", "x" * 300, ".hidden"):
        odd = msgspec.structs.replace(record, call=msgspec.structs.replace(record.call, op=op))
        for part in (page_folder(odd), page_name(odd)):
            assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", part), part
            assert len(part) < 120


def test_a_title_tells_configurations_apart() -> None:
    titles = {page_title(handmade.triton()), page_title(handmade.triton(split=1, size=3072))}
    assert len(titles) == 2


def test_a_title_tells_options_and_named_devices_apart() -> None:
    record = handmade.blockscale()
    other = msgspec.structs.replace(record, call=msgspec.structs.replace(record.call, options={"dtype": "fp16"}))
    target = msgspec.structs.replace(record.target, device="MI325X", device_evidence=Evidence.STATED)
    named = msgspec.structs.replace(record, target=target)
    assert [page_title(r) for r in (record, other, named)] == [
        "128x1536x7168 bf16 gfx942 304 CU dry",
        "128x1536x7168 fp16 gfx942 304 CU dry",
        "128x1536x7168 bf16 gfx942 304 CU MI325X dry",
    ]


def test_a_call_that_launches_nothing_is_not_said_to_end_in_a_kernel() -> None:
    record = handmade.blockscale()
    why = "common.cuh:160 refuses the call: N = 100 is no multiple of 8, the vector width of the output (grid.hpp:1125)"
    stop = Hop(layer=Layer.KERNEL, name="?", evidence=Evidence.UNRESOLVED, reason=why)
    dispatch = msgspec.structs.replace(record.dispatches[0], instance=None, hops=(stop,), parameters={})
    launch = msgspec.structs.replace(record.launches[0], instance=None, evidence=Evidence.UNRESOLVED, reason=why)
    report = build_report(msgspec.structs.replace(record, dispatches=(dispatch,), launches=(launch,), warnings=(why,)))
    english, chinese = (render_page(report, language) for language in ("en", "zh"))
    assert "on MI300X: no kernel could be established." in english
    assert "ends in" not in english
    assert english.count(why) > 1
    assert "common.cuh:160 拒绝此调用：N = 100 不是输出向量宽度 8 的倍数（grid.hpp:1125）" in chinese


def test_launches_among_which_no_rule_chooses_stand_with_their_conditions() -> None:
    record = handmade.blockscale()
    reason = "which of 2 kernels run depends on what is not known here"
    stop = Hop(layer=Layer.KERNEL, name="?", evidence=Evidence.UNRESOLVED, reason=reason, candidates=("one", "two"))
    launches = (
        CandidateLaunch(kernel="one", source=SourceRef("csrc/k.cu", 3), launch=SourceRef("csrc/k.cu", 30)),
        CandidateLaunch(kernel="two", launch=SourceRef("csrc/k.cu", 31), conditions=("not (a || b)", "(x > 1)")),
    )
    dispatch = msgspec.structs.replace(
        record.dispatches[0], instance=None, hops=(stop,), parameters={}, candidates=("one", "two"), launches=launches
    )
    launch = msgspec.structs.replace(record.launches[0], instance=None, evidence=Evidence.UNRESOLVED, reason=reason)
    report = build_report(msgspec.structs.replace(record, dispatches=(dispatch,), launches=(launch,)))
    english, chinese = (render_page(report, language) for language in ("en", "zh"))
    assert "on MI300X can come to 2 kernels; which of them run could not be established." in english
    rows = [line for line in english.splitlines() if "csrc/k.cu:3" in line and line.startswith("|")]
    assert len(rows) == 2
    assert "`not (a || b)` and `(x > 1)`" in rows[1]
    assert "2 个 kernel 中运行哪些取决于此处无法得知的信息" in chinese


def test_only_a_miss_is_called_a_default_configuration() -> None:
    padded = build_report(handmade.blockscale(tuned=handmade.hit(TunedStatus.PADDED_FINE)))
    assert "a default configuration leaves" not in render_page(padded, "en")
    assert "a default configuration leaves" in render_page(build_report(handmade.lost_row()), "en")


def test_the_file_to_append_an_untuned_shape_to_is_named() -> None:
    tuned = msgspec.structs.replace(handmade.lost(), untuned_file="aiter/configs/untuned_gemm.csv")
    text = render_page(build_report(handmade.blockscale(tuned=tuned)), "en")
    assert "append to `aiter/configs/untuned_gemm.csv`:" in text


def _quantiser(*hops: Hop, **parameters: object) -> CaptureRecord:
    """A call that launches a HIP kernel of aiter's own, whose name states nothing."""
    record = handmade.blockscale()
    first = hops[1].name
    dispatch = msgspec.structs.replace(
        record.dispatches[0], instance=None, tuned=None, hops=hops, core_flow=(), not_in_name={}, parameters=parameters
    )
    launch = msgspec.structs.replace(record.launches[0], instance=None, kernel=first, block=(64, 1, 1))
    arguments = (
        Argument("out", ArgumentKind.TENSOR, "Tensor", None, TensorInfo((128, 7168), "float8_e4m3fnuz")),
        Argument("scale_ub", ArgumentKind.NONE, "NoneType"),
        Argument("quant", ArgumentKind.ENUM, "QuantType", "QuantType.per_Token (=2)"),
        Argument("rows", ArgumentKind.SEQUENCE, "list", 3),
    )
    call = msgspec.structs.replace(record.boundaries[0], arguments=arguments)
    return msgspec.structs.replace(record, launches=(launch,), dispatches=(dispatch,), boundaries=(call,))


def _launched(name: str, line: int) -> tuple[Hop, Hop]:
    place = SourceRef("csrc/quant.cu", line, "aiter")
    return (
        Hop(layer=Layer.LAUNCH, name=f"{name}<<<>>>", source=place, evidence=Evidence.RESOLVED),
        Hop(layer=Layer.KERNEL, name=name, source=place, evidence=Evidence.RESOLVED),
    )


def test_a_quantisers_page_shows_its_launch_its_template_and_what_was_passed() -> None:
    record = _quantiser(
        *_launched("quant_kernel", 7),
        kernel="quant_kernel",
        grid=[192, 1, 1],
        block=[64, 1, 1],
        template={"DTYPE_I": "bfloat16", "size": "16"},
        sources={"grid": "csrc/quant.cu:7", "block": "csrc/quant.cu:7"},
    )
    text = render_page(build_report(record), "en")
    for row in (
        "| Grid (blocks) | (192, 1, 1) *resolved*{ .kt-ev .kt-resolved } `csrc/quant.cu:7`{ .kt-place } |",
        "| Block (threads) | (64, 1, 1) *resolved*{ .kt-ev .kt-resolved } `csrc/quant.cu:7`{ .kt-place } |",
        "| template arguments | DTYPE_I=bfloat16, size=16 |",
        "| Passed to it from Python | `out` float8_e4m3fnuz (128, 7168); `scale_ub` None; "
        "`quant` QuantType.per_Token (=2); `rows` list (3) |",
    ):
        assert row in text
    assert "the `__global__` function" not in text  # it is the heading


def test_kernels_that_one_call_launches_in_turn_stand_beside_each_other() -> None:
    further = {"kernel": "second", "grid": [128, 1, 1], "block": [512, 1, 1], "sources": {"grid": "csrc/quant.cu:9"}}
    record = _quantiser(*_launched("first", 7), *_launched("second", 9), kernel="first", further=[further], sources={})
    text = render_page(build_report(record), "en")
    listed = [line for line in text.partition("{ #path-1 }")[2].splitlines() if "csrc/quant.cu" in line][:4]
    depths = [len(line) - len(line.lstrip()) for line in listed]
    assert [("HIP Kernel ↓" in line, depth - depths[0]) for line, depth in zip(listed, depths, strict=True)] == [
        (False, 0), (True, 4), (False, 0), (True, 4),
    ]  # fmt: skip
    assert f"on MI300X ends in 2 kernels on {len(build_report(record).paths)} path(s)" in text
    row = "| launched after it | second, grid (128, 1, 1), block (512, 1, 1) *resolved*{ .kt-ev .kt-resolved }"
    assert f"{row} `csrc/quant.cu:9`{{ .kt-place }} |" in text


def test_a_core_flow_is_said_to_be_the_familys_only_where_every_step_is() -> None:
    record = handmade.blockscale()
    first, *rest = record.dispatches[0].core_flow
    own = msgspec.structs.replace(record.dispatches[0], core_flow=(first, *(FlowStep("loop", "x") for _ in rest)))
    shared, mixed = (
        render_page(build_report(one), "en") for one in (record, msgspec.structs.replace(record, dispatches=(own,)))
    )
    assert "The same for the whole family of instances." in shared
    assert "The same for the whole family of instances." not in mixed


def test_a_call_out_of_python_names_the_stub_that_declares_it() -> None:
    record = handmade.blockscale()
    declared = SourceRef("aiter/ops/gemm_op_a8w8.py", 120, "aiter")
    call = msgspec.structs.replace(record.boundaries[0], declared_as="gemm_a8w8_blockscale_ck", source=declared)
    text = render_page(build_report(msgspec.structs.replace(record, boundaries=(call,))), "en")
    place = "`module_gemm_a8w8_blockscale.gemm_a8w8_blockscale` `aiter/ops/gemm_op_a8w8.py:120`"
    assert f"{place}{{ .kt-place }} # declared as `gemm_a8w8_blockscale_ck`; leaves Python" in text


def _with_variables(record: CaptureRecord, **variables: str) -> CaptureRecord:
    environment = msgspec.structs.replace(record.environment, variables={**record.environment.variables, **variables})
    return msgspec.structs.replace(record, environment=environment)


def test_the_command_stands_behind_the_variables_that_were_set() -> None:
    record = _with_variables(
        handmade.blockscale(), AITER_CONFIG_GEMM_A8W8_BLOCKSCALE="/my csvs/tuned.csv", AITER_BYPASS_TUNE_CONFIG="0"
    )
    text = render_page(build_report(record), "en")
    assert (
        "```bash\nAITER_CONFIG_GEMM_A8W8_BLOCKSCALE='/my csvs/tuned.csv' AITER_BYPASS_TUNE_CONFIG=0 "
        "ktrace gemm_a8w8_blockscale --shape 128,1536,7168\n```"
    ) in text


def test_a_target_that_ktrace_set_itself_is_left_to_its_option_and_one_that_the_user_set_is_told() -> None:
    dry = handmade.blockscale()
    live = msgspec.structs.replace(dry, mode=Mode.LIVE)
    assert "```bash\nktrace " in render_page(build_report(dry), "en")
    assert "```bash\nGPU_ARCHS=gfx942 CU_NUM=304 ktrace " in render_page(build_report(live), "en")


def test_other_variables_make_another_page_with_another_title() -> None:
    record = handmade.blockscale()
    records = [record, *(_with_variables(record, AITER_CONFIG_GEMM_A8W8_BLOCKSCALE=f"{n}.csv") for n in (1, 2))]
    assert len({page_name(one) for one in records}) == 3
    assert len({page_title(one) for one in records}) == 3


@pytest.mark.parametrize(("language", "told"), [("en", "at line 5"), ("zh", "在第 5 行")])
def test_what_makes_a_function_cross_a_jit_layer_stands_beside_it(language: str, told: str) -> None:
    record = handmade.blockscale()
    guarded = next(frame for frame in record.frames if frame.function == "gemm_a8w8_blockscale")
    frame = msgspec.structs.replace(guarded, decorators=(Decorator("torch_compile_guard", 5),))
    frames = tuple(frame if one is guarded else one for one in record.frames)
    call = msgspec.structs.replace(record.boundaries[0], decorators=(Decorator("compile_ops", 5),))
    text = render_page(build_report(msgspec.structs.replace(record, frames=frames, boundaries=(call,))), language)
    lines = text.partition("{ #path-1 }")[2].splitlines()
    assert [line for line in lines if "`gemm_a8w8_blockscale`" in line and f"`@torch_compile_guard` {told}" in line]
    assert [line for line in lines if "`module_gemm_a8w8" in line and f"`@compile_ops` {told}" in line]


def test_calls_without_a_shape_have_titles_of_their_own() -> None:
    record = handmade.imported()
    other = msgspec.structs.replace(record, launches=(msgspec.structs.replace(record.launches[0], start_ns=99),))
    assert page_title(record).split("#")[0] == page_title(other).split("#")[0]
    assert page_title(record) != page_title(other)


def test_a_time_is_cold_by_what_was_done_for_it() -> None:
    text = page("live", "en")
    graph, eager, profiler = [line for line in text.splitlines() if line.startswith(("| graph", "| eager", "| profi"))]
    assert "cold: 4 × the inputs, 91 MiB against 50 MiB of cache" in graph
    assert "cold: a buffer larger than the 50 MiB of cache is overwritten before each call" in eager
    assert "warm: 1 × the inputs, 22.75 MiB against 50 MiB of cache" in profiler


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_mark_behind_a_source_is_explained(language: str) -> None:
    text = page("lost_row", language)
    marks = set(re.findall(r"\(([VRS?])\)", text.partition("{ #legend }")[0]))
    explained = set(re.findall(r"\*\*\(([VRS?])\)\*\*", text.partition("{ #legend }")[2]))
    assert "?" in marks
    assert marks <= explained
