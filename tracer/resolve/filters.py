"""Which frames a page folds away: a frame in, the name of the filter that hides it out, or None.

Each filter is a small pure function that hides one kind of frame. The page shows how many were folded and by which
filter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tracer.model.capture import Frame
from tracer.resolve.layers import recognise

#: files of the standard library that traces name without saying whose they are
_STANDARD = frozenset({
    "abc.py", "_collections_abc.py", "codecs.py", "contextlib.py", "copy.py", "dataclasses.py", "enum.py",
    "functools.py", "glob.py", "inspect.py", "numbers.py", "os.py", "pathlib.py", "queue.py", "random.py", "re.py",
    "selectors.py", "socket.py", "subprocess.py", "tempfile.py", "threading.py", "traceback.py", "types.py",
    "typing.py", "warnings.py", "weakref.py",
})  # fmt: skip
_STANDARD_PACKAGES = ("asyncio/", "collections/", "concurrent/", "importlib/", "json/", "logging/", "multiprocessing/")

#: name under which a page counts frames that lead to no kernel and are not shown
NO_KERNEL = "no_kernel"


def _file(frame: Frame) -> str:
    return frame.source.file if frame.source else ""


def _tree(frame: Frame) -> str | None:
    return frame.source.tree if frame.source else None


def _stands_in(frame: Frame, package: str) -> bool:
    """Whether the frame's code belongs to a package: by its tree, else its module, else its file's path."""
    tree = _tree(frame)
    if tree is not None:
        return tree == package
    if frame.module is not None:
        return frame.module.split(".")[0] == package
    return f"/{package}/" in "/" + _file(frame)


def is_logging(frame: Frame) -> bool:
    """Frames that write a log: the logging package and a library's own wrapper of it."""
    file = "/" + _file(frame)
    return (frame.module or "").split(".")[0] == "logging" or "/logging/" in file or file.endswith("/logger.py")


def is_pandas(frame: Frame) -> bool:
    """Frames of pandas and numpy: reading and indexing CSV tables."""
    return _stands_in(frame, "pandas") or _stands_in(frame, "numpy")


def is_torch_internal(frame: Frame) -> bool:
    """Frames of torch below the library's own code."""
    return _stands_in(frame, "torch") or _stands_in(frame, "torchgen")


def is_triton_internal(frame: Frame) -> bool:
    """Frames of Triton's compiler, driver and runtime (its launcher is a layer of its own and stays)."""
    return _stands_in(frame, "triton")


def is_standard_library(frame: Frame) -> bool:
    """Frames of Python's standard library: functools, contextlib, inspect, pathlib, the import system, ..."""
    if _tree(frame) is not None:
        return _tree(frame) == "python"
    file = _file(frame)
    return file in _STANDARD or file.startswith(_STANDARD_PACKAGES) or file.startswith("<frozen ")


def is_generated(frame: Frame) -> bool:
    """Frames of code made at run time, which stands in no file (`<string>`)."""
    return _file(frame) in ("<string>", "<stdin>", "<eval_with_key>")


def is_ktrace(frame: Frame) -> bool:
    """Frames of ktrace itself: the dry-run machinery and the op's own call."""
    return _tree(frame) in ("ktrace", "tracer") or (frame.module or "").split(".")[0] == "tracer"


def is_builtin(frame: Frame) -> bool:
    """C functions of Python that a trace names (`<built-in method append of list object ...>`)."""
    return frame.source is None and frame.function.startswith("<built-in")


def is_anonymous(frame: Frame) -> bool:
    """Comprehensions, generator expressions and module bodies: lines of the function around them."""
    return frame.function in ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<module>")


#: every filter, by the name that the page gives it; the first that hides a frame is the one named
FILTERS: tuple[tuple[str, Callable[[Frame], bool]], ...] = (
    ("ktrace", is_ktrace),
    ("logging", is_logging),
    ("pandas", is_pandas),
    ("torch", is_torch_internal),
    ("triton", is_triton_internal),
    ("stdlib", is_standard_library),
    ("generated", is_generated),
    ("builtin", is_builtin),
    ("anonymous", is_anonymous),
)


#: the filters that hide what a frame says it led to inside libraries, by the keys of `Frame.left_out`
_LEFT_OUT: dict[str, str] = {
    "pandas": "pandas", "numpy": "pandas", "torch": "torch", "triton": "triton", "python": "stdlib",
    "logging": "logging", "generated": "generated",
}  # fmt: skip


def left_out(frame: Frame) -> Counter[str]:
    """How many calls below the frame are not in the record, by the filter that would hide them."""
    counts: Counter[str] = Counter()
    for kind, count in frame.left_out.items():
        counts[_LEFT_OUT.get(kind, NO_KERNEL)] += count
    return counts


def hidden_by(frame: Frame) -> str | None:
    """The name of the filter that hides the frame, or None for one that a page shows.

    A frame of a recognised JIT layer is always shown: the layers are part of the chain.
    """
    if recognise(frame) is not None:
        return None
    for name, hides in FILTERS:
        if hides(frame):
            return name
    return None
