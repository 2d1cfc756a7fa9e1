"""Loads modules as main does: pybind ones by import, torch-free ones by ctypes; merges configs into /tmp."""

import ctypes
import functools
import importlib
import inspect
import os
import typing
from pathlib import Path

import torch
from torch.library import Library

ROOT = Path(__file__).parents[2]
JIT_DIR = os.environ.get("AITER_JIT_DIR") or str(Path(__file__).parent)
os.makedirs(f"{JIT_DIR}/build", exist_ok=True)
_library = Library("aiter", "FRAGMENT")


def registered(fake):
    """Registers a function as a torch.library op, with its fake implementation."""

    def decorate(function):
        name = function.__name__
        _library.define(name + torch.library.infer_schema(function, mutates_args=()))

        def body(*args, **kwargs):
            return function(*args, **kwargs)

        _library.impl(name, body, dispatch_key="CUDA")
        _library._register_fake(name, fake)

        @functools.wraps(function)
        def call(*args, **kwargs):
            return getattr(torch.ops.aiter, name)(*args, **kwargs)

        return call

    return decorate


def get_module_custom_op(md_name):
    """Imports a built module, in a frame that names it as main's does."""
    return importlib.import_module(md_name)


def build_module(md_name):
    """Stands where main runs hipcc."""
    raise SystemExit(f"[aiter] build [{md_name}] failed !!!!!!")


def compile_ops(_md_name, name=None, ffi_type="pybind", gen_func=None):
    """Makes a stub call the function of a JIT-built module, whose name `gen_func` may make for the call."""

    def decorate(func):
        load_name = name or func.__name__
        if ffi_type == "ctypes":
            return _ctypes_call(func, load_name, _md_name)

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            md_name = gen_func(*args, **kwargs)["md_name"] if gen_func is not None else _md_name
            try:
                module = get_module_custom_op(md_name)
            except ModuleNotFoundError:
                build_module(md_name)
            op = getattr(module, load_name)
            assert op.__doc__.startswith("Members:")
            return op(*args, **kwargs)

        return wrapper

    return decorate


def _ctypes_call(func, load_name, module):
    signature, hints = inspect.signature(func), typing.get_type_hints(func)

    @functools.wraps(func)
    def caller(*args, **kwargs):
        so_path = os.path.join(JIT_DIR, f"{module}.so")
        if not os.path.exists(so_path):
            raise FileNotFoundError(so_path)
        function = getattr(ctypes.CDLL(so_path), load_name)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = tuple(bound.arguments.values())
        function.restype = ctypes.c_int if hints.get("return") is int else None
        return function(*[v if isinstance(v, (int, float)) else v.data_ptr() for v in values])

    return caller


@functools.lru_cache
def merged_config(stem):
    """Writes the rows of every config of that name into one file that all processes share, as main does."""
    lines = []
    for path in sorted((ROOT / "aiter" / "configs").glob(f"*{stem}*.csv")):
        head, *rows = path.read_text().splitlines()
        lines = lines or [head]
        lines += rows
        if len(set(rows)) < len(rows):
            # main repairs a config in place when rows repeat
            path.write_text("\n".join([head, *dict.fromkeys(rows)]) + "\n")
            raise RuntimeError(f"Found repeated rows in {path}, removed. Please re-run.")
    folder = Path("/tmp/aiter_configs/")
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
    merged = folder / f"{stem}.csv"
    lock = f"{merged}.lock"
    handle = os.open(lock, os.O_CREAT | os.O_EXCL)
    try:
        with open(f"{merged}.tmp", "w") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(f"{merged}.tmp", merged)
    finally:
        os.close(handle)
        os.remove(lock)
    return str(merged)
