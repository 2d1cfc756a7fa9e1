"""PyTorch's own kernels, such as `at::native::elementwise_kernel<128, 4, ...>`, for CUDA and HIP.

    [void ]at::native::[(anonymous namespace)::]kernel<arguments>(parameters)

Element-wise kernels are one loop around an operation: `functor` is what the loop is given, `operation` what that does
after taking off wrappers (`gpu_kernel_impl_nocast`, `BinaryFunctor`), `dtypes` the types that the operation takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import ClassVar

from tracer.model.kernel import DecodedName, Span
from tracer.names import aten_functor, aten_lists, ck_lists, ck_values, cpp, cpp_lists, cpp_types
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.ck_values import Convert
from tracer.names.vocabulary import pick

_SOURCE = "aten/src/ATen/native/cuda (pytorch/pytorch)"
_LISTS = re.compile(r"TensorListMetadata<([0-9]{1,9})>$")
_ARRAY_INSIDE = re.compile(r"(?:std::(?:__\w+::)?array|at::detail::Array)<char ?\*, ?([0-9]{1,9})(?:ul|u)?>")
_ARRAY = re.compile(_ARRAY_INSIDE.pattern + "$")
_OPAQUE = re.compile(r"OpaqueType<([0-9]{1,9})u?>$")

_OWN: Mapping[str, Key] = {
    **pick(
        "kernel",
        "functor",
        "vec_size",
        "max_threads",
        "alignment",
        "dims",
        "warp_size",
        "epilogue",
        "masked",
        "dtype_a",
        "dtype_b",
        "dtype_c",
    ),
    "operation": Key("What the kernel computes for one element, taken out of wrappers.", None, _SOURCE),
    "dtypes": Key("Element types that the operation's function takes, or its functor is declared for.", None, _SOURCE),
    "num_tensors": Key("Tensors that the kernel reads and writes.", "tensors", _SOURCE),
    "num_threads": Key("Threads of one block.", "threads", _SOURCE),
    "items_per_thread": Key("Elements that one thread computes.", "elements", _SOURCE),
    "output_vec_size": Key("Results that one thread computes side by side.", "elements", _SOURCE),
    "input_vec_size": Key("Elements that one load of a reduction reads.", "elements", _SOURCE),
    "element_size": Key("Size of one element; its type is not stated.", "bytes", _SOURCE),
    "num_outputs": Key("Tensors that the kernel writes.", "tensors", _SOURCE),
    "tensor_lists": Key("Lists of tensors that the kernel walks over together.", "lists", _SOURCE),
    "dst_dims": Key("Dimensions of the destination that the kernel indexes.", "dimensions", _SOURCE),
    "src_dims": Key("Dimensions of the source that the kernel indexes.", "dimensions", _SOURCE),
    "idx_dims": Key("Dimensions of the indices; -2 is contiguous.", "dimensions", _SOURCE),
    "key_dims": Key("Dimensions of the sorted keys that the kernel indexes.", "dimensions", _SOURCE),
    "value_dims": Key("Dimensions of the sorted values that the kernel indexes.", "dimensions", _SOURCE),
    "sort_size": Key("Elements that one sort holds.", "elements", _SOURCE),
    "block_x": Key("Threads of a block along x.", "threads", _SOURCE),
    "block_y": Key("Threads of a block along y, at most.", "threads", _SOURCE),
    "batch_size": Key("Tensors that one launch concatenates, at most.", "tensors", _SOURCE),
    "stride_size": Key("Stride tables that a launch carries.", "tables", _SOURCE),
    "log2_elements": Key("Elements of a row as a power of two, rounded up.", "log2 elements", _SOURCE),
    "log_softmax": Key("Whether the logarithm of the soft-max is computed.", None, _SOURCE),
    "index_is_major": Key("Whether the index varies slower than the rest of a row.", None, _SOURCE),
    "rms_norm": Key("Whether the norm is the root mean square, without the mean.", None, _SOURCE),
    "train": Key("Whether statistics of the batch are used.", None, _SOURCE),
    "statistic": Key("What is collected: Var or InvStd.", None, _SOURCE),
    "comparator": Key("How two keys are compared.", None, _SOURCE),
    "with_kth_values": Key("Whether the values of rank k are known.", None, _SOURCE),
    "dtype_index": Key("Integer type in which offsets are computed.", None, _SOURCE),
    "dtype_indices": Key("Type of the elements of an index tensor.", None, _SOURCE),
    "dtype_stat": Key("Element type of the running statistics.", None, _SOURCE),
    "dtype_key": Key("Element type of the sorted keys.", None, _SOURCE),
    "dtype_value": Key("Element type of the values that go along with the keys.", None, _SOURCE),
    "dtype_mask": Key("Element type of the mask.", None, _SOURCE),
}


_LENGTHS = {"num_tensors": _ARRAY, "element_size": _OPAQUE, "tensor_lists": _LISTS}
_NAMES = ("functor", "epilogue", "statistic", "comparator")
_FLAGS = frozenset(["log_softmax", "masked", "index_is_major", "rms_norm", "train", "with_kth_values"])


def _length(pattern: re.Pattern[str]) -> Convert:
    def convert(item: str) -> int:
        m = pattern.search(item)
        if m is None:
            raise ValueError(item)
        return int(m.group(1))

    return convert


def _class_name(item: str) -> str:
    """The name of a functor that is a class: no element type, no pointer."""
    if item.endswith("*") or item in cpp_types.TYPES:
        raise ValueError(item)
    return aten_functor.functor_name(item)


def _element_type(item: str) -> str:
    known = cpp_types.TYPES.get(item)
    if known is None:
        raise ValueError(item)
    return known


@cache
def converter(key: str) -> Convert:
    """The converter of a key."""
    if key in _LENGTHS:
        return _length(_LENGTHS[key])
    if key == "operation":
        return _class_name
    if key in _NAMES:
        return aten_functor.functor_name
    if key in _FLAGS:
        return ck_values.boolean
    return _element_type if key.startswith("dtype_") else int


@cache
def lists() -> Mapping[str, tuple[ck_lists.Variant, ...]]:
    """Function or struct -> its parameter lists."""
    return ck_lists.parse(aten_lists.KERNELS)


class Aten(Grammar):
    """PyTorch's own kernels."""

    name = "aten"
    families = ("aten",)
    formal: ClassVar[frozenset[str]] = frozenset()
    prefixes = ("void at::native::", "at::native::", "std::enable_if<")
    reads_cpp = True
    link = "https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda"
    keys: ClassVar[Mapping[str, Key]] = {**pick("dtype_acc", "block_size"), **_OWN}

    def accepts(self, name: str) -> bool:
        if name.startswith("std::enable_if<"):
            return cpp.read_function(name).name.startswith("at::native::")
        return name.startswith(self.prefixes)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        reading = cpp_lists.read(cpp.read_function(name), lists(), converter, complete=False)
        fields, spans = reading.fields, reading.spans
        span = _functor(reading)
        found = aten_functor.operation(name, span) if span is not None and "operation" not in fields else None
        if span is not None and found is not None:
            if "functor" not in fields and fields.get("kernel") != "reduce_kernel":
                fields["functor"] = aten_functor.functor_name(name[slice(*span)])
                spans["functor"] = span
            fields["operation"], spans["operation"] = found.name, found.span
            if found.types:
                fields["dtypes"], spans["dtypes"] = found.types, found.types_span
            array = _ARRAY_INSIDE.search(name, *span) if fields.get("functor") == aten_functor.LAUNCHER else None
            if array is not None:
                fields["num_tensors"], spans["num_tensors"] = int(array[1]), array.span()
        return reading.answer(self.name, self.families[0])


def _functor(reading: cpp_lists.Reading) -> Span | None:
    """Where the functor stands whose operation is to be stated; the text may be cut off inside it."""
    if reading.function.leaf == "multi_tensor_apply_kernel" and reading.function.cut:
        return None
    if "functor" in reading.spans:
        return reading.spans["functor"]
    args = reading.function.arguments
    if args is None:
        return None
    kernel = reading.function.leaf
    if kernel == "reduce_kernel" and len(args) == 3:
        inner = cpp.template(reading.function.text, args.span(2)).arguments
        return inner.span(1) if inner is not None and len(inner) > 1 else None
    last = len(args) - 1
    known = args.cut and any(len(keys) > last >= 0 and keys[last] == "functor" for keys in lists().get(kernel, ()))
    return args.span(last) if known else None
