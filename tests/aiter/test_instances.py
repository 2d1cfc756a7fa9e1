"""The tables of instances: evaluated as Python would, with names that the grammars read right."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

import pytest

from tracer.aiter.evaluate import Evaluator
from tracer.aiter.instances import MODULES, InstanceTable, instance_table, module_file
from tracer.aiter.records import Record
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError
from tracer.names import registry

TABLE = """
from dataclasses import dataclass
from copy import copy
import os
from chip_info import get_gfx
if os.path.exists("x"):
    WHERE = "there"
@dataclass
class K:
    M: int
    N: int
    ways: list[int]
    Scheduler: str = "Intrawave"
    @property
    def name(self) -> str:
        parts = ["k", ("x").join(map(lambda x: str(x), [self.M, self.N])), "x".join(str(w) for w in self.ways)]
        if self.M == 1:
            parts.append(f"v{self.N:03d}")
        return "_".join(parts + [self.Scheduler.lower()])
def expand(base, top=2):
    out = dict(base)
    for key, k in base.items():
        for n in range(1, top + 1):
            if n == k.N:
                continue
            new = copy(k)
            new.N = n
            out[max(out) + 1] = new
    return out
small = {
    0: K(1, 2, [3, 4]),
    7: K(9, N=1, ways=[5], Scheduler="Default"),
}
arch = get_gfx()
if arch.startswith("gfx95"):
    kernels_list = expand(small)
else:
    kernels_list = small
default_kernels_dict = {(-1): K(1, 1, [1],)}
"""


def evaluate(folder: Path, source: str, arch: str = "gfx942") -> Evaluator:
    file = folder / "table.py"
    file.write_text(source)
    return Evaluator(file, {"get_gfx": lambda: arch})


def test_a_table_is_evaluated_with_the_line_of_each_instance(tmp_path: Path) -> None:
    table = evaluate(tmp_path, TABLE).value("kernels_list")
    assert {key: (record.get("name"), record.line) for key, record in table.items()} == {
        0: ("k_1x2_3x4_v002_intrawave", 31),
        7: ("k_9x1_5_default", 32),
    }


def test_what_depends_on_the_target_is_evaluated_for_the_target(tmp_path: Path) -> None:
    table = evaluate(tmp_path, TABLE, "gfx950").value("kernels_list")
    assert [table[key].get("name") for key in (8, 9)] == ["k_1x1_3x4_v001_intrawave", "k_9x2_5_default"]
    assert table[8].line == table[0].line


def test_what_can_not_be_known_is_an_error_only_where_it_is_needed(tmp_path: Path) -> None:
    module = evaluate(tmp_path, TABLE)
    with pytest.raises(SourceTreeError, match="WHERE"):
        module.value("WHERE")
    with pytest.raises(SourceTreeError, match="defines no nothing"):
        module.value("nothing")


def test_nothing_of_the_module_is_run(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    evaluate(tmp_path, f"import os\nopen({str(victim)!r}, 'w')\nos.mkdir({str(victim)!r})\n__import__('os')\nx = 1\n")
    assert not victim.exists()


def test_an_endless_table_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracer.aiter.evaluate._LIMIT", 1000)
    module = evaluate(tmp_path, "n = 0\nfor i in range(10000):\n    n += 1\n")
    assert module.steps == 1001


def all_tables(tree: AiterTree) -> list[InstanceTable]:
    families = [f for f in MODULES if not f.startswith("moe_") and module_file(tree, f) is not None]
    return [instance_table(tree, family, arch) for family in families for arch in ("gfx942", "gfx950")]


def check_names(tree: AiterTree) -> None:
    count = 0
    for table in all_tables(tree):
        for instance in (*table.by_id.values(), *table.defaults.values()):
            decoded = registry.decode(instance.name)
            assert decoded.complete, instance.name
            stated = {key: decoded.fields[key] for key in instance.values if key in decoded.fields}
            assert stated == {key: instance.values[key] for key in stated}, instance.name
            line = tree.absolute(instance.file).read_text().splitlines()[instance.line - 1]
            assert "nstance(" in line, (instance.file, instance.line)
            count += 1
    assert count > 500


def test_every_name_of_the_wheels_tables_is_read_right(wheel: AiterTree) -> None:
    check_names(wheel)


def test_every_name_of_mains_tables_is_read_right(main_tree: AiterTree) -> None:
    check_names(main_tree)


def imported(path: Path, arch: str) -> types.ModuleType:
    """aiter's own module, really imported, with a stand-in for the module that asks the GPU."""
    stand_in = types.ModuleType("chip_info")
    stand_in.get_gfx = lambda: arch  # type: ignore[attr-defined]
    before = sys.modules.get("chip_info")
    sys.modules["chip_info"] = stand_in
    try:
        spec = importlib.util.spec_from_file_location(f"really_{path.stem}_{arch}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        paths = list(sys.path)
        spec.loader.exec_module(module)
        sys.dont_write_bytecode = written
        sys.path[:] = paths
        return module
    finally:
        sys.modules.pop("chip_info")
        if before is not None:
            sys.modules["chip_info"] = before


def check_against_import(tree: AiterTree) -> None:
    compared = 0
    for family in MODULES:
        file = module_file(tree, family)
        if file is None:
            continue
        for arch in ("gfx942", "gfx950"):
            theirs = imported(tree.absolute(file), arch)
            ours = Evaluator(tree.absolute(file), {"get_gfx": lambda arch=arch: arch})
            for name, table in ours.scope.items():
                if isinstance(table, dict) and table and isinstance(next(iter(table.values())), Record):
                    original = getattr(theirs, name)
                    assert list(table) == list(original)
                    for key, record in table.items():
                        assert record.fields == vars(original[key]), (name, key)
                        if not family.startswith("moe_"):
                            assert record.get("name") == original[key].name
                        compared += 1
    assert compared > 1000


def test_the_evaluated_tables_of_the_wheel_equal_the_imported_ones(wheel: AiterTree) -> None:
    check_against_import(wheel)


def test_the_evaluated_tables_of_main_equal_the_imported_ones(main_tree: AiterTree) -> None:
    check_against_import(main_tree)


def test_the_wheels_blockscale_names_leave_the_wave_map_to_the_source(wheel: AiterTree) -> None:
    table = instance_table(wheel, "a8w8_blockscale", "gfx942")
    assert table.by_id[7].not_in_name() == {"m_xdl_per_wave": 1, "n_xdl_per_wave": 2}
    assert table.by_id[7].name == table.defaults[-1].name
    assert table.named(table.by_id[7].name) is table.by_id[7]


def test_mains_blockscale_names_print_the_wave_map(main_tree: AiterTree) -> None:
    table = instance_table(main_tree, "a8w8_blockscale", "gfx942")
    assert table.by_id[7].not_in_name() == {}
