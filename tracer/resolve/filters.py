"""Which frames a page folds away: a frame in, the name of the filter that hides it out, or None.

Each filter is a small pure function that hides one kind of frame. Hidden frames stay in the record; the page shows how
many were folded and by which filter.
"""

from __future__ import annotations

from collections.abc import Callable

from tracer.model.capture import Frame
from tracer.resolve.layers import recognise

_FUNCTOOLS = ("functools.py", "contextlib.py", "_collections_abc.py", "collections/__init__.py", "os.py", "re.py")
_IMPORT = ("importlib/", "zipimport.py", "<frozen importlib")
_TYPING = ("inspect.py", "typing.py", "enum.py", "dataclasses.py", "copy.py", "abc.py", "types.py")


def _file(frame: Frame) -> str:
    return frame.source.file if frame.source else ""


def _tree(frame: Frame) -> str | None:
    return frame.source.tree if frame.source else None


def _stands_in(frame: Frame, package: str) -> bool:
    """Whether the frame's code belongs to a package: by its tree, its module, or its file's path."""
    if _tree(frame) == package or (frame.module or "").split(".")[0] == package:
        return True
    path = "/" + _file(frame)
    return f"/{package}/" in path and (_tree(frame) in (None, package))


def _is_library_file(frame: Frame, names: tuple[str, ...]) -> bool:
    """Whether the file is one of the standard library's: never one of a tree that we know otherwise."""
    file = _file(frame)
    if _tree(frame) not in (None, "python", "stdlib"):
        return False
    return any(
        file == n or file.endswith("/" + n) or (n.endswith("/") and n in file) or file.startswith(n) for n in names
    )


def is_logging(frame: Frame) -> bool:
    """Frames of the logging package."""
    return (frame.module or "").split(".")[0] == "logging" or "/logging/" in "/" + _file(frame)


def is_pandas(frame: Frame) -> bool:
    """Frames of pandas and numpy: reading and indexing CSV tables."""
    return _stands_in(frame, "pandas") or _stands_in(frame, "numpy")


def is_torch_internal(frame: Frame) -> bool:
    """Frames of torch below the library's own code."""
    return _stands_in(frame, "torch") or _stands_in(frame, "torchgen")


def is_triton_internal(frame: Frame) -> bool:
    """Frames of Triton's compiler, driver and runtime (its launcher is a layer of its own and stays)."""
    return _stands_in(frame, "triton")


def is_functools(frame: Frame) -> bool:
    """Frames of functools, contextlib and other glue of the standard library."""
    return _is_library_file(frame, _FUNCTOOLS)


def is_import(frame: Frame) -> bool:
    """Frames of Python's import system."""
    return (frame.module or "").split(".")[0] == "importlib" or _is_library_file(frame, _IMPORT)


def is_introspection(frame: Frame) -> bool:
    """Frames of inspect, typing, enum and their like: signatures being checked."""
    return _is_library_file(frame, _TYPING)


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
    ("import", is_import),
    ("functools", is_functools),
    ("introspection", is_introspection),
    ("builtin", is_builtin),
    ("anonymous", is_anonymous),
)


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
