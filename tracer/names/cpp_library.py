"""C++ kernels of libraries without a grammar of their own: demangled text in, function, namespace and arguments out.

    [return type ][namespaces::]function[<arguments>](parameters)

Serving libraries' kernels whose parameters are known get typed fields; rocPRIM's trampolines the algorithm that they
run; any other kernel its template arguments, as printed. Asked last, for names that no other grammar claims.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import ClassVar

from tracer.model.kernel import DecodedName
from tracer.names import aten_functor, ck_lists, ck_values, cpp, cpp_library_lists, cpp_lists, cpp_types
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.ck_values import Convert
from tracer.names.vocabulary import pick

_SOURCE = "csrc of the library that the namespace names"
#: where the lists hold: elsewhere, a kernel of the same name may have other parameters
_KNOWN = re.compile(r"(?:$|\(anonymous namespace\)|vllm|sgl|flashinfer|tensorrt_llm|aiter)")
_SPACED = "(anonymous namespace)"
_IDENTIFIER = re.compile(r"(?!enable_if$)[A-Za-z_]\w*$")
#: what may stand before the first bracket of a C++ function: a return type, namespaces, its name
_HEAD = re.compile(r"(?:[A-Za-z_][\w:]*[&*]* )?(?:[A-Za-z_]|\(anonymous namespace\)::|std::enable_if<)")
_ROCPRIM = re.compile(r"(?:void )?rocprim::")
_ALGORITHM = re.compile(r"detail::(\w+)_impl<|detail::wrapped_(\w+)_config<|detail::(\w+)_config_selector<")
_ARCH = re.compile(r"::target_arch\)([0-9]{3,4})(?![0-9])")
_FLAGS = frozenset(
    ["is_neox", "act_first", "block_sparse", "enable_last_page_lens", "programmatic_launch", "fp32_acc",
     "trigger_at_end", "ue8m0_scales", "log_softmax", "masked"]
)  # fmt: skip

_OWN: Mapping[str, Key] = {
    **pick(
        "kernel",
        "algorithm",
        "vec_size",
        "dtype_kv",
        "is_neox",
        "npar_loops",
        "enable_last_page_lens",
        "topk",
        "alignment",
        "quant_type_id",
        "functor",
        "masked",
    ),
    "namespace": Key("The namespaces and classes that the function stands in.", None, _SOURCE),
    "template_arguments": Key("The template arguments in their order, as printed."),
    "num_dims": Key("Dimensions of the input.", "dimensions", _SOURCE),
    "kv_dtype_id": Key("Number of the KV cache's data type: 0 is that of the inputs, 1 fp8.", None, _SOURCE),
    "dtype_indices": Key("Type of the elements of an index tensor.", None, _SOURCE),
    "dtype_index": Key("Integer type in which offsets are computed.", None, _SOURCE),
    "act_first": Key("Whether the first half passes the activation.", None, _SOURCE),
    "block_sparse": Key("Whether attention is block-sparse.", None, _SOURCE),
    "partition_size": Key("Tokens of K and V that one block attends to.", "tokens", _SOURCE),
    "num_gpus": Key("GPUs that take part.", "GPUs", _SOURCE),
    "element_bytes": Key("Bytes of K (and of V) for one token.", "bytes", _SOURCE),
    "k_element_bytes": Key("Bytes of K for one token.", "bytes", _SOURCE),
    "v_element_bytes": Key("Bytes of V for one token.", "bytes", _SOURCE),
    "splits": Key("Warps that share one token.", "warps", _SOURCE),
    "programmatic_launch": Key("Whether the kernel may start before its predecessor ends (PDL).", None, _SOURCE),
    "fusion_pattern": Key("Number of the pattern that is fused with the all-reduce.", None, _SOURCE),
    "fp32_acc": Key("Whether sums are kept in fp32.", None, _SOURCE),
    "trigger_at_end": Key("Whether the successor may start at the end only.", None, _SOURCE),
    "scale_vec_size": Key("Elements that share one scale.", "elements", _SOURCE),
    "ue8m0_scales": Key("Whether scales are powers of two.", None, _SOURCE),
    "log2_elements": Key("Elements of a row as a power of two, rounded up.", "log2 elements", _SOURCE),
    "log_softmax": Key("Whether the logarithm of the soft-max is computed.", None, _SOURCE),
}


def _activation(item: str) -> str:
    """The function's name of `&vllm::silu_kernel<c10::BFloat16>`, with or without parameters and parentheses."""
    if not item.startswith("&"):
        raise ValueError(item)
    return cpp.read_function(item[1:].removeprefix("(").removesuffix(")")).leaf


