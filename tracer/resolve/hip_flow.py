"""The core flow of a HIP kernel: its source and lines in, numbered steps with their lines out.

Read from the structure that tree-sitter gives: LDS arrays, reads and writes through pointer parameters and load or
store helpers, barriers, matrix instructions, loops that hold such steps, reductions, atomics. What the kernel calls
elsewhere is named, not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from tracer.index.cpp_macros import mask
from tracer.index.cpp_parsing import read_nodes
from tracer.model.source import FlowStep, SourceRef

if TYPE_CHECKING:
    from tree_sitter import Node

_MATRIX = re.compile(r"mfma|wmma|smfmac|(?:^|_)[sfu]?dot[248]|gcn_mfma|mma\b|\bgemm\b|tiled_mma", re.IGNORECASE)
_MATRIX_ASM = re.compile(r"v_(?:mfma|smfmac|wmma|dot[248])\w*")
_LOAD = re.compile(r"(?:^|_)(?:load|ldg|buffer_load|async_load|raw_buffer_load)(?:$|_)|^load\w*|Load$", re.IGNORECASE)
_STORE = re.compile(r"(?:^|_)(?:store|buffer_store|raw_buffer_store|stg)(?:$|_)|^store\w*|Store$", re.IGNORECASE)
_REDUCE = re.compile(r"reduce|shfl|dpp|ds_swizzle|warp_sum|wave_sum|block_sum|permlane|readlane", re.IGNORECASE)
_ATOMIC = re.compile(r"atomic|red_add", re.IGNORECASE)
_BARRIER = re.compile(r"__syncthreads|s_barrier|__syncwarp|sync_threads|block_sync")
_FUNCTIONS = re.compile(
    r"(?:__)?(?:rsqrt|rsqrtf|exp|expf|exp2f|fast_exp|tanh|tanhf|rcp|__builtin_amdgcn_(?:rcpf|exp2f|rsqf))\Z"
)
_POINTER_CAST = re.compile(r"(?:reinterpret_cast|static_cast)\s*<[^>]*\*\s*>|\([^()]*\*\s*\)|&")
_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
_MOST = 30
#: how many repeats of one kind of step by one helper or array are kept, tried in this order until the list is short
_REPEATS = (3, 2, 1)

#: a called name and the file it is called in -> (source, line, file) of the device function it means, or None
Finder = Callable[[str, str], "tuple[str, int, str] | None"]


class _Raw(msgspec.Struct):
    kind: str
    text: str
    line: int
    what: str
    file: str
    span: int = 0  # for a loop: how many of the steps after it are inside


def hip_flow(
    source: str,
    line: int,
    file: str,
    cite: Callable[[str, int], SourceRef | None],
    find: Finder | None = None,
) -> tuple[FlowStep, ...]:
    """The steps of the kernel whose name stands on a line; empty when no function is found there.

    Args:
        source: the file's bytes decoded as Latin-1.
        line: line of the kernel's name.
        file: the file.
        cite: (file, line) -> a checked citation, or None.
        find: what leads a called name to a device function; None follows nothing.
    """
    raw = _steps(source, line, file, None)
    if find is not None and not any(step.kind in ("mfma", "store", "atomic") for step in raw):
        raw = _steps(source, line, file, find)  # it hands its work to a device function: that one is read too
    steps = []
    for item in _thinned(raw):
        place = cite(item.file, item.line)
        if place is not None:
            steps.append(FlowStep(item.kind, item.text, place))
    return tuple(steps)


def _steps(source: str, line: int, file: str, find: Finder | None) -> list[_Raw]:
    data, root = read_nodes(source)
    function = _function_at(root, line)
    body = function.child_by_field_name("body") if function is not None else None
    if function is None or body is None:
        return []
    shared = {i for i, text in enumerate(mask(source).split("\n")) if "__shared__" in text}  # the parser never sees it
    reader = _Reader(data, file, _pointer_parameters(data, function), shared, find)
    reader.walk(body)
    return reader.steps


def _function_at(root: Node, line: int) -> Node | None:
    """The innermost function definition whose head holds a line."""
    node = root.descendant_for_point_range((line - 1, 0), (line - 1, 10_000))
    while node is not None and node.type != "function_definition":
        node = node.parent
    if node is not None:
        declarator = node.child_by_field_name("declarator")
        within = declarator is not None and declarator.start_point[0] < line <= declarator.end_point[0] + 1
        return node if within else None  # else the parser lost its way: what it takes for this function is another
    best: Node | None = None
    waiting = [root]
    while waiting:
        item = waiting.pop()
        if item.start_point[0] <= line - 1 <= item.end_point[0]:
            if item.type == "function_definition":
                best = item
            waiting += item.children
    return best


def _pointer_parameters(data: bytes, function: Node) -> set[str]:
    """Names of the parameters that are pointers."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    names: set[str] = set()
    for parameter in listed.named_children if listed is not None else ():
        text = data[parameter.start_byte : parameter.end_byte].decode("latin-1")
        found = re.search(r"\*[^,*]*?([A-Za-z_]\w*)\s*(?:=.*)?$", text, re.DOTALL)
        if found:
            names.add(found.group(1))
    return names


