"""The static index of one aiter tree: an `AiterTree` in, ops, recipes and the facts of any source file out, on demand.

Nothing is parsed before it is asked for. Facts come from the cache while a file is unchanged; several files at once are
read by worker processes. Paths are those of aiter's repository.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property
from pathlib import Path

import msgspec

from tracer.aiter.tree import AiterTree
from tracer.index import cpp_facts, cpp_file, generated, python_calls, python_ops
from tracer.index.cache import FactCache
from tracer.index.cpp_facts import CppFacts
from tracer.index.cpp_macros import Macro, mask, read_macros
from tracer.index.generated import ScriptFacts
from tracer.index.python_calls import ModuleFacts, PythonFunction, module_name
from tracer.index.python_ops import GuardedFunction, OpDeclaration, OpFacts
from tracer.index.recipes import CK, Recipe, read_recipes

CPP_SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".inc")
_HEADER_SUFFIXES = (".cuh", ".h", ".hpp", ".inc")
#: fewer files than this are read in this process
_POOL_FROM = 24


class Op(msgspec.Struct, frozen=True):
    """A declared op and the file that declares it."""

    declaration: OpDeclaration
    file: str

    @property
    def qualified(self) -> str:
        """Its dotted Python name (`aiter.ops.norm.layernorm2d_fwd`)."""
        return f"{module_name(self.file)}.{self.declaration.name}"


class _MacroList(msgspec.Struct, frozen=True, array_like=True):
    macros: tuple[Macro, ...] = ()


def _read_cpp(data: bytes, macros: dict[str, Macro], attributes: dict[str, Macro]) -> CppFacts:
    return cpp_file.read_file(data.decode("latin-1"), macros, attributes)


def _read_macros(data: bytes) -> _MacroList:
    return _MacroList(read_macros(mask(data.decode("latin-1"))))


def _work(job: tuple[str, str, dict[str, Macro], dict[str, Macro]]) -> tuple[str, bytes, bytes] | None:
    """Reads one file in a worker: (path, content, encoded facts)."""
    path, kind, macros, attributes = job
    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    facts: object
    if kind == "ops":
        facts = python_ops.read_declarations(data)
    elif kind == "script":
        facts = generated.read_script(data)
    else:
        facts = _read_cpp(data, macros, attributes)
    return path, data, msgspec.msgpack.encode(facts)


class TreeIndex:
    """The index of one tree.

    Attributes:
        tree: the tree.
        cache: its cache; `cache.notes` holds what the user should know.
    """

    def __init__(self, tree: AiterTree, cache_folder: Path | None = None) -> None:
        """Opens the index; reads nothing yet.

        Args:
            tree: the aiter to index.
            cache_folder: where to keep facts; None for the usual place.
        """
        self.tree = tree
        self._code: dict[str, list[str]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._data: dict[str, bytes] = {}
        name = hashlib.blake2b(f"{tree.python_root}\0{tree.meta_root}".encode(), digest_size=8).hexdigest()
        readers = (cpp_facts, generated, python_ops, python_calls)
        versions = ".".join(str(reader.FACTS_VERSION) for reader in readers)
        self.cache = FactCache(f"{tree.layout}-{name}", versions, cache_folder)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about this tree and its index."""
        lacking = () if self.tree.ck_root is not None else (
            f"{CK} is not in this tree (the submodule was not fetched): chains end where they enter Composable Kernel",
        )  # fmt: skip
        return lacking + self._unparsed + tuple(self.cache.notes)

    @property
    def _unparsed(self) -> tuple[str, ...]:
        """Files with declarations that were read and can't be parsed."""
        read = self.__dict__.get("_op_facts", {})
        return tuple(f"{name} cannot be parsed, its ops are missing: {f.error}" for name, f in read.items() if f.error)

    def save(self) -> None:
        """Keeps what was read for the next run."""
        self.cache.save()

    # -- Python -------------------------------------------------------------------------------------------------

    @cached_property
    def python_files(self) -> tuple[str, ...]:
        """All Python files of the package, as paths of the repository."""
        return tuple(
            sorted(
                p.relative_to(self.tree.python_root).as_posix() for p in (self.tree.python_root / "aiter").rglob("*.py")
            )
        )

    @cached_property
    def _op_facts(self) -> dict[str, OpFacts]:
        wanted = []
        for name in self.python_files:
            path = self.tree.absolute(name)
            if self.cache.knows(path, "ops"):
                wanted.append(name)
                continue
            try:
                data = path.read_bytes()
            except OSError:
                continue
            if any(marker in data for marker in python_ops.MARKERS):
                wanted.append(name)
        self._read_many(wanted, "ops")
        out = {}
        for name in wanted:
            facts = self.cache.get(self.tree.absolute(name), "ops", OpFacts, python_ops.read_declarations)
            if facts is not None:
                out[name] = facts
        return out

    @cached_property
    def ops(self) -> tuple[Op, ...]:
        """Every function declared with `compile_ops`, in the order of files and lines."""
        return tuple(Op(d, file) for file, facts in self._op_facts.items() for d in facts.ops)

    @cached_property
    def guarded(self) -> tuple[tuple[str, GuardedFunction], ...]:
        """(file, function) for every function declared with `torch_compile_guard`."""
        return tuple((file, g) for file, facts in self._op_facts.items() for g in facts.guarded)

    @cached_property
    def unregistered(self) -> frozenset[str]:
        """Names that aiter's guard leaves as plain functions (`NONE_WRAPPED_OP` in jit/utils/torch_guard.py)."""
        text = self.text("aiter/jit/utils/torch_guard.py") or ""
        found = re.search(r"^NONE_WRAPPED_OP\s*=\s*\[(.*?)\]", text, re.DOTALL | re.MULTILINE)
        lines = (line.split("#")[0] for line in found.group(1).splitlines()) if found else ()
        return frozenset(re.findall(r"[\"'](\w+)[\"']", "\n".join(lines)))

    def module(self, name: str) -> ModuleFacts | None:
        """The functions, calls and imports of a Python file; None when it is not there."""
        return self.cache.get(self.tree.absolute(name), "calls", ModuleFacts, python_calls.read_module)

    def python_named(self, name: str) -> list[tuple[str, PythonFunction]]:
        """(file, function) for the functions of that name; only files whose text holds `def NAME` are parsed."""
        leaf = name.rpartition(".")[2]
        wanted = re.compile(rb"\bdef\s+" + re.escape(leaf.encode()) + rb"\b")
        found = []
        for file in self.python_files:
            data = self.data(file)
            if leaf.encode() in data and wanted.search(data):
                facts = self.module(file)
                found += [(file, f) for f in facts.functions if f.name.rpartition(".")[2] == leaf] if facts else []
        return found

    def cpp_named(self, name: str) -> list[str]:
        """The C++ files whose text holds a name as a word."""
        return self.holding(self.cpp_files, name)

    def holding(self, files: Iterable[str], word: str) -> list[str]:
        """The files of some whose text holds a word."""
        plain = word.encode()
        wanted = re.compile(rb"\b" + re.escape(plain) + rb"\b")
        return [file for file in files if plain in self.data(file) and wanted.search(self.data(file))]

    # -- C++ ----------------------------------------------------------------------------------------------------

    @cached_property
    def cpp_files(self) -> tuple[str, ...]:
        """All C++ files under csrc and gradlib, as paths of the repository."""
        found = []
        for top in ("csrc", "gradlib"):
            root = self.tree.meta_root / top
            found += [
                f"{top}/{p.relative_to(root).as_posix()}"
                for p in root.rglob("*")
                if p.suffix in CPP_SUFFIXES and "__pycache__" not in p.parts
            ]
        return tuple(sorted(found))

    @cached_property
    def _header_macros(self) -> tuple[dict[str, Macro], dict[str, Macro], str]:
        """Macros of aiter's headers that mean one thing only, those that decorate, and a mark of both."""
        found: dict[str, Macro | None] = {}
        attributes: dict[str, Macro] = {}
        for name in self.cpp_files:
            if not name.endswith(_HEADER_SUFFIXES):
                continue
            facts = self.cache.get(self.tree.absolute(name), "macros", _MacroList, _read_macros)
            for macro in facts.macros if facts is not None else ():
                if macro.is_attribute:
                    if macro.body.strip():
                        attributes[macro.name] = macro
                    continue
                known = found.get(macro.name, macro)
                same = known is not None and (known.parameters, known.body) == (macro.parameters, macro.body)
                found[macro.name] = macro if same else None
        table = {name: macro for name, macro in found.items() if macro is not None and macro.body.strip()}
        text = "\0".join(f"{m.name}{m.parameters}{m.body}" for m in table.values()) + "\0".join(
            f"{m.name}{m.body}" for m in attributes.values()
        )
        return table, attributes, hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def cpp(self, name: str) -> CppFacts | None:
        """The facts of a C++ file; None when it is not there."""
        table, attributes, mark = self._header_macros
        return self.cache.get(
            self.tree.absolute(name), f"cpp{mark}", CppFacts, lambda data: _read_cpp(data, table, attributes)
        )

    def script(self, name: str) -> ScriptFacts | None:
        """The facts of a generator script; None when it is not there."""
        return self.cache.get(self.tree.absolute(name), "script", ScriptFacts, generated.read_script)

    def read_all_cpp(self) -> None:
        """Reads every C++ file that the cache does not know, in worker processes."""
        self._read_many(list(self.cpp_files), "cpp")

    @cached_property
    def recipes(self) -> dict[str, Recipe]:
        """The build recipes, by module."""
        return read_recipes(self.tree)

    # -- shared -------------------------------------------------------------------------------------------------

    def data(self, name: str) -> bytes:
        """A file's bytes as they stood when this index first read them; empty when it cannot be read."""
        if name not in self._data:
            try:
                self._data[name] = self.tree.absolute(name).read_bytes()
            except OSError:
                self._data[name] = b""
        return self._data[name]

    def text(self, name: str) -> str | None:
        """A file's text as it stands now; None when it cannot be read."""
        try:
            return self.tree.absolute(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def latin1(self, name: str) -> str | None:
        """A file's bytes as they stand now, each as one character, so that offsets count bytes; None as for `text`."""
        try:
            return self.tree.absolute(name).read_bytes().decode("latin-1")
        except OSError:
            return None

    def code_lines(self, name: str) -> list[str]:
        """The lines of a C++ file as they stood when first asked for, comments blanked."""
        if name not in self._code:
            self._code[name] = mask(self.text(name) or "").split("\n")
        return self._code[name]

    def words(self, name: str) -> frozenset[str]:
        """The identifiers in a file's text; empty when it cannot be read."""
        if name not in self._words:
            self._words[name] = frozenset(re.findall(r"[A-Za-z_]\w*", self.text(name) or ""))
        return self._words[name]

    def _read_many(self, names: list[str], kind: str) -> None:
        """Reads what the cache does not know, in parallel when it is much."""
        table, attributes, mark = self._header_macros if kind == "cpp" else ({}, {}, "")
        entry = f"cpp{mark}" if kind == "cpp" else kind
        todo = [n for n in names if not self.cache.knows(self.tree.absolute(n), entry)]
        workers = min(4, os.cpu_count() or 1)
        if len(todo) < _POOL_FROM or workers < 2:
            return
        jobs = [(str(self.tree.absolute(n)), kind, table, attributes) for n in todo]
        type_: type[OpFacts] | type[ScriptFacts] | type[CppFacts] = (
            OpFacts if kind == "ops" else ScriptFacts if kind == "script" else CppFacts
        )
        with ProcessPoolExecutor(workers) as pool:
            for done in pool.map(_work, jobs, chunksize=max(1, len(jobs) // (workers * 8))):
                if done is not None:
                    path, data, facts = done
                    self.cache.put_read(Path(path), entry, data, msgspec.msgpack.decode(facts, type=type_))
