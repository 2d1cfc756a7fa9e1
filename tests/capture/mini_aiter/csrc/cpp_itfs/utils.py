import ctypes
import os
from pathlib import Path

CORE_DIR = Path(__file__).parents[2]
BUILD_DIR = Path(os.environ["HOME"]) / ".aiter" / "build"


def not_built(folder):
    return not (BUILD_DIR / folder / "lib.so").exists()


def compile_lib(src_file, folder):
    raise FileNotFoundError("hipcc")


def run_lib(func_name, folder=None):
    return getattr(ctypes.CDLL(str(BUILD_DIR / (folder or func_name) / "lib.so")), func_name)


def compile_template_op(src_template, md_name, func_name=None, folder=None, **kwargs):
    func_name = func_name or "_".join([md_name, *(str(value) for value in kwargs.values())])
    folder = folder or func_name
    if not_built(folder):
        compile_lib(src_template.render(func_name=func_name, **kwargs), folder)
    return run_lib(func_name, folder)
