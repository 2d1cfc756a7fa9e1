"""What an aiter at hand expects of its built modules: a tree, a module and a GPU in, an `Expectation` or verdict out.

The rows are those that the module's generator would bake in for the GPU (tracer.aiter.baked); tables of assembly
kernels are those that its recipe has written. Both are read from the tree, so the answer holds for this aiter.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from tracer.aiter.asm_configs import asm_configs
from tracer.aiter.baked import bake, bake_rule
from tracer.aiter.binding import Recipe, recipe
from tracer.aiter.configs import merge, require
from tracer.aiter.families import CK_FAMILIES, CkFamily
from tracer.aiter.instances import instance_table
from tracer.aiter.moe_generated import GENERATOR, MODULE, TABLES, generated, module_of
from tracer.aiter.tree import AiterTree
from tracer.codeobjects.module import BuiltModule
from tracer.codeobjects.targets import TargetId
from tracer.codeobjects.verdict import Expectation, Verdict, WantedInstance, judge
from tracer.devices.registry import WHOLE_PART
from tracer.errors import SourceTreeError
from tracer.model.environment import Target


def judge_module(
    tree: AiterTree,
    module: BuiltModule,
    environment: Mapping[str, str],
    *,
    target: Target | None = None,
    wanted: tuple[TargetId, ...] = (),
) -> Verdict:
    """Says whether a built module is stale, for the wrong target, or current.

    Args:
        tree: the aiter whose tables and CSVs it is held against.
        module: the module.
        environment: the environment that aiter would see; it decides which CSVs count.
        target: architecture and CU count whose rows count; None takes the module's own architecture.
        wanted: what it is to run on; empty where nobody says.

    Raises:
        SourceTreeError: a file of the tree can't be read.
    """
    return judge(module, expected_of(tree, module, environment, target), wanted)


def expected_of(
    tree: AiterTree, module: BuiltModule, environment: Mapping[str, str], target: Target | None
) -> Expectation:
    """What the tree expects of a module. Raises SourceTreeError when a file of it can't be read."""
    how = recipe(tree, module.name)
    moe = module_of(module.name)
    if how is None and (moe is None or recipe(tree, MODULE) is None):
        return Expectation(reason=f"this aiter builds no module called {module.name}")
    arch = target.arch if target is not None else next((t.arch for t in module.targets if t.arch), None)
    if arch is None:
        return Expectation(reason="neither the module nor the command says for which target it was built")
    if moe is not None:
        made = generated(tree, moe, arch)
        names = {name: f"{i.file}:{i.line}" for name, i in made.instances.items() if name in made.lookup}
        return Expectation(table=names, files=_stamps(tree, module, (GENERATOR, TABLES)))
    assert how is not None
    units = target.compute_units if target is not None else None
    family = CK_FAMILIES.get(module.name)
    if family is not None and how.tuned and how.generators:
        return _ck(tree, module, family, how, environment, Target(arch=arch, compute_units=units))
    return _assembly(tree, module, how, arch)


def _stamps(tree: AiterTree, module: BuiltModule, files: Iterable[str]) -> dict[str, int]:
    """When each file that is there was written.

    A module that was installed with the tree came with its files, whichever the installer wrote last: then only files
    count whose size is no longer the installed one.
    """
    installed = _installed_sizes(tree)
    inside = Path(module.path).resolve()
    with_tree = inside.is_relative_to(tree.python_root) and inside.relative_to(tree.python_root).as_posix() in installed
    found = {}
    for file in dict.fromkeys(files):
        path = tree.absolute(file)
        try:
            status = path.stat()
        except OSError:
            continue
        known = installed.get(path.relative_to(tree.python_root).as_posix()) if with_tree else None
        if known is None or known != status.st_size:
            found[file] = status.st_mtime_ns
    return found


def _installed_sizes(tree: AiterTree) -> dict[str, int]:
    """File -> its size as installed, by the wheel's RECORD; empty for a checkout."""
    for record in tree.python_root.glob("amd_aiter-*.dist-info/RECORD"):
        with record.open(encoding="utf-8", newline="") as rows:
            return {row[0]: int(row[2]) for row in csv.reader(rows) if len(row) == 3 and row[2].isdigit()}
    return {}


def _ck(
    tree: AiterTree,
    module: BuiltModule,
    family: CkFamily,
    how: Recipe,
    environment: Mapping[str, str],
    target: Target,
) -> Expectation:
    assert target.arch is not None
    table = instance_table(tree, family.instances, target.arch)
    merged = merge(tree, require(tree, how.tuned[0]), environment)
    rule = bake_rule(tree, how.generators[0])
    defaults = {i.name: f"{i.file}:{i.line}" for i in table.defaults.values()}
    files = _stamps(tree, module, (*merged.files, table.file, how.generators[0]))
    units = target.compute_units or WHOLE_PART.get(target.arch)
    if rule is None or units is None:
        why = (
            f"the CU count of {target.arch} is not known: --cu-num N compares the rows"
            if rule
            else f"{how.generators[0]} reads its CSV in a way that ktrace does not know"
        )
        return Expectation(defaults=defaults, files=files, reason=why)
    baked = bake(rule, merged, table, msgspec.structs.replace(target, compute_units=units))
    assumed = "" if target.compute_units else " (assumed: --cu-num names another count)"
    reason = None
    if baked.failures:
        row, why = baked.failures[0]
        reason = f"the build fails on {len(baked.failures)} rows, first {row.file}:{row.line}: {why}"
    elif not baked.entries:
        reason = f"no row of the merged {merged.variable.merge_name} is for {target.arch} with {units} CUs"
    return Expectation(
        wanted=tuple(WantedInstance(entry.instance.name, entry.row) for entry in baked.entries.values()),
        defaults=defaults,
        files=files,
        by_name=rule.columns == ("kernelName",),
        assumption=f"it was built where {target.arch} with {units} CUs was visible{assumed}: rows of other GPUs are "
        "left out of its table",
        reason=reason,
    )


def _assembly(tree: AiterTree, module: BuiltModule, how: Recipe, arch: str) -> Expectation:
    archs = tuple(dict.fromkeys(t.arch for t in module.targets if t.arch)) or (arch,)
    wanted: dict[str, WantedInstance] = {}
    files: list[str] = []
    reason = None
    try:
        for one in archs:
            for kernel in asm_configs(tree, how, one).kernels.values():
                files.append(kernel.row.file)
                wanted.setdefault(kernel.name, WantedInstance(kernel.name, kernel.row))
    except SourceTreeError as error:
        reason = error.message
    if not wanted:
        files += [source for source in how.sources if tree.absolute(source).is_file()]
        reason = reason or f"{module.name} has no table of instances or assembly kernels that ktrace reads"
        reason += "; the age of its sources counts"
    return Expectation(assembly=tuple(wanted.values()), files=_stamps(tree, module, files), reason=reason)