class _Reader:
    """Collects steps in the order of the text."""

    def __init__(self, data: bytes, file: str, pointers: set[str], shared_lines: set[int], find: Finder | None) -> None:
        self.data = data
        self.file = file
        self.find = find
        self.shared_lines = shared_lines
        self.pointers = set(pointers)
        self.shared: set[str] = set()
        self.steps: list[_Raw] = []

    def text(self, node: Node | None, most: int = 70) -> str:
        if node is None:
            return ""
        text = " ".join(self.data[node.start_byte : node.end_byte].decode("latin-1").split())
        return text if len(text) <= most else text[: most - 3] + "..."

    def walk(self, node: Node) -> None:
        if node.type in _LOOPS:
            self._loop(node)
            return
        if node.type == "declaration":
            self._declaration(node)
        elif node.type == "assignment_expression":
            self._assignment(node)
            return
        elif node.type == "call_expression":
            self._call(node)
            return
        elif node.type == "gnu_asm_expression":
            self._assembly(node)
            return
        elif node.type == "field_expression" and self.text(node).startswith("blockIdx"):
            self._add("map", f"The block finds its part of the problem from {self.text(node)}.", node, self.text(node))
            return
        elif node.type in ("subscript_expression", "pointer_expression"):
            self._read(node)
        for child in node.named_children:
            self.walk(child)

    def _loop(self, node: Node) -> None:
        place = len(self.steps)
        body = node.child_by_field_name("body")
        for child in node.named_children:
            if child != body:
                self.walk(child)
        before = len(self.steps)
        if body is not None:
            self.walk(body)
        inside = self.steps[before:]
        if not any(step.kind not in ("math", "map") for step in inside):
            return  # arithmetic only: no step of its own
        head = self.data[node.start_byte : (body.start_byte if body is not None else node.end_byte)].decode("latin-1")
        written = re.sub(r"^(?:for|while|do)\s*", "", " ".join(head.split()))
        written = written or "do ... while"
        written = written[1:-1] if written.startswith("(") and written.endswith(")") else written
        first = inside[0]
        if first.kind == "loop" and first.span == len(inside) - 1:  # nothing but one loop in it: one step for both
            self.steps.remove(first)
            inside = inside[1:]
            written = f"{written[:50]}, and in it {first.what}"
        kind = "Main loop" if any(step.kind == "mfma" for step in inside) else "Loop"
        text = f"{kind}: {written if len(written) <= 140 else written[:137] + '...'}."
        self.steps.insert(place, _Raw("loop", text, node.start_point[0] + 1, written, self.file, len(inside)))

    def _declaration(self, node: Node) -> None:
        """LDS arrays, and pointers that are made from pointer parameters."""
        declared = [c for c in node.named_children if c.type in ("init_declarator", "array_declarator")]
        for item in declared:
            name = self._name(item)
            if item.type == "array_declarator" and node.start_point[0] in self.shared_lines:
                self.shared.add(name)
                self._add("lds", f"Keeps {self.text(item)} in LDS.", node, name)
            value = item.child_by_field_name("value") if item.type == "init_declarator" else None
            declarator = item.child_by_field_name("declarator")
            pointer = declarator is not None and declarator.type == "pointer_declarator"
            if value is not None and (pointer or _POINTER_CAST.match(self.text(value, 200))):
                mentioned = set(re.findall(r"[A-Za-z_]\w*", self.text(value, 400)))
                if mentioned & self.shared:
                    self.shared.add(name)
                elif mentioned & self.pointers:
                    self.pointers.add(name)

    def _name(self, node: Node) -> str:
        inner: Node | None = node
        while inner is not None and inner.type not in ("identifier", "field_identifier"):
            inner = inner.child_by_field_name("declarator")
        return self.text(inner)

    def _assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is not None:
            self.walk(right)
        base = self._base(left) if left is not None else ""
        if left is not None and left.type in ("subscript_expression", "pointer_expression"):
            if base in self.shared:
                self._add("lds", f"Writes {self.text(left)} to LDS.", node, f"write {base}")
            elif base in self.pointers:
                self._add("store", f"Writes {self.text(left)}.", node, base)
            else:
                for child in left.named_children:
                    self.walk(child)

    def _read(self, node: Node) -> None:
        base = self._base(node)
        if node.type == "pointer_expression" and not self.text(node).startswith("*"):
            return
        if base in self.shared:
            self._add("lds", f"Reads {self.text(node)} from LDS.", node, f"read {base}")
        elif base in self.pointers:
            self._add("load", f"Reads {self.text(node)}.", node, base)

    def _base(self, node: Node) -> str:
        inner: Node | None = node
        while inner is not None and inner.type in (
            "subscript_expression", "pointer_expression", "parenthesized_expression", "field_expression",
            "binary_expression",
        ):  # fmt: skip
            inner = (
                inner.child_by_field_name("argument")
                or inner.child_by_field_name("left")
                or (inner.named_children[0] if inner.named_children else None)
            )
        return self.text(inner) if inner is not None and inner.type == "identifier" else ""

    def _call(self, node: Node) -> None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if arguments is not None:
            for child in arguments.named_children:
                self.walk(child)
        written = self.text(function, 200)
        plain = re.sub(r"<.*>", "", written)
        leaf = re.split(r"::|\.|->", plain)[-1].replace("template ", "").strip()
        shown = plain if len(plain) <= 50 else leaf
        passed = self.text(arguments, 60) if arguments is not None else ""
        if _BARRIER.search(leaf):
            self._add("barrier", "Waits until all threads of the block are here.", node, leaf)
        elif _ATOMIC.search(leaf):
            what = "Reads" if "load" in leaf else "Writes" if "store" in leaf else "Adds or exchanges"
            self._add("atomic", f"{what} atomically: {shown}{passed}.", node, leaf)
        elif _MATRIX.search(leaf) and not leaf.startswith("make_"):
            self._add("mfma", f"Multiplies with {shown}{passed}.", node, leaf)
        elif _REDUCE.search(leaf):
            self._add("reduce", f"Reduces across threads: {shown}{passed}.", node, leaf)
        elif _STORE.search(leaf) and not leaf.startswith("make_"):
            self._add("store", f"Writes with {shown}{passed}.", node, leaf)
        elif _LOAD.search(leaf) and not leaf.startswith("make_"):
            self._add("load", f"Reads with {shown}{passed}.", node, leaf)
        elif _FUNCTIONS.match(leaf):
            self._add("math", f"Computes {leaf}{passed}.", node, leaf)
        elif not self._follow(node, leaf) and function is not None:
            for child in function.named_children:
                self.walk(child)

    def _follow(self, node: Node, leaf: str) -> bool:
        """Reads into a device function that the kernel hands its work to."""
        found = self.find(leaf, self.file) if self.find is not None and leaf.isidentifier() else None
        if found is None:
            return False
        source, line, file = found
        inner = _steps(source, line, file, None)
        if not any(step.kind in ("load", "store", "mfma", "atomic", "lds", "reduce") for step in inner):
            return False
        self._add("call", f"Calls {leaf}:", node, leaf)
        self.steps += inner
        return True

    def _assembly(self, node: Node) -> None:
        code = self.data[node.start_byte : node.end_byte].decode("latin-1")
        matrix = _MATRIX_ASM.search(code)
        if matrix:
            self._add("mfma", f"Multiplies with the instruction {matrix.group()}.", node, matrix.group())

    def _add(self, kind: str, text: str, node: Node, what: str) -> None:
        self.steps.append(_Raw(kind, text, node.start_point[0] + 1, what, self.file))


def _thinned(steps: list[_Raw]) -> list[_Raw]:
    """Steps without repeats, the more of them left out the longer the list is."""
    kept = steps
    for repeats in _REPEATS:
        kept = _without_repeats(steps, repeats)
        if len(kept) <= _MOST:
            return kept
    matter = [s for s in kept if s.kind not in ("map", "math", "barrier")]
    rest = matter[_MOST - 2 :]
    until = next((i for i, step in enumerate(rest) if step.kind == "call"), len(rest))
    return matter[: _MOST - 2] + [s for s in rest[:until] if s.kind in ("store", "atomic")][-2:]


def _without_repeats(steps: list[_Raw], repeats: int) -> list[_Raw]:
    out: list[_Raw] = []
    lines: set[tuple[str, str, int]] = set()
    count: dict[tuple[str, str], int] = {}
    for step in steps:
        key = (step.kind, step.what)
        count[key] = count.get(key, 0) + 1
        most = 1 if step.kind in ("map", "math", "barrier") else repeats
        if (step.kind, step.file, step.line) in lines or (count[key] > most and step.kind != "loop"):
            continue
        lines.add((step.kind, step.file, step.line))
        out.append(step)
    return out
