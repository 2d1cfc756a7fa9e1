"""The C++ behind an instance of the two-stage CK MoE: its name in, the function that runs it, with its arguments, out.

aiter's generator is evaluated for the JIT modules that can hold the name. Modules of the same types can hold different
functions under one name (weights that are shuffled beforehand, a split K): the module's words choose among them.
"""

from __future__ import annotations

import msgspec

from tracer.aiter.instances import Instance
from tracer.aiter.moe_generated import MODULE, module_of
from tracer.aiter.moe_names import PREFIX, Written, of_module, written_instances
from tracer.aiter.tree import AiterTree
from tracer.errors import KtraceError, SourceTreeError
from tracer.resolve.cxx.environment import Env, Function
from tracer.resolve.cxx.values import Constant, Named
from tracer.resolve.cxx.walk import Walker


class MoeCode(msgspec.Struct, frozen=True, kw_only=True):
    """What aiter's generator writes for an instance.

    Attributes:
        instance: the entry of the table.
        template: aiter's function with its template arguments.
        header: the file that defines it, relative to the tree.
        types: the words of the JIT module that holds it, without `module_moe_ck2stages_`.
        other_types: those of modules that hold another function under the same name.
    """

    instance: Instance
    template: str
    header: str
    types: str
    other_types: tuple[str, ...]


def is_moe_name(name: str) -> bool:
    """Whether a name is one of the two-stage CK MoE's."""
    return name.startswith(PREFIX)


def moe_code(tree: AiterTree, name: str, arch: str, types: str | None) -> MoeCode:
    """What the generator writes for a name on a target.

    Args:
        tree: the aiter.
        name: the instance.
        arch: the target, on which the tables depend.
        types: the words of the JIT module; its first one without.

    Raises:
        SourceTreeError: the generator writes no instance of this name for the target.
        KtraceError: no module of these words holds it.
    """
    written = {w.module.name.removeprefix(f"{MODULE}_"): w for w in written_instances(tree, name, arch)}
    if not written:
        raise SourceTreeError(
            f"the generator of {MODULE} writes no {name!r} for {arch}",
            expected="a name of its tables, with types, activation and quantisation that it takes",
            hint="tables depend on the target: give it with --target",
        )
    chosen = next(iter(written)) if types is None else types.removeprefix(f"{MODULE}_")
    found = written.get(chosen) or _of_words(tree, name, arch, chosen)
    if found is None:
        raise KtraceError(f"no module {MODULE}_{chosen} holds {name}", expected=" or ".join(written))
    return MoeCode(
        instance=found.instance,
        template=found.template,
        header=found.header,
        types=chosen,
        other_types=tuple(
            words for words, w in written.items() if (w.template, w.header) != (found.template, found.header)
        ),
    )


def _of_words(tree: AiterTree, name: str, arch: str, words: str) -> Written | None:
    """The instance in a module that holds the same function as one of those that stand for all."""
    module = module_of(f"{MODULE}_{words}")
    held = of_module(tree, module, arch) if module is not None else []
    return next((written for written in held if written.instance.name == name), None)


def device_operations(walker: Walker, code: MoeCode) -> list[tuple[str, Named]]:
    """The device operations of CK that the function names, each with its specialisation.

    Several where the function chooses by its arguments; none where its text can't be evaluated.
    """
    function = walker.evaluate(code.template, Env("", {}))
    if not isinstance(function, Function):
        return []
    return [(_specialisation(operation), operation) for operation in walker.follow(function)]


def _specialisation(operation: Named) -> str:
    labels = (
        arg.label for arg in operation.args or () if isinstance(arg, Constant) and arg.type.endswith("Specialization")
    )
    return next(labels, "")
