"""aiter's Python and its recipes as the index reads them: declarations, calls, templates, safe expressions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.mini import FILES
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError
from tracer.index.generated import read_script
from tracer.index.python_calls import read_module
from tracer.index.python_ops import read_declarations
from tracer.index.recipes import interpret, read_recipes


def test_declared_ops_carry_module_symbol_and_binding() -> None:
    facts = read_declarations(FILES["aiter/ops/norm.py"].encode())
    found = {op.name: (op.module, op.symbol, op.ffi, op.line) for op in facts.ops}
    assert found["norm_it"] == ("module_norm", "norm_fwd", "pybind", 5)
    assert found["plain_one"] == ("module_norm", "plain_one", "pybind", 9)
    assert found["c_one"] == ("module_c", "c_one", "ctypes", 18)


def test_guarded_functions_are_found() -> None:
    facts = read_declarations(FILES["aiter/ops/wrapped.py"].encode())
    assert [(g.name, g.line) for g in facts.guarded] == [("scale_it", 6)]


def test_a_file_that_does_not_parse_says_so() -> None:
    facts = read_declarations(b"@compile_ops('m')\ndef broken(:\n")
    assert facts.ops == ()
    assert facts.error
    assert read_module(b"def (:").error


def test_calls_imports_and_triton_kernels_are_read() -> None:
    facts = read_module(FILES["aiter/ops/wrapped.py"].encode())
    scale = facts.named("scale_it")
    assert scale is not None
    assert [name for name, _ in scale.calls] == ["inner", "_scale_kernel"]
    assert facts.imports["norm_it"] == ".norm.norm_it"
    kernel = read_module(FILES["aiter/ops/tri.py"].encode()).named("_scale_kernel")
    assert kernel is not None
    assert kernel.triton


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("f'{AITER_CSRC_DIR}/kernels/a.cu'", "csrc/kernels/a.cu"),
        ("'-O3'", "-O3"),
        ("f'-DX={os.environ.get(\"X\", 2)}'", "-DX=2"),
        ("__import__('os').system('touch /tmp/never')", None),
        ("open('x').read()", None),
        ("f'{(lambda: 1)()}'", None),
        ("(", None),
    ],
)
def test_recipe_expressions_are_read_and_never_run(expression: str, text: str | None) -> None:
    assert interpret(expression) == text


def test_a_recipe_knows_its_sources_and_what_is_missing(mini: Path) -> None:
    config = mini / "aiter/jit/optCompilerConfig.json"
    config.write_text('{\n    "module_x": {"srcs": ["f\'{AITER_CSRC_DIR}/kernels/norm.cu\'", "\'csrc/gone.cu\'"]}\n}\n')
    recipe = read_recipes(AiterTree.find(mini))["module_x"]
    assert (recipe.line, recipe.sources, recipe.missing) == (2, ("csrc/kernels/norm.cu",), ("csrc/gone.cu",))


@pytest.mark.parametrize("text", ["", "[]", "{", "null"])
def test_recipes_that_are_no_json_object_are_an_error_with_a_next_step(mini: Path, text: str) -> None:
    (mini / "aiter/jit/optCompilerConfig.json").write_text(text)
    with pytest.raises(SourceTreeError) as error:
        read_recipes(AiterTree.find(mini))
    assert error.value.hint


def test_cpp_in_a_generator_is_read_with_the_scripts_lines() -> None:
    script = (
        'NAME = "x"\n'
        'TEMPLATE = """#include "made.h"\n'
        "void {name}(int x)\n"
        "{{\n"
        "    run_it<{F_dtype}>(x, 1);\n"
        "}}\n"
        '"""\n'
        'CALL = "launch_it(a, b, c)"\n'
    )
    facts = read_script(script.encode())
    made = next(f for f in facts.functions if f.kind == "definition")
    assert (made.name, made.line) == ("KTRACE_name", 3)
    assert [(c.name, c.line) for c in made.calls][:1] == [("run_it", 5)]
    bare = [c.name for f in facts.functions if f.kind == "fragment" for c in f.calls]
    assert "launch_it" in bare
    assert facts.includes == ("made.h",)