def _enum_number(item: str) -> int:
    found = cpp.cast(item)
    if found is None:
        raise ValueError(item)
    return found[1]


def _integer(item: str) -> int:
    found = cpp.integer(item)
    if found is None:
        raise ValueError(item)
    return found


@cache
def _converter(key: str) -> Convert:
    if key.startswith("dtype_"):
        return cpp_types.dtype
    if key in _FLAGS:
        return ck_values.boolean
    if key in ("kv_dtype_id", "fusion_pattern", "quant_type_id"):
        return _enum_number
    return {"activation": _activation, "functor": aten_functor.functor_name}.get(key, _integer)


@cache
def _lists() -> Mapping[str, tuple[ck_lists.Variant, ...]]:
    return ck_lists.parse(cpp_library_lists.KERNELS)


def _function(name: str) -> cpp.Function | None:
    """The head of a C++ function's text; None when `name` is none."""
    if ("<" not in name and "(" not in name) or _HEAD.match(name) is None:
        return None
    function = cpp.read_function(name)
    if function.arguments is None and function.parameters is None:
        return None
    spaced = function.name.replace(_SPACED, "")
    return None if " " in spaced or _IDENTIFIER.match(function.leaf) is None else function


class CppLibrary(Grammar):
    """C++ kernels of other libraries."""

    name = "cpp_library"
    families = ("cpp_kernel", "rocprim")
    formal: ClassVar[frozenset[str]] = frozenset()
    reads_cpp = True
    fallback = True
    link = "https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling"
    keys: ClassVar[Mapping[str, Key]] = {
        **pick("dtype_a", "dtype_c", "dtype_acc", "head_dim", "page_size", "block_size", "activation", "isa"),
        **_OWN,
    }

    def accepts(self, name: str) -> bool:
        return _function(name) is not None

    def read(self, name: str, context: Context = NO_CONTEXT) -> DecodedName | None:
        function = _function(name)
        return None if function is None else self._decode(function)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        return self._decode(cpp.read_function(name))

    def _decode(self, function: cpp.Function) -> DecodedName:
        name = function.text
        namespace = function.name[: -len(function.leaf)].removesuffix("::")
        lists = _lists() if _KNOWN.match(namespace) is not None else {}
        reading = cpp_lists.read(function, lists, _converter, complete=False)
        fields, spans = reading.fields, reading.spans
        if namespace:
            fields["namespace"] = namespace
            spans["namespace"] = (function.start, function.start + len(namespace))
        args = function.arguments
        if _ROCPRIM.match(name) is not None:
            for key, found in (("algorithm", _ALGORITHM.search(name)), ("isa", _ARCH.search(name))):
                if found is not None:
                    group = found.lastindex or 0
                    fields[key] = f"gfx{found[group]}" if key == "isa" else found[group]
                    spans[key] = found.span(group)
            return reading.answer(self.name, "rocprim")
        if args is not None and function.leaf not in lists and args.whole(name):
            whole = args.whole(name)
            fields["template_arguments"] = [item.replace("> >", ">>") for item in whole]
            spans["template_arguments"] = (args.starts[0], args.span(len(whole) - 1)[1])
        return reading.answer(self.name, "cpp_kernel")
