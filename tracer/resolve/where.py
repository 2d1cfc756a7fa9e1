"""Where a name leads: an op, a function, a kernel, an instance or a code object in, its chain to the source out.

A name is asked for in this order: declared ops, guarded and other Python functions, Triton kernels, code objects,
assembly symbols, instances, CK kernels, C++ functions. What nothing bears is `unresolved`, with the reason.
"""

from __future__ import annotations

import difflib
import re

import msgspec

from tracer.aiter.families import CK_FAMILIES
from tracer.aiter.instances import MODULES, instance_table, module_file
from tracer.errors import SourceTreeError
from tracer.index.python_calls import PythonFunction, module_name
from tracer.index.tree_index import Op, TreeIndex
from tracer.model.evidence import Evidence
from tracer.model.kernel import DecodedName
from tracer.model.source import Hop, Layer, UnresolvedReason
from tracer.names.registry import decode
from tracer.resolve.answers import Candidate, RouteHops, Where, WhereKind, WhereStatus
from tracer.resolve.asm_sources import AsmSources
from tracer.resolve.chain import Chains, LaunchStatus, OpChain
from tracer.resolve.checked_hops import checked_hop
from tracer.resolve.ck_sources import CkSources
from tracer.resolve.core_flow import CoreFlows
from tracer.resolve.function_sources import FunctionSources
from tracer.resolve.generated_instances import generated_instance
from tracer.resolve.python_routes import PythonRoutes, Route, Step
from tracer.resolve.symbol_instances import match_of
from tracer.resolve.users import Users

#: families of names whose kernels are not aiter's own
_OTHER_FAMILIES = re.compile(
    r"(?:tensile|cublas|cutlass|aten|nccl|rccl|miopen|rocblas|trtllm|inductor|memory|flash_attention|flashinfer|triton_kernels)"
)
#: namespaces of other libraries
_OTHER_NAMESPACES = re.compile(
    r"\s*(?:void\s+)?(?:at|c10|cub|thrust|cutlass|nccl|rccl|rocprim|hipcub|cublas\w*|cudnn|vllm|flash\w*|sglang|torch|std|"
    r"aten|prims|c10d|fbgemm|xformers|flashinfer)(?:::|_)"
)
#: kernels that torch keeps in an unnamed namespace: what they are made from tells whose they are
_HIDDEN_IN_TORCH = re.compile(r"\s*(?:void\s+)?\(anonymous namespace\)::(?!.*\baiter::).*?\b(?:at|c10)::", re.DOTALL)
#: what a Triton kernel's name goes on with when its constants are written behind it
_CONSTANTS = re.compile(r"_(?=[A-Z0-9]|\w*_\d)")
_CHAINS_SHOWN = 8
#: longer names are copied, not typed: close ones are of no use
_LONGEST_TYPED = 80


