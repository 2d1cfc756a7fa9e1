"""`ktrace decode`: whole printed answers as goldens, the JSON objects, every kind of input, and what a stream does."""

from __future__ import annotations

import json
import os
import random
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Answer
from tests.conftest import DATA
from tests.fuzz.spoiled_names import Spoiler
from tests.names import goldens, sources
from tracer.cli.name_answers import answer_of, block, encode
from tracer.cli.name_explanation import explain
from tracer.cli.name_tables import compare, diff_text, view_table
from tracer.names import registry

Ktrace = Callable[..., Answer]

_ROWWISE = "a8w8_rowwise_256x128x256x128_32x32_2x4_8x32x1_8x32x1_1x32x1x8_8x8x1_1x1_intrawave_v3"
_SCREENS = sorted((DATA / "decode").glob("*.txt"))


@pytest.mark.parametrize("path", _SCREENS, ids=lambda p: p.stem)
def test_what_is_printed_is_what_the_golden_shows(
    ktrace: Ktrace, path: Path, update_goldens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A golden is a command line and what it prints, in the goldens' folder and a terminal of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(DATA / "decode")
    command, _, printed = path.read_text(encoding="utf-8").partition("\n")
    answer = ktrace(*shlex.split(command.removeprefix("$ ktrace ")))
    assert answer.code == 0
    if update_goldens:
        path.write_text(f"{command}\n{answer.out}", encoding="utf-8")
    assert answer.out == printed or update_goldens


def _objects(answer: Answer) -> list[dict[str, object]]:
    assert answer.code == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


def test_an_object_has_the_documented_keys_in_their_order(ktrace: Ktrace) -> None:
    (known, unknown) = _objects(ktrace("decode", "--json", _ROWWISE, "what_is_this"))
    keys = [
        "name", "family", "fields", "unparsed", "grammar", "likely", "demangle", "notes", "view", "instances",
        "instance_sources",
    ]  # fmt: skip
    assert list(known) == list(unknown) == keys
    documented = (DATA.parents[1] / "docs" / "json.md").read_text(encoding="utf-8")
    assert not [key for key in keys if f"| `{key}` |" not in documented]
    assert unknown["family"] is None
    assert unknown["fields"] == {}
    assert unknown["view"] is None


def test_the_view_stands_in_the_object_with_null_for_what_the_name_does_not_state(ktrace: Ktrace) -> None:
    view = _objects(ktrace("decode", "--json", _ROWWISE))[0]["view"]
    assert isinstance(view, dict)
    assert (view["tile_m"], view["tile_n"], view["tile_k"], view["split_k"]) == (128, 256, 128, None)


def test_spans_come_when_asked_for_and_index_the_text_that_was_read(ktrace: Ktrace) -> None:
    (answer,) = _objects(ktrace("decode", "--json", "--spans", f'"{_ROWWISE}"'))
    assert answer["spelled"] == _ROWWISE
    spans = answer["spans"]
    assert isinstance(spans, dict)
    start, end = spans["pipeline_sched"]
    assert _ROWWISE[start:end] == "intrawave"


#: a kernel of the first instance of aiter's blockscale table
_SYMBOL = (DATA / "decode" / "explain_ck_symbol.txt").read_text(encoding="utf-8").split()[4]


def test_a_ck_symbol_comes_with_the_instances_that_compile_to_it(ktrace: Ktrace) -> None:
    sources.installed("aiter_meta")
    (answer,) = _objects(ktrace("decode", "--json", _SYMBOL))
    (name,) = answer["instances"]  # type: ignore[misc]
    (source,) = answer["instance_sources"]  # type: ignore[misc]
    assert registry.decode(name).family == "aiter_ck_a8w8_blockscale"
    assert source["instance"] == name
    assert source["line"] > 0
    assert source["rows_in_total"] >= len(source["rows"]) > 0
    assert f"{source['file']}:{source['line']}" in ktrace("decode", _SYMBOL).out


def test_instances_are_null_where_nobody_could_look_and_empty_where_there_is_none(ktrace: Ktrace) -> None:
    sources.installed("aiter_meta")
    other = registry.decode(_SYMBOL).spelled.replace("256, 1, 128, 128,", "256, 1, 128, 127,")
    answers = _objects(ktrace("decode", "--json", _ROWWISE, other))
    assert [answer["instances"] for answer in answers] == [None, []]
    (answer,) = _objects(ktrace("decode", "--json", "--no-instances", _SYMBOL))
    assert answer["instances"] is None


def test_an_aiter_that_is_none_is_an_error(ktrace: Ktrace, tmp_path: Path) -> None:
    answer = ktrace("decode", "--aiter", str(tmp_path), _SYMBOL)
    assert answer.code == 1
    assert str(tmp_path) in answer.err


def test_an_empty_name_is_answered(ktrace: Ktrace) -> None:
    assert ktrace("decode", "").out.startswith("(empty)\n")


def test_differences_as_an_object_tell_what_both_state_from_what_one_states(ktrace: Ktrace) -> None:
    other = _ROWWISE.replace("256x128x256x128", "256x64x256x128")
    (answer,) = _objects(ktrace("decode", "--diff", "--json", _ROWWISE, other))
    assert answer["differ"] == {"m_per_block": [128, 64]}
    assert answer["only_a"] == answer["only_b"] == {}
    (answer,) = _objects(ktrace("decode", "--diff", "--json", _ROWWISE, "nvjet_tst_144x128_64x6_2x1_v_bz_TNN"))
    assert answer["family"] == ["aiter_ck_a8w8_rowwise", "cublas_nvjet"]
    assert "block_size" in answer["only_a"]  # type: ignore[operator]


def test_two_equal_names_differ_in_nothing(ktrace: Ktrace) -> None:
    assert "no field differs" in ktrace("decode", "--diff", _ROWWISE, _ROWWISE).out


def test_the_kernels_own_keys_settle_a_triton_name(ktrace: Ktrace) -> None:
    name = "_mine_BLOCK_SIZE_M_64_BLOCK_SIZE_N_128_act_mode_GELU_TANH_num_warps_8"
    keys = "BLOCK_SIZE_M,BLOCK_SIZE_N, act_mode,num_warps"
    (answer,) = _objects(ktrace("decode", "--json", "--keys", keys, name))
    assert answer["fields"]["constexprs"]["act_mode"] == "GELU_TANH"  # type: ignore[index]
    assert answer["notes"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--key", "name", "x"],
        ["--column", "name", "x"],
        ["--explain", "--json", "x"],
        ["--explain", "--table", "x"],
        ["--spans", "x"],
        ["--diff", "x"],
        ["--diff", "x", "y", "z"],
        ["--target", "mi300", "x"],
        ["--ck-version", "3", "x"],
        ["--file", "/nothing/here.txt"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_told_and_leaves_with_2(ktrace: Ktrace, arguments: list[str]) -> None:
    answer = ktrace("decode", *arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err
    assert "Traceback" not in answer.err


_HOSTILE = [
    b"",
    b"a\xffb\xfe",
    b"\0",
    b"nul\0inside",
    b"\x1b[2Jclears",
    b"x" * 1_000_000,
    b"  \t",
    _ROWWISE.encode() + b".kd",
    b'"' + _ROWWISE.encode() + b' [clone .kd]",',
    _ROWWISE.encode()[:60] + b"...",
    "名字_\u2026".encode(),
    b"last",
]


def test_every_line_has_an_answer_that_keeps_the_text_as_it_came(ktrace: Ktrace, tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(_HOSTILE))
    answers = _objects(ktrace("decode", "--json", "--file", str(path)))
    texts = [str(answer["name"]).encode("utf-8", "surrogateescape") for answer in answers]
    assert texts == _HOSTILE
    read = [answer["family"] for answer in answers if answer["family"]]
    assert read == ["aiter_ck_a8w8_rowwise"] * 3


def test_text_for_people_holds_no_control_character(ktrace: Ktrace, tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_bytes(b"\n".join(_HOSTILE))
    for shape in ([], ["--explain"], ["--table"]):
        printed = ktrace("decode", *shape, "--file", str(path)).out
        assert all(line.isprintable() for line in printed.split("\n"))


def test_no_spoiled_name_breaks_what_is_printed() -> None:
    spoiler = Spoiler([name for _, name in goldens.case_names()], random.Random(17))
    last = registry.decode("")
    for _ in range(1500):
        decoded = registry.decode(spoiler.name())
        assert json.loads(encode(answer_of(decoded, spans=True)))["spelled"] == decoded.spelled
        texts = [block(decoded), explain(decoded, registry.keys_of(decoded.grammar)), view_table([last, decoded])]
        texts.append(diff_text(compare(last, decoded)))
        assert all(line.isprintable() for text in texts for line in text.split("\n"))
        last = decoded


def _run(arguments: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "tracer", "decode", *arguments]
    return subprocess.run(command, capture_output=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_lines_have_plain_characters_where_the_terminal_has_no_others() -> None:
    run = _run(["--explain", _ROWWISE], env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert run.returncode == 0
    assert b"+- block_size x m_per_block" in run.stdout


def test_standard_input_is_answered_line_by_line_before_it_ends() -> None:
    command = [sys.executable, "-m", "tracer", "decode", "--json", "--file", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for name in ("first", _ROWWISE):
            child.stdin.write(name.encode() + b"\n")
            child.stdin.flush()
            assert json.loads(child.stdout.readline())["name"] == name
        child.stdin.close()
        assert child.stdout.read() == b""
    assert child.returncode == 0


def test_a_dash_in_the_place_of_a_name_is_standard_input() -> None:
    for columns, text in ((), b"first\nlast\n"), (("--column", "what"), b"what\nfirst\nlast\n"):
        run = subprocess.run(
            [sys.executable, "-m", "tracer", "decode", "--json", "before", "-", *columns],
            input=text,
            capture_output=True,
            check=True,
        )
        assert [json.loads(line)["name"] for line in run.stdout.splitlines()] == ["before", "first", "last"]


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = [sys.executable, "-m", "tracer", "decode", "--json", "--file", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdin.write(b"x\n")
        child.stdin.flush()
        child.stdout.readline()
        child.stdout.close()
        # the child may stop reading at any moment, and its pipe then breaks too
        try:
            child.stdin.write(b"x\n" * 200_000)
            child.stdin.close()
        except BrokenPipeError:
            pass
        assert child.stderr.read() == b""
    assert child.returncode == 0


def _peak_kb(count: int) -> int:
    """Peak memory of a process that reads so many names from standard input, all of them different."""
    feed = f"import sys; [sys.stdout.write(f'a8w8_rowwise_{{i}}_x\\nkernel_{{i}}\\n') for i in range({count})]"
    code = (
        "import os, resource, sys; sys.argv = ['ktrace', 'decode', '--json', '--file', '-'];"
        "from tracer.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "sys.stderr.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))"
    )
    with subprocess.Popen([sys.executable, "-c", feed], stdout=subprocess.PIPE) as source:
        run = subprocess.run(
            [sys.executable, "-c", code], stdin=source.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            check=True,
        )  # fmt: skip
    return int(run.stderr)


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_SELF"), reason="this system does not say what memory a process used")
def test_memory_does_not_grow_with_the_number_of_names() -> None:
    # caches of the grammars fill up with the first thousands of names
    assert _peak_kb(60_000) - _peak_kb(15_000) < 3_000


def test_what_a_file_answers_is_what_each_name_answers_alone(ktrace: Ktrace, tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text(f"{_ROWWISE}\nunknown\n", encoding="utf-8")
    answers = _objects(ktrace("decode", "--json", "given", "--file", str(path)))
    assert [answer["name"] for answer in answers] == ["given", _ROWWISE, "unknown"]
    assert answers[1]["fields"] == registry.decode(_ROWWISE).fields
