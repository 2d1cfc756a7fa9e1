"""What launches a kernel by itself: a call, or a function's own text in, the launch as it is written there out."""

from __future__ import annotations

import re

import msgspec

from tracer.index.cpp_facts import Call, Function
from tracer.index.cpp_macros import split_arguments

#: calls that launch what their first argument names
_BY_FIRST_ARGUMENT = frozenset((
    "hipLaunchKernelGGL", "hipLaunchKernel", "hipLaunchCooperativeKernel", "hipExtLaunchKernelGGL",
    "hipExtLaunchKernel", "hipLaunchKernelExC", "cudaLaunchKernel", "cudaLaunchKernelEx", "launch_and_time_kernel",
    "launch_and_time_kernel_with_preprocess",
))  # fmt: skip
#: calls that launch a function of a loaded code object
_MODULE_LAUNCH = frozenset(("hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipDrvLaunchKernelEx"))
#: calls into libraries that choose and launch kernels of their own; asking for solutions launches none
_LIBRARY = re.compile(
    r"(?!\w*_get_solutions)(?:hipblasLtMatmul|hipblasLtExtMatmul|rocblas_\w*gemm\w*|rocblas_\w*_ex\d?|"
    r"hipblas\w*[Gg]emm\w*|(?:rocprim|hipcub)::\w.*)\Z"
)
_MEMORY = re.compile(r"(?:hipMemcpy|hipMemset|hipMemcpyAsync|hipMemsetAsync|hipMemcpyPeerAsync|hipMemcpyDtoDAsync)\Z")
_ASM_CLASS = re.compile(r"\bAiterAsmKernel\w*")
_OBJECT = re.compile(r'"([^"\n]*\.(?:co|hsaco))"')


class WrittenLaunch(msgspec.Struct, frozen=True):
    """A launch as a call writes it.

    Attributes:
        kind: "hip", "ck_tile", "asm", "library" or "memory", as of `tracer.index.launches.Launch`.
        kernel: the kernel expression, or the call's own name.
        configuration: grid and block as written, or "".
        function: the name of a `__global__` function, where the call names one.
    """

    kind: str
    kernel: str
    configuration: str = ""
    function: str = ""


def written_launch(call: Call, name: str, text: str) -> WrittenLaunch | None:
    """What a call launches by itself.

    Args:
        call: the call.
        name: what is called, with the values of a macro's parameters filled in.
        text: its arguments, likewise.

    Returns:
        None where the call launches nothing by itself.
    """
    leaf = name.rpartition("::")[2]
    if leaf in _BY_FIRST_ARGUMENT and call.arguments > 0:
        arguments = split_arguments(text)
        kernel = _kernel_argument(arguments[0]) if arguments else ""
        return WrittenLaunch("hip", kernel, ", ".join(arguments[1:5]), kernel_name(kernel))
    if leaf == "make_kernel" and call.arguments > 0:
        arguments = split_arguments(text)
        kernel = re.sub(r"\s*\{\s*\}\Z", "", arguments[0]) if arguments else ""
        return WrittenLaunch("ck_tile", kernel, ", ".join(arguments[1:4]))
    if leaf in _MODULE_LAUNCH:
        return WrittenLaunch("asm", leaf)
    if _LIBRARY.match(name) and call.arguments >= 0:
        return WrittenLaunch("library", name)
    return WrittenLaunch("memory", leaf) if _MEMORY.match(leaf) else None


def own_launches(function: Function) -> list[tuple[int, str]]:
    """The launches of `__global__` functions that a function's own text states: (line, kernel as written)."""
    found = [(site.line, site.kernel) for site in function.launches]
    for call in function.calls:
        if call.name.rpartition("::")[2] in _BY_FIRST_ARGUMENT and call.arguments > 0:
            found += [(call.line, _kernel_argument(first)) for first in split_arguments(call.text)[:1]]
    return found


def is_asm_class(name: str) -> bool:
    """Whether a class is aiter's class of assembly kernels."""
    return _ASM_CLASS.match(name) is not None


def names_asm(function: Function) -> bool:
    """Whether a function's calls name aiter's class of assembly kernels."""
    return any(_ASM_CLASS.search(text) for c in function.calls for text in (c.name, c.template, c.text))


def named_objects(text: str) -> tuple[str, ...]:
    """The code objects and configuration tables that a text names."""
    return tuple(dict.fromkeys([*_OBJECT.findall(text), *re.findall(r"\bcfg_\w+", text)]))


def _kernel_argument(text: str) -> str:
    """The kernel in a launch call's first argument: casts, `&` and HIP_KERNEL_NAME removed."""
    text = text.strip()
    m = re.match(r"HIP_KERNEL_NAME\s*\((.*)\)\Z", text, re.DOTALL)
    if m:
        text = m.group(1).strip()
    text = re.sub(r"^\(\s*(?:const\s+)?void\s*\*\s*\)\s*", "", text)
    m = re.match(r"reinterpret_cast<[^<>]*>\s*\((.*)\)\Z", text, re.DOTALL)
    if m:
        text = m.group(1).strip()
    text = text.lstrip("&").strip()
    return text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text


def kernel_name(kernel: str) -> str:
    """The name of a kernel expression, without template arguments."""
    m = re.match(r"\s*(?:::)?([A-Za-z_]\w*(?:\s*::\s*\w+)*)", kernel.lstrip("(& "))
    return re.sub(r"\s+", "", m.group(1)) if m else ""
