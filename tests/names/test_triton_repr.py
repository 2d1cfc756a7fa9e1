"""Triton names with a configuration: the table of keys against aiter's declarations, names without a declaration."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.names import sources
from tracer.names import registry
from tracer.names.base import Context
from tracer.names.triton_keys import declared_keys


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of a literal expression of strings and lists; LookupError for anything else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [
                value
                for item in items
                for value in (_value(item.value, names) if isinstance(item, ast.Starred) else [_value(item, names)])
            ]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left, names) + _value(right, names)
    raise LookupError(ast.dump(node))


def _declarations(triton: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(base name, keys) of every make_kernel_repr call below a folder, read without running it."""
    for path in sorted(triton.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names: dict[str, Any] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                try:
                    names[node.targets[0].id] = _value(node.value, names)
                except (LookupError, TypeError):
                    continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "make_kernel_repr":
                yield _value(node.args[0], names), tuple(_value(node.args[1], names))


def _compare(triton: Path) -> None:
    table = declared_keys()
    declarations = list(_declarations(triton))
    assert declarations
    missing = [(base, keys) for base, keys in declarations if keys not in table.get(base, ())]
    assert not missing


def test_the_table_has_every_declaration_of_the_installed_aiter() -> None:
    _compare(sources.installed("aiter") / "ops" / "triton")


@pytest.mark.aiter_main
def test_the_table_has_every_declaration_of_aiters_main(aiter_main: Path) -> None:
    _compare(aiter_main / "aiter" / "ops" / "triton")


def test_a_known_kernel_is_read_by_its_declared_keys_and_without_a_note() -> None:
    name = (
        "_conv2d_1x1_kernel_BLOCK_M_64_BLOCK_N_256_BLOCK_K_128_GROUP_SIZE_M_64_HAS_BIAS_1_ACTIVATION_SILU_EXP2_LAYOUT_1"
    )
    answer = registry.decode(name)
    assert answer.fields["constexprs"]["ACTIVATION"] == "SILU_EXP2"
    assert answer.fields["constexprs"]["LAYOUT"] == 1
    assert not answer.notes


def test_an_unknown_kernel_is_read_by_known_keys_and_called_ambiguous() -> None:
    answer = registry.decode("_mine_BLOCK_SIZE_M_64_BLOCK_SIZE_N_128_MY_FLAG_1_num_warps_8")
    assert answer.fields["base_name"] == "_mine"
    assert answer.fields["constexprs"] == {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 128, "MY_FLAG": 1, "num_warps": 8}
    assert answer.complete
    assert any("ambiguous" in note for note in answer.notes)


def test_the_kernels_own_keys_settle_what_the_name_leaves_open() -> None:
    name = "_mine_BLOCK_SIZE_M_64_BLOCK_SIZE_N_128_act_mode_GELU_TANH_num_warps_8"
    guessed = registry.decode(name)
    assert not guessed.complete or guessed.fields["constexprs"].get("act_mode") != "GELU_TANH"
    keys = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "act_mode", "num_warps")
    told = registry.decode(name, Context(constexpr_keys=keys))
    assert told.complete
    assert told.fields["constexprs"]["act_mode"] == "GELU_TANH"
    assert not told.notes
    assert registry.format_name(told) == name


def test_a_key_that_is_declared_twice_is_printed_twice_and_stated_once() -> None:
    keys = ("HAS_BIAS", "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "NUM_KSPLIT",
            "SPLITK_BLOCK_SIZE", "EVEN_K", "GRID_MN", "cache_modifier", "HAS_BIAS")  # fmt: skip
    name = "_gemm_a8w8_kernel" + "".join(f"_{key}_1" for key in keys)
    answer = registry.decode(name)
    assert list(answer.fields["constexprs"]).count("HAS_BIAS") == 1
    assert registry.format_name(answer) == name


def test_none_and_text_are_no_tile() -> None:
    answer = registry.decode("_my_kernel_BLOCK_SIZE_M_NONE_BLOCK_SIZE_N_32_BLOCK_SIZE_K_64")
    assert "m_per_block" not in answer.fields
    assert answer.fields["n_per_block"] == 32


def test_every_declared_kernel_is_found_and_read_by_its_own_keys() -> None:
    for base, lists in declared_keys().items():
        for keys in lists:
            name = base + "".join(f"_{key}_8" for key in keys)
            answer = registry.decode(name)
            assert answer.fields["base_name"] == base
            assert tuple(answer.fields["constexprs"]) == tuple(dict.fromkeys(keys))
            assert not answer.notes
            assert registry.format_name(answer) == name
