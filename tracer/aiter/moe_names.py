"""MoE instances by their names: a name and a target in, the modules whose generator writes an instance of it out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from tracer.aiter.instances import Instance
from tracer.aiter.moe_generated import GENERATOR, MoeModule, generated
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError

PREFIX = "moe_ck2stages_gemm"
_NAME = re.compile(
    rf"{PREFIX}(?P<stage>[12])_.*_Quant(?P<quant>\d+)_MulRoutedWeight(?P<weight>[01])(?:_(?P<act>[a-z]+))?"
    r"_(?P<a>[A-Z0-9]+)_(?P<b>[A-Z0-9]+)_(?P<c>[A-Z0-9]+)$"
)
#: QuantType's numbers by the words of the generator's command line
QUANTS = {"0": "no", "1": "per_tensor", "2": "per_token", "3": "per_1x32", "4": "per_1x128", "5": "per_1x128"}


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """An instance that the generator writes for a module.

    Attributes:
        module: what the module is built for.
        instance: the entry of the table.
        template: aiter's function that runs it, with its template arguments.
        header: the file that defines the function, relative to the tree.
    """

    module: MoeModule
    instance: Instance
    template: str
    header: str


def has_instance(tree: AiterTree, name: str, arch: str) -> bool | None:
    """Whether the generator of the two-stage CK MoE writes an instance of this name for a target.

    Returns:
        None for the name of another kind of kernel, or where the tree has no such generator.

    Raises:
        SourceTreeError: the generator can't be read.
    """
    if not name.startswith(PREFIX) or not tree.absolute(GENERATOR).is_file():
        return None
    return next(_named(tree, name, arch), None) is not None


def written_instances(tree: AiterTree, name: str, arch: str) -> list[Written]:
    """The instances of a name, one for each different function: modules of one name's types can hold different ones.

    Raises:
        SourceTreeError: the generator can't be read.
    """
    if not tree.absolute(GENERATOR).is_file():
        return []
    made: dict[tuple[str, str], Written] = {}
    for written in _named(tree, name, arch):
        made.setdefault((written.template, written.header), written)
    return list(made.values())


def _named(tree: AiterTree, name: str, arch: str) -> Iterator[Written]:
    for module in _modules(name):
        yield from (written for written in of_module(tree, module, arch) if written.instance.name == name)


def _modules(name: str) -> Iterator[MoeModule]:
    """The modules that can hold an instance of a name, the likeliest first."""
    found = _NAME.match(name)
    if found is None or found["quant"] not in QUANTS:
        return
    stage = int(found["stage"])
    weight_stage = stage if found["weight"] == "1" else 3 - stage
    # with a split K the first stage writes fp32 whatever the output is
    types = found["a"].lower(), found["b"].lower(), found["c"].lower()
    split = "Splitk" in name
    for splitk in (split, not split):
        for preshuffle in (False, True) if types[1] == "fp4x2" else (False,):
            yield MoeModule(*types, found["act"] or "silu", QUANTS[found["quant"]], weight_stage, preshuffle, splitk)


def of_module(tree: AiterTree, module: MoeModule, arch: str) -> list[Written]:
    """The instances that the generator writes for a module; none where it refuses the module's types itself."""
    try:
        files = generated(tree, module, arch)
    except (SourceTreeError, ValueError):
        return []
    return [
        Written(module=module, instance=files.instances[name], template=template, header=files.headers[name])
        for name, template in files.lookup.items()
        if name in files.instances and name in files.headers
    ]
