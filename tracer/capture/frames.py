"""Records Python frames: a call made between `start` and `stop` in, the `Frame`s that it entered out.

The recorder keeps plain lists while the call runs and builds the record's structs afterwards. Frames of ktrace itself
are left out; the frames below them hang on the nearest recorded one, with the line in that one.
"""

from __future__ import annotations

import dis
import sys
import threading
import time
from types import CodeType, FrameType, TracebackType
from typing import Any

import msgspec

from tracer.capture.arguments import summarise
from tracer.capture.definitions import definition_of
from tracer.capture.places import OWN_TREE, Places
from tracer.model.capture import Argument, Frame, Lost
from tracer.model.source import SourceRef

#: trees whose frames give way first when there are too many: what a library's reader came for is elsewhere
INNER_TREES = frozenset({"python", "torch", "triton", "pandas", "numpy"})
#: files of those trees whose frames lead to kernels: they never give way
LAUNCHERS = frozenset({"triton/runtime/jit.py", "triton/runtime/autotuner.py"})

#: opcodes a frame can leave by without an exception (generators yield); named so in Python 3.11 to 3.13
_YIELDING = dis.opmap["YIELD_VALUE"]
_LEAVING = frozenset(
    dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR") if name in dis.opmap
)
#: ktrace's own code whose callees belong to the call: ops make it, the dispatch mode leads to real bodies
_BRIDGE_FILES, _BRIDGE_NAMES = "tracer/ops/", frozenset({"__torch_dispatch__"})
_VARARGS, _VARKEYWORDS = 0x04, 0x08
_SUSPENDING = 0x20 | 0x80 | 0x200  # generator, coroutine, asynchronous generator


class _Entry:
    """A frame while the call runs."""

    __slots__ = ("arguments", "call_line", "code", "enter_ns", "exit_ns", "module", "parent", "raised", "thread")

    def __init__(self, parent: int | None, thread: int, code: CodeType, module: str | None, call_line: int | None):
        self.parent = parent
        self.thread = thread
        self.code = code
        self.module = module
        self.call_line = call_line
        self.arguments: tuple[Argument, ...] = ()
        self.enter_ns = 0
        self.exit_ns: int | None = None
        self.raised: str | None = None