class Finder:
    """Finds names in one tree."""

    def __init__(self, index: TreeIndex) -> None:
        """Reads nothing yet."""
        self.index = index
        self.chains = Chains(index)
        self.citations = self.chains.citations
        self.routes = PythonRoutes(index)
        self.users = Users(self.chains)
        self.flows = CoreFlows(index, self.citations, self.routes)
        self.functions = FunctionSources(self.chains, self.users, self.flows, self.routes)
        self.assembly = AsmSources(self.chains, self.users)
        self.ck = CkSources(self.chains, self.users, self.flows)

    def find(self, name: str) -> Where:
        """The answer for one name."""
        asked = name.strip()
        if asked:
            for attempt in (
                self._op,
                self._python,
                self._triton,
                self._symbol,
                self.assembly.code_object,
                self._instance,
                self._kernel,
                self._made_name,
            ):
                answer = attempt(asked)
                if answer is not None:
                    return answer
        return self._nothing(name)

    # -- Python -------------------------------------------------------------------------------------------------

    def _op(self, name: str) -> Where | None:
        registered = name.removeprefix("torch.ops.").replace("aiter.", "aiter::", 1) if "torch.ops" in name else name
        registered = registered.removesuffix(".default")  # the overload, as torch writes it
        plain = registered.removeprefix("aiter::")
        found = [
            op
            for op in self.index.ops
            if op.declaration.name == plain or (op.qualified == name and not registered.startswith("aiter::"))
        ]
        if not found:
            exported = [(file, function.name) for file, function in self._exported(name)]
            found = [op for op in self.index.ops if (op.file, op.declaration.name) in exported]
        return self._ops(name, found, registered) if found else None

    def _exported(self, name: str) -> list[tuple[str, PythonFunction]]:
        """What a name of the package stands for that a module only imported: `aiter.rms_norm`."""
        package, _, leaf = name.rpartition(".")
        file = self.routes.module_file(package) if re.fullmatch(r"aiter(?:\.\w+)*", package) else None
        return self.routes.meaning(file, leaf) if file is not None else []

    def _symbol(self, name: str) -> Where | None:
        """An op by what is looked up in its module, where Python calls it otherwise."""
        found = [op for op in self.index.ops if op.declaration.symbol == name]
        return self._ops(name, found, name) if found else None

    def _ops(self, name: str, found: list[Op], registered: str) -> Where:
        chains = [self.chains.chain(op) for op in found]
        if len(chains) > 1:
            return Where(
                name=name,
                kind=WhereKind.OP,
                status=WhereStatus.AMBIGUOUS,
                reason=UnresolvedReason.AMBIGUOUS,
                chains=tuple(chains),
                candidates=tuple(Candidate(c.python, c.hops[0].source, c.module) for c in chains),
            )
        chain = chains[0]
        notes = list(chain.notes)
        if registered.startswith("aiter::") and chain.registered is None:
            notes.append("aiter's guard leaves this function plain: no torch op of the name is registered")
        return Where(
            name=name,
            kind=WhereKind.OP,
            status=_status(chain),
            reason=chain.definition_reason or chain.launch_reason,
            source=_end(chain.hops),
            hops=chain.hops,
            chains=(chain,),
            ops=(chain.python,),
            core_flow=self.ck.flow_of(chain),
            candidates=self.functions.triton_candidates(name),
            notes=tuple(notes),
        )

    def _python(self, name: str) -> Where | None:
        if not re.fullmatch(r"[A-Za-z_][\w.:]*", name) or ("::" in name and not name.startswith("aiter::")):
            return None
        plain = name.removeprefix("aiter::").removesuffix(".default")
        guarded = [(file, g) for file, g in self.index.guarded if g.name == plain.rpartition(".")[2]]
        found = [(f, p) for f, p in self.index.python_named(plain) if _is_named(f, p, plain) and not p.triton]
        found = found or [(f, p) for f, p in self._exported(plain) if not p.triton]
        if not found:
            return None
        kernels = self.functions.triton_candidates(plain)
        if kernels and all("." in p.name for _, p in found):
            return None  # only methods and inner functions bear a kernel's name
        chosen, meant = self._preferred(plain, found, {file for file, _ in guarded})
        others = (*kernels, *(self._candidate(f, p) for f, p in found if (f, p) not in chosen))
        if len(chosen) > 1 or (kernels and not meant):
            return Where(
                name=name,
                kind=WhereKind.PYTHON,
                status=WhereStatus.AMBIGUOUS,
                reason=UnresolvedReason.AMBIGUOUS,
                candidates=(*(self._candidate(f, p) for f, p in chosen), *others),
                notes=("give the dotted name of one of them",),
            )
        file, function = chosen[0]
        return self._function(name, file, function, registered=any(f == file for f, _ in guarded), others=others)

    def _preferred(
        self, name: str, found: list[tuple[str, PythonFunction]], guarded: set[str]
    ) -> tuple[list[tuple[str, PythonFunction]], bool]:
        """Of several functions of a name: the registered one, else what `aiter.NAME` means, else those at top level.

        Returns:
            These functions, and whether aiter itself says that the name means them.
        """
        registered = [(f, p) for f, p in found if f in guarded]
        if len(registered) == 1:
            return registered, True
        exported = [item for item in self.routes.meaning("aiter/__init__.py", name) if item in found]
        if exported:
            return exported[:1], True
        top = [(f, p) for f, p in found if "." not in p.name and "/test" not in f]
        return top or found, False

    def _candidate(self, file: str, function: PythonFunction) -> Candidate:
        leaf = function.name.rpartition(".")[2]
        return Candidate(f"{module_name(file)}.{function.name}", self.citations.ref(file, function.line, leaf))

    def _function(
        self, name: str, file: str, function: PythonFunction, *, registered: bool, others: tuple[Candidate, ...]
    ) -> Where:
        leaf = function.name.rpartition(".")[2]
        source = self.citations.ref(file, function.line, leaf, function.last)
        hops = [checked_hop(Layer.PYTHON, f"{module_name(file)}.{function.name}", source)]
        if registered:
            hops.append(checked_hop(Layer.REGISTERED_OP, f"aiter::{leaf}", source, note="torch_compile_guard on it"))
        routes = self.routes.routes(file, function)
        chains = [self.chains.chain(r.op) for r in routes if r.op is not None][:_CHAINS_SHOWN]
        launching = [c for c in chains if c.launch is not LaunchStatus.HOST_ONLY]
        kernels = [r for r in routes if r.op is None]
        notes = []
        if len(launching) + len(kernels) > 1:
            notes.append("which of these runs is decided when it is called")
        if not routes:
            notes.append("no call in it was followed to a compiled op or a Triton kernel")
        ways = [*(c.hops for c in launching), *(self._route_hops(r)[1:] for r in kernels)]
        if ways:
            first = ways[0][0]
            if len(ways) > 1:
                first = msgspec.structs.replace(first, note=f"one of {len(ways)} ways on: {first.note or ''}")
            hops += (first, *ways[0][1:])
        known = bool(routes) and source is not None
        return Where(
            name=name,
            kind=WhereKind.PYTHON,
            status=WhereStatus.RESOLVED if known or source is not None else WhereStatus.UNRESOLVED,
            reason=None if source is not None else UnresolvedReason.CHANGED,
            source=source,
            hops=tuple(hops),
            chains=tuple(chains),
            routes=tuple(
                RouteHops(
                    to=r.name,
                    kind=WhereKind.OP if r.op is not None else WhereKind.TRITON if r.triton else WhereKind.HIP_KERNEL,
                    hops=self._route_hops(r),
                )
                for r in routes
            ),
            ops=tuple(c.python for c in chains),
            candidates=others,
            notes=tuple(notes),
        )

    def _route_hops(self, route: Route) -> tuple[Hop, ...]:
        hops = [self._step_hop(step) for step in route.steps]
        if route.op is not None:
            declared = route.op.declaration
            source = self.citations.ref(route.op.file, declared.line, declared.name, declared.last)
            hops.append(checked_hop(Layer.PYTHON, route.op.qualified, source, note=f"compiled op of {declared.module}"))
        if route.compiler:
            for template in self.functions.templates.of_python(route.steps[-1].file):
                hops += self.functions.template_hops(template)
        if route.triton is not None:
            file, function = route.triton
            source = self.citations.ref(file, function.line, function.name.rpartition(".")[2], function.last)
            hops.append(checked_hop(Layer.KERNEL, function.name, source, note="Triton kernel"))
        return tuple(hops)

    def _step_hop(self, step: Step) -> Hop:
        source = self.citations.ref(step.file, step.call_line)
        return checked_hop(
            Layer.PYTHON, f"{module_name(step.file)}.{step.function.name}", source, note="calls the next here"
        )

    # -- Triton -------------------------------------------------------------------------------------------------

    def _triton(self, name: str) -> Where | None:
        kernels = self.routes.triton_kernels
        plain = name.rpartition(".")[2] if re.fullmatch(r"[\w.]+", name) else name
        known = plain if plain in kernels else _longest_prefix(plain, kernels)
        if known is None:
            return None
        return self.functions.triton(name, known)

    # -- instances ----------------------------------------------------------------------------------------------

    def _instance(self, name: str) -> Where | None:
        if not re.fullmatch(r"[A-Za-z]\w{15,}", name):
            return None
        for family in MODULES:
            if module_file(self.index.tree, family) is None:
                continue
            for arch in ("gfx942", "gfx950"):
                try:
                    instance = instance_table(self.index.tree, family, arch).named(name)
                except SourceTreeError:
                    break
                if instance is not None:
                    modules = [f.module for f in CK_FAMILIES.values() if f.instances == family]
                    match = match_of(self.index.tree, family, instance)
                    return self.ck.instance(name, match, instance, self._chains_in(modules))
        made = generated_instance(self.index.tree, name)
        if made is not None:
            match = match_of(self.index.tree, made.family, made.instance)
            return self.ck.instance(name, match, made.instance, self._chains_in([made.module]), made.places)
        return None

    def _made_name(self, name: str) -> Where | None:
        """An instance that no table lists."""
        return self.ck.made_name(name, self._chains_in) if re.fullmatch(r"[A-Za-z]\w{15,}", name) else None

    def _chains_in(self, modules: list[str]) -> list[OpChain]:
        chains = [self.chains.chain(op) for op in self.users.ops_in(modules)]
        return [c for c in chains if c.launch is not LaunchStatus.HOST_ONLY]

    # -- C++ and kernels ----------------------------------------------------------------------------------------

    def _kernel(self, name: str) -> Where | None:
        decoded = decode(name)
        without_ck: Where | None = None
        for attempt in (
            self.assembly.kernel,
            self.ck.kernel,
            self.ck.tile_kernel,
            self.functions.cpp,
            self.ck.bare,
        ):
            answer = attempt(name, decoded)
            if answer is None:
                continue
            if answer.reason is UnresolvedReason.CK_MISSING:  # aiter itself may define what is named like CK's
                without_ck = without_ck or answer
                continue
            if answer.status is WhereStatus.INFERRED and _is_other(name, decoded):
                namesake = Candidate(answer.hops[-1].name, answer.source, "aiter's function of the same name")
                return msgspec.structs.replace(self._nothing(name), candidates=(namesake,))
            return answer
        return without_ck

    # -- nothing ------------------------------------------------------------------------------------------------

    def _nothing(self, name: str) -> Where:
        decoded = decode(name)
        reason = UnresolvedReason.NO_SUCH_NAME
        notes: list[str] = []
        if _is_other(name, decoded):
            reason = UnresolvedReason.OTHER_LIBRARY
            notes.append(f"the name is one of {_library(name, decoded)}'s; its source is not in this tree")
        elif decoded.family is not None and decoded.family.startswith(("aiter", "ck_")):
            notes.append(f"the name reads as {decoded.family}, but this version of aiter has nothing of that name")
        close: tuple[Candidate, ...] = ()
        if reason is UnresolvedReason.NO_SUCH_NAME:
            close = tuple(Candidate(text, None, "a close name") for text in self._close(name))
        return Where(
            name=name,
            kind=WhereKind.UNKNOWN,
            status=WhereStatus.UNRESOLVED,
            reason=reason,
            candidates=close,
            notes=tuple(notes),
        )

    def _close(self, name: str) -> list[str]:
        known = {op.declaration.name for op in self.index.ops}
        known |= {g.name for _, g in self.index.guarded} | set(self.routes.triton_kernels)
        plain = name.removeprefix("aiter::")
        known.discard(plain)
        if len(plain) > _LONGEST_TYPED:
            return []
        near = sorted(text for text in known if abs(len(text) - len(plain)) <= 0.4 * len(plain))
        return difflib.get_close_matches(plain, near, n=5, cutoff=0.7)


