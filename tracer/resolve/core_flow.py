"""The core flow of any kernel that was found: its place in, numbered steps with checked lines out."""

from __future__ import annotations

from tracer.index.citations import Citations
from tracer.index.tree_index import TreeIndex
from tracer.model.source import FlowStep
from tracer.resolve.hip_flow import hip_flow
from tracer.resolve.python_routes import PythonRoutes
from tracer.resolve.triton_flow import triton_flow


class CoreFlows:
    """Makes core flows for one tree."""

    def __init__(self, index: TreeIndex, citations: Citations, routes: PythonRoutes) -> None:
        """Reads nothing yet."""
        self.index = index
        self.citations = citations
        self.routes = routes
        self._device: dict[str, dict[str, tuple[str, int]]] = {}

    def triton(self, file: str, name: str) -> tuple[FlowStep, ...]:
        """The steps of a Triton kernel."""
        source = self.index.text(file)
        if source is None:
            return ()

        def find(called: str) -> tuple[str, str, str] | None:
            for other, function in self.routes.meaning(file, called):
                text = self.index.text(other)
                if function.triton and text is not None:
                    return text, other, function.name
            return None

        return triton_flow(source, name, file, lambda f, line: self.citations.ref(f, line), find)

    def hip(self, file: str, line: int) -> tuple[FlowStep, ...]:
        """The steps of a HIP kernel whose name stands on a line."""
        source = self.index.latin1(file)
        if source is None or file.endswith(".py"):
            return ()

        def find(called: str, _: str) -> tuple[str, int, str] | None:
            place = self._device_functions(file).get(called)
            text = self.index.latin1(place[0]) if place is not None else None
            return (text, place[1], place[0]) if place is not None and text is not None else None

        return hip_flow(source, line, file, lambda f, at: self.citations.ref(f, at), find)

    def _device_functions(self, file: str) -> dict[str, tuple[str, int]]:
        """Name -> (file, line) of the device functions that a file defines or includes from aiter."""
        if file not in self._device:
            beside: dict[str, str] = {}
            for name in self.index.cpp_files:
                beside.setdefault(name.rpartition("/")[2], name)
            table: dict[str, tuple[str, int]] = {}
            queue, seen = [file], {file}
            while queue:
                here = queue.pop(0)
                facts = self.index.cpp(here)
                if facts is None:
                    continue
                for function in facts.functions:
                    if function.kind == "definition" and not function.kernel and (function.device or function.template):
                        table.setdefault(function.leaf, (here, function.line))
                for written, _, _ in facts.includes:
                    target = beside.get(written.rpartition("/")[2])
                    if target is not None and target not in seen:
                        seen.add(target)
                        queue.append(target)
            self._device[file] = table
        return self._device[file]