class FrameRecorder:
    """A trace function with a memory.

    Args:
        places: names files relative to their trees.
        cap: the most frames of INNER_TREES (but for Triton's launchers) that are kept, and the most of all others; past
            it they are only counted.
    """

    def __init__(self, places: Places, cap: int) -> None:
        self._places = places
        self._cap = cap
        self._entries: list[_Entry] = []
        self._active: dict[FrameType, int] = {}
        self._last: dict[int, int] = {}
        self._trees: dict[CodeType, str | None] = {}
        self._suspended: dict[FrameType, int] = {}
        self._inner = 0
        self._left_out = 0
        self._pauses: dict[str, int] = {}
        self._muted: dict[int, int] = {}

    def start(self) -> None:
        """Begins recording in this thread and in every thread started from now on."""
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def stop(self) -> None:
        """Ends recording; the trace function that was there before does not come back (there is none in the child)."""
        sys.settrace(None)
        threading.settrace(None)

    def pause(self, why: str) -> bool:
        """Stops tracing for a stretch that `why` names and counts; gives what `resume` needs."""
        was = sys.gettrace() is not None
        if was:
            sys.settrace(None)
            self._pauses[why] = self._pauses.get(why, 0) + 1
        return was

    def resume(self, was: bool) -> None:
        """Undoes `pause`."""
        if was:
            sys.settrace(self._enter)

    def innermost(self, frame: FrameType | None) -> int | None:
        """The id of the nearest recorded frame at or above `frame`."""
        while frame is not None:
            found = self._active.get(frame)
            if found is not None:
                return found
            frame = frame.f_back
        return None

    def raised_in(self, traceback: TracebackType | None) -> int | None:
        """The id of the innermost recorded frame of a traceback."""
        found = None
        while traceback is not None:
            number = self._last.get(id(traceback.tb_frame))
            if number is not None and self._entries[number].code is traceback.tb_frame.f_code:
                found = number
            traceback = traceback.tb_next
        return found

    def frames(self) -> tuple[Frame, ...]:
        """What was recorded, in call order."""
        return tuple(self._frame(number, entry) for number, entry in enumerate(self._entries))

    def lost(self) -> tuple[Lost, ...]:
        """What was left out, and how much of it."""
        found = [Lost(why, count, "their frames were not traced") for why, count in self._pauses.items()]
        if self._left_out:
            detail = f"a call keeps {self._cap} frames of {', '.join(sorted(INNER_TREES))}, and as many others"
            found.append(Lost("frames", self._left_out, detail))
        return tuple(found)

    def _frame(self, number: int, entry: _Entry) -> Frame:
        code = entry.code
        tree, file = self._places.locate(code.co_filename)
        defined = definition_of(code)
        return Frame(
            id=number,
            parent=entry.parent,
            thread=entry.thread,
            function=code.co_name,
            qualname=code.co_qualname,
            module=entry.module,
            source=SourceRef(file, defined.line, tree),
            decorators=defined.decorators,
            call_line=entry.call_line,
            enter_ns=entry.enter_ns,
            exit_ns=entry.exit_ns,
            arguments=tuple(self._without_paths(argument) for argument in entry.arguments),
            raised=entry.raised,
        )

    def _without_paths(self, argument: Argument) -> Argument:
        """The argument with paths of this machine taken out of its texts."""
        value, items = argument.value, argument.items
        if isinstance(value, str) and "/" in value:
            value = self._places.relative_text(value)
        if items:
            items = tuple(self._without_paths(item) for item in items)
        if value is argument.value and items is argument.items:
            return argument
        return msgspec.structs.replace(argument, value=value, items=items)

    def _tree(self, code: CodeType) -> str | None:
        if code not in self._trees:
            self._trees[code] = self._places.locate(code.co_filename)[0]
        return self._trees[code]

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event != "call":
            return None
        code = frame.f_code
        tree = self._tree(code)
        thread = threading.get_ident()
        if self._muted.get(thread):
            return None
        if tree == OWN_TREE:
            if code.co_name in _BRIDGE_NAMES or self._places.locate(code.co_filename)[1].startswith(_BRIDGE_FILES):
                return None
            self._muted[thread] = 1
            frame.f_trace_lines = False
            return self._unmute
        suspended = self._suspended.pop(frame, None) if code.co_flags & _SUSPENDING else None
        if suspended is not None:  # a generator goes on: the same call, not another one
            self._active[frame] = suspended
            return self._inside
        count, inner = len(self._entries), tree is None or tree in INNER_TREES
        if inner and code.co_name == "run" and self._places.locate(code.co_filename)[1] in LAUNCHERS:
            inner = False
        if (self._inner if inner else count - self._inner) >= self._cap:
            self._left_out += not _goes_on(frame)
            return None
        self._inner += inner
        back, parent = frame.f_back, None
        while back is not None:
            parent = self._active.get(back)
            if parent is not None:
                break
            back = back.f_back
        module = frame.f_globals.get("__name__")
        entry = _Entry(
            parent,
            thread,
            code,
            module if type(module) is str else None,
            back.f_lineno if back is not None else None,
        )
        if not (inner and parent is not None and self._is_inner(parent)):
            entry.arguments = self._arguments(frame, code)
        self._active[frame] = self._last[id(frame)] = count
        self._entries.append(entry)
        frame.f_trace_lines = False
        entry.enter_ns = time.time_ns()
        return self._inside

    def _unmute(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Watches ktrace's own function, under which nothing is recorded, until it ends."""
        if event == "return":
            self._muted[threading.get_ident()] = 0
        return self._unmute

    def _is_inner(self, number: int) -> bool:
        """Whether a frame lies in INNER_TREES: arguments are kept where a library calls in, not further down."""
        tree = self._trees[self._entries[number].code]
        return tree is None or tree in INNER_TREES

    def _arguments(self, frame: FrameType, code: CodeType) -> tuple[Argument, ...]:
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)
        if not count:
            return ()
        values = frame.f_locals
        return tuple(summarise(name, values[name]) for name in code.co_varnames[:count] if name in values)

    def _inside(self, frame: FrameType, event: str, arg: Any) -> Any:
        number = self._active.get(frame)
        if number is None:
            return None
        entry = self._entries[number]
        if event == "exception":
            entry.raised = arg[0].__qualname__ if type(arg[0]) is type else "Exception"
        elif event == "return":
            entry.exit_ns = time.time_ns()
            if frame.f_code.co_flags & _SUSPENDING and frame.f_code.co_code[frame.f_lasti] == _YIELDING:
                self._suspended[frame] = number
            if entry.raised is not None and (arg is not None or self._left_well(frame)):
                entry.raised = None
            del self._active[frame]
        return self._inside

    @staticmethod
    def _left_well(frame: FrameType) -> bool:
        """Whether a frame left by a return or yield: both then and by an exception the event's value may be None."""
        return frame.f_code.co_code[frame.f_lasti] in _LEAVING


def _goes_on(frame: FrameType) -> bool:
    """Whether a frame that is entered is a generator or coroutine that goes on: its first RESUME has the argument 0."""
    code = frame.f_code
    return bool(code.co_flags & _SUSPENDING) and bool(code.co_code[frame.f_lasti + 1] & 3)
