"""Where a host function launches kernels: a function in a module's scope in, the launches its calls lead to out.

Calls are followed by the build's own names: functions of the scope, macros with their arguments, methods of a receiver
whose type the text states, and the templates of generators. Followed by a bare name alone, a path is `inferred`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import msgspec

from tracer.index.cpp_facts import Call
from tracer.index.cpp_macros import split_arguments
from tracer.index.generated import HOLE
from tracer.index.launch_calls import is_asm_class, kernel_name, named_objects, names_asm, written_launch
from tracer.index.null_arguments import null_arguments, parameters_at, returns_at
from tracer.index.origins import origins
from tracer.index.receivers import Receivers
from tracer.index.scope import Place, Scope

#: method names that every container has; never followed without a known class
_COMMON_METHODS = frozenset((
    "size", "data", "begin", "end", "find", "at", "empty", "value", "has_value", "value_or", "get", "reset",
    "push_back", "emplace", "insert", "clear", "count", "c_str", "str", "stride", "dim", "dtype", "numel", "data_ptr",
    "options", "device", "sizes", "is_contiguous", "element_size", "itemsize", "scalar_type", "first", "second",
))  # fmt: skip
_LIMIT = 4000


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """One launch that a function's calls lead to.

    Attributes:
        kind: "hip" (a `__global__` function), "ck" (a CK device op's invoker), "ck_tile" (`make_kernel`), "asm" (a
            function of a code object), "library" (a library's own kernels) or "memory" (a copy or fill).
        file: file of the launch.
        line: its line.
        kernel: the kernel as the launch writes it, macro parameters filled in; for asm the objects or tables.
        configuration: grid and block as written, or "".
        path: the functions from the start to the one that holds the launch.
        inferred: whether some step was followed by its bare name alone.
        targets: the `__global__` functions that the kernel can mean.
        objects: the code objects and configuration tables that the launching function's own text gives it.
    """

    kind: str
    file: str
    line: int
    kernel: str
    configuration: str = ""
    path: tuple[Place, ...] = ()
    inferred: bool = False
    targets: tuple[Place, ...] = ()
    objects: tuple[str, ...] = ()


class LaunchSearch(msgspec.Struct, frozen=True):
    """What a search found.

    Attributes:
        launches: the launches, nearest first, each place once.
        open_ends: names that are called, belong to no known library, and are defined nowhere in the scope.
        reached: the functions looked at.
        objects: code objects and configuration tables that these functions name, where a launch leaves its own open.
    """

    launches: tuple[Launch, ...]
    open_ends: tuple[str, ...]
    reached: tuple[Place, ...] = ()
    objects: tuple[str, ...] = ()


class _Task(msgspec.Struct):
    """A function to look at.

    Attributes:
        place: the function.
        values: for a macro, its arguments by parameter.
        path: the functions on the way to it.
        inferred: whether some step on the way was taken by a bare name alone.
        null: its parameters that are null on this way.
    """

    place: Place
    values: dict[str, str]
    path: tuple[Place, ...]
    inferred: bool
    null: frozenset[str] = frozenset()


def find_launches(scope: Scope, start: Place) -> LaunchSearch:
    """Follows the calls of `start` to launches, breadth first."""
    return _Search(scope).run(start)


class _Search:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.found: dict[tuple[str, int, str], Launch] = {}
        self.open: dict[str, None] = {}
        self.queue: list[_Task] = []
        self.seen: set[tuple[object, ...]] = set()
        self.reached: list[Place] = []
        self.scripts: set[str] = set()
        self.receivers = Receivers(scope)

    def run(self, start: Place) -> LaunchSearch:
        self._push(start, {}, (), False)
        while self.queue and len(self.reached) < _LIMIT:
            task = self.queue.pop(0)
            self.reached.append(task.place)
            self._visit(task)
        unnamed = any(launch.kind == "asm" and not launch.objects for launch in self.found.values())
        objects = dict.fromkeys(name for place in self.reached if unnamed for name in self._objects(place))
        return LaunchSearch(tuple(self.found.values()), tuple(self.open), tuple(self.reached), tuple(objects))

    def _push(
        self,
        place: Place,
        values: Mapping[str, str],
        path: tuple[Place, ...],
        inferred: bool,
        null: frozenset[str] = frozenset(),
    ) -> None:
        if place.function.kernel or place.function.device:
            return
        key = (*place.key, tuple(sorted(values.items())), null)
        if key not in self.seen:
            self.seen.add(key)
            self.queue.append(_Task(place, dict(values), path, inferred, null))

    def _null(self, task: _Task, call: Call, place: Place) -> frozenset[str]:
        """The parameters of a called function that this call leaves null."""
        function = task.place.function
        text = self.scope.lines(task.place.file, call.line, function.last)
        if not task.null and "nullptr" not in text:
            return frozenset()
        leaf = call.name.rpartition("::")[2]
        places = null_arguments(text, leaf, task.null)
        if not places:
            return frozenset()
        return parameters_at(
            self.scope.lines(place.file, place.function.line, place.function.last), place.function.leaf, places
        )

    def _last_line(self, task: _Task) -> float:
        """The last line of a function that can run on this way: it may return early for want of a buffer."""
        if not task.null:
            return math.inf
        line = returns_at(self.scope.body(task.place), task.null)
        return math.inf if line is None else task.place.function.first + line

    def _launch(
        self,
        task: _Task,
        kind: str,
        line: int,
        kernel: str,
        configuration: str = "",
        name: str = "",
        objects: tuple[str, ...] = (),
    ) -> None:
        targets = tuple(self.scope.kernels(name)) if name else ()
        if name and not targets:
            targets = self._variable(task.place, name)
        key = (task.place.file, line, kernel)
        launch = Launch(
            kind=kind,
            file=task.place.file,
            line=line,
            kernel=kernel,
            configuration=configuration,
            path=(*task.path, task.place),
            inferred=task.inferred,
            targets=targets,
            objects=objects,
        )
        self.found.setdefault(key, launch)

    def _variable(self, place: Place, name: str) -> tuple[Place, ...]:
        """The kernels that a local variable is set to (`auto kernel = k<A>;`), also by functions that return one."""
        found: dict[tuple[str, int, str], Place] = {}
        words: list[tuple[str, int]] = []
        for m in re.finditer(rf"\b{re.escape(name)}\s*(?:\([^()]*\))?\s*=\s*([^;]+);", self.scope.body(place)):
            words += [(word, 0) for word in re.findall(r"[A-Za-z_][\w:]*", m.group(1))]
        seen: set[str] = set()
        while words and len(seen) < 60:
            word, depth = words.pop(0)
            if word in seen:
                continue
            seen.add(word)
            kernels = self.scope.kernels(word)
            found.update((k.key, k) for k in kernels)
            if not kernels and depth < 4:
                for inner in self.scope.definitions(word, place.function.name):
                    words += [(c.name, depth + 1) for c in inner.function.calls if not c.receiver]
        return tuple(found.values())

    def _visit(self, task: _Task) -> None:
        function = task.place.function
        last = self._last_line(task)
        for site in function.launches:
            if site.line > last:
                continue
            kernel = _fill(site.kernel, task.values)
            if kernel_name(kernel) in function.names:
                continue  # a macro that was only mentioned: what it launches is its user's to say
            self._launch(task, "hip", site.line, kernel, site.configuration, kernel_name(kernel))
        if HOLE in function.name or function.kind == "fragment" or task.place.file in self.scope.scripts:
            self._script(task)
        for call in function.calls:
            if call.line <= last:
                self._call(task, call)

    def _local(self, place: Place, name: str) -> bool:
        """Whether a function's own text makes a struct or a lambda of that name."""
        body = self.scope.body(place)
        if name not in body:
            return False
        made = rf"\b(?:struct|class)\s+{re.escape(name)}\b|\b{re.escape(name)}\s*=\s*\["
        return bool(re.search(made, body))

    def _script(self, task: _Task, file: str = "") -> None:
        """A generator's template was reached: the other pieces of the same script belong to what it writes.

        Where these pieces lead to several functions, which of them this path takes is not stated: then it is inferred.
        """
        file = file or task.place.file
        if file in self.scripts:
            return
        self.scripts.add(file)
        fragments = self.scope.fragments.get(file, [])
        holes = self.scope.hole_places(file)
        called = {
            c.name.rpartition("::")[2]
            for place in fragments
            for c in place.function.calls
            if not c.receiver and self.scope.definitions(c.name) and not self.scope.macros(c.name)
        }
        inferred = task.inferred or len(called) > 1 or len(holes) > 1
        for place in [*fragments, *holes]:
            self._push(place, {}, (*task.path, task.place), inferred)

    def _call(self, task: _Task, call: Call) -> None:
        name = _fill(call.name, task.values).strip()
        if name in task.place.function.names:
            return
        if not name or not re.match(r"[A-Za-z_]", name):
            return
        name, _, _ = name.partition("<")
        leaf = name.rpartition("::")[2]
        text = _fill(call.text, task.values)
        if self._direct(task, call, leaf, name, text):
            return
        if call.receiver and call.receiver not in ("this",):
            self._method(task, call, leaf)
            return
        within = ((place.file, place.function.last) for place in reversed(task.path))
        macros = self.scope.macros(name, ((task.place.file, call.line), *within))
        for macro in macros:
            arguments = split_arguments(text)
            names = macro.function.names
            values = dict(zip(names, arguments, strict=False))
            if names and names[-1] == "...":
                values["__VA_ARGS__"] = ", ".join(arguments[len(names) - 1 :])
            self._push(macro, values, (*task.path, task.place), task.inferred)
            if macro.file in self.scope.scripts:
                self._script(_Task(macro, values, (*task.path, task.place), task.inferred))
        if macros:
            return
        inferred = task.inferred
        found = self.scope.definitions(name, task.place.function.name, call.arguments)
        if not found and self._class(task, name):
            return
        if not found:
            found = self.scope.generated(name)
            inferred = inferred or len(found) > 1
        if not found and call.arguments >= 0 and not self.scope.external(call):
            found = self.scope.in_ck(name)
        for place in found:
            self._push(place, {}, (*task.path, task.place), inferred, self._null(task, call, place))
        if found:
            return
        if name.isupper():
            for script in self.scope.writers(name):
                self._script(task, script)
        elif call.arguments >= 0 and not self.scope.external(call) and not self._local(task.place, leaf):
            self.open[name] = None

    def _direct(self, task: _Task, call: Call, leaf: str, name: str, text: str) -> bool:
        """Records a call that launches; True when it does."""
        written = written_launch(call, name, text)
        if written is not None:
            self._launch(task, written.kind, call.line, written.kernel, written.configuration, written.function)
            return True
        if leaf == "Run" and call.receiver and any(c.name == "MakeInvoker" for c in task.place.function.calls):
            self._launch(task, "ck", call.line, self._device_op(task) or call.receiver, "")
            return True
        if leaf == "launch_kernel" and call.receiver:
            owner = self.receivers.owner(call.receiver, (task.place, *reversed(task.path)))
            if is_asm_class(owner) if owner is not None else names_asm(task.place.function):
                objects = self._loaded(task.place, call)
                self._launch(task, "asm", call.line, "; ".join(objects) or call.receiver, objects=objects)
                return True
        return False

    def _objects(self, place: Place) -> tuple[str, ...]:
        """The code objects and configuration tables that a function's own text names."""
        return named_objects(self.scope.body(place))

    def _loaded(self, place: Place, call: Call) -> tuple[str, ...]:
        """The code objects and tables that the kernel of a `kernel->launch_kernel(...)` can come from."""
        objects = self._objects(place)
        variable = re.match(r"\(?\*?(\w+)", call.receiver)
        if len(objects) < 2 or variable is None:
            return objects
        body = self.scope.body(place)
        before = body.split("\n")[: call.line - place.function.first + 1]
        use = len("\n".join(before))
        return named_objects("\n".join(origins(body, variable.group(1), use))) or objects

    def _device_op(self, task: _Task) -> str:
        """The CK device op that a launching template is instantiated with, as the caller's text names it."""
        for place in reversed(task.path):
            for call in place.function.calls:
                if call.template and call.name.rpartition("::")[2] == task.place.function.leaf:
                    arguments = split_arguments(call.template)
                    ops = [a for a in arguments if re.search(r"Device|Instance|Gemm", a)]
                    if ops:
                        return ops[-1]
        return ""

    def _class(self, task: _Task, name: str) -> bool:
        """A class that is constructed: its constructor may launch, or hold what launches later."""
        types = self.scope.types(name)
        if not types:
            return False
        leaf = name.rpartition("::")[2]
        for place in self.scope.definitions(f"{leaf}::{leaf}"):
            self._push(place, {}, (*task.path, task.place), task.inferred)
        for _, alias in types:
            if alias.target:
                target = re.match(r"[\w:]+", alias.target)
                if target is not None and target.group() != name:
                    inner = target.group().rpartition("::")[2]
                    for place in self.scope.definitions(f"{inner}::{inner}"):
                        self._push(place, {}, (*task.path, task.place), task.inferred)
        return True

    def _method(self, task: _Task, call: Call, leaf: str) -> None:
        if not self.scope.definitions(leaf):
            return
        owner = self.receivers.owner(call.receiver, (task.place, *reversed(task.path)))
        if owner is not None:
            found = self.scope.definitions(f"{owner}::{leaf}", "", call.arguments)
            if found:
                for place in found:
                    self._push(place, {}, (*task.path, task.place), task.inferred)
                return
        if leaf in _COMMON_METHODS:
            return
        found = [p for p in self.scope.definitions(leaf, "", call.arguments) if "::" in p.function.name]
        owners = {p.function.name.rpartition("::")[0] for p in found}
        if len(owners) == 1 and self.scope.types(next(iter(owners))):
            for place in found:
                self._push(place, {}, (*task.path, task.place), True)


def _fill(text: str, values: Mapping[str, str]) -> str:
    """Macro parameters replaced by the arguments of the use."""
    if not values or not text:
        return text
    filled = re.sub(r"[A-Za-z_]\w*", lambda m: values.get(m.group(), m.group()), text)
    return filled.replace(" ## ", "").replace("##", "")