def _status(chain: OpChain) -> WhereStatus:
    if chain.definition is Evidence.UNRESOLVED:
        reason = chain.definition_reason
        return WhereStatus.AMBIGUOUS if reason is UnresolvedReason.AMBIGUOUS else WhereStatus.UNRESOLVED
    if chain.launch is LaunchStatus.UNRESOLVED:
        return WhereStatus.UNRESOLVED
    if Evidence.INFERRED in (chain.definition,) or chain.launch is LaunchStatus.INFERRED:
        return WhereStatus.INFERRED
    return WhereStatus.RESOLVED


def _end(hops: tuple[Hop, ...]):  # type: ignore[no-untyped-def]  # SourceRef | None
    return next((hop.source for hop in reversed(hops) if hop.source is not None), None)


def _is_named(file: str, function: PythonFunction, name: str) -> bool:
    """Whether a dotted name can mean a function: its end, or the whole with the module's name."""
    whole = f"{module_name(file)}.{function.name}"
    return whole == name or whole.endswith(f".{name}")


def _longest_prefix(name: str, kernels: dict[str, list[str]]) -> str | None:
    """The kernel whose name a longer one (with its constants written behind) begins with."""
    found = [k for k in kernels if name.startswith(k) and _CONSTANTS.match(name, len(k))]
    return max(found, key=len, default=None)


def _library(name: str, decoded: DecodedName) -> str:
    """Whose a foreign name is, as a reader knows it: by its grammar, or by its namespace where that says no more."""
    if decoded.family is not None and _OTHER_FAMILIES.match(decoded.family):
        return decoded.family
    if _HIDDEN_IN_TORCH.match(decoded.spelled):
        return "torch"
    spelled = _OTHER_NAMESPACES.match(decoded.spelled) or _OTHER_NAMESPACES.match(name)
    found = re.search(r"([A-Za-z]\w*?)(?:::|_)\Z", spelled.group()) if spelled is not None else None
    return found.group(1) if found is not None else "another library"


def _is_other(name: str, decoded: DecodedName) -> bool:
    if decoded.family is not None and _OTHER_FAMILIES.match(decoded.family):
        return True
    patterns = (_OTHER_NAMESPACES, _HIDDEN_IN_TORCH)
    return any(pattern.match(text) for pattern in patterns for text in (decoded.spelled, name))
