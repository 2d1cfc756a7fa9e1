"""What CK's device ops call themselves (`GetTypeString()`), as logs, tuning results and profiler ranges print it.

    DeviceGemmMultipleD_Xdl_CShuffle<256, 128, 128, 32, 8, 8, ...> LoopScheduler: Default, PipelineVersion: v1

Every op prints its own choice of template arguments; the shapes stand in `ck_typestrings.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import ClassVar

import msgspec

from tracer.model.kernel import DecodedName, FieldValue, GemmView, Unparsed
from tracer.names import ck_view
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.ck_parameters import parameter
from tracer.names.ck_typestrings import shapes
from tracer.names.ck_values import GEMM_SPECIALIZATIONS
from tracer.names.formal import OneOf
from tracer.names.parts import Part, also, choice, int_list, lit, num, opt, text, words
from tracer.names.pattern import Pattern
from tracer.names.vocabulary import SHARED, WhenAsked, pick

_FAMILY = "ck_typestring"
_DEVICE = "include/ck/tensor_operation/gpu/device (ROCm/composable_kernel)"
_OP = re.compile(r"DeviceSparseEmbeddingsForwardLayernorm_|Device\w+|GemmXdl(?:StreamK|SplitKCShuffle)_")
#: what a name of an op that is not known looks like behind the op
_UNKNOWN = re.compile(r"<(?:[0-9]+, ?|[A-Za-z]+, [A-Z]{3}> )")
_CONVOLUTIONS = ("Default", "Filter1x1Pad0", "Filter1x1Stride1Pad0", "Filter3x3", "OddC")
_FILTER = " Filter1x1Stride1Pad0"


def _slot(key: str) -> Part:
    """The part that reads and writes the value of `key`."""
    if key == "pipeline_sched":
        return choice(key, {"Intrawave": "intrawave", "Interwave": "interwave"})
    if key == "pipeline_version":
        return lit("v") + num(key)
    if key == "pipeline_version_classic":
        return words(key, "v1", "v2")
    if key == "loop_scheduler":
        return words(key, "Default", "Interwave")
    if key == "gemm_specialization":
        return words(key, *GEMM_SPECIALIZATIONS)
    if key == "conv_specialization":
        return words(key, *_CONVOLUTIONS)
    if key == "masking_specialization":
        return words(key, "MaskDisabled", "MaskOutUpperTriangle")
    if key.startswith("tensor_specialization_"):
        return words(key, "Default", "Packed")
    if key == "OutDstVectorSizeSeq":
        return int_list(key, "_")
    if key in ("layouts_d", "tensor_layout"):
        return text(key, "[A-Z]*")
    if key.startswith("layout_"):
        return text(key, "[A-Z]")
    if key.startswith("dtype_"):
        return text(key, "[a-z][a-z0-9_]*")
    return text(key, ".+") if key == "inner_op" else num(key)


def _again(key: str) -> Part:
    """A number that stood before; whether it is the same is settled by writing the name."""
    return Part("[0-9]+", (), num(key).write, f"the same {key} as before")


def _parts(shape: str, seen: set[str]) -> list[Part]:
    parts = []
    for piece in re.split(r"(\[\[.*?\]\]|\{\w+\})", shape):
        if piece == f"[[{_FILTER}]]":
            filters = choice("conv_specialization", {_FILTER: _FILTER.strip(), "": "Default"})
            parts.append(filters)
        elif piece.startswith("[["):
            inside = _parts(piece[2:-2], seen)
            parts.append(opt(sum(inside[1:], inside[0])))
        elif piece.startswith("{"):
            key = piece[1:-1]
            parts.append(_again(key) if key in seen else _slot(key))
            seen.add(key)
        elif piece:
            parts.append(lit(piece))
    return parts


@cache
def _prints_twice(op: str) -> bool:
    """Whether `op` prints a value in two places."""
    found = [re.findall(r"\{(\w+)\}", shape) for shape in shapes()[op]]
    return any(len(set(keys)) < len(keys) for keys in found)


@cache
def _reader(op: str) -> OneOf:
    """The forms in which `op` prints itself."""
    whole = also("device_op", r"[^<>\s]+", str)
    return OneOf(*(Pattern(_FAMILY, whole, lit(op), *_parts(s, set()), breaks="<> ,") for s in shapes()[op]))


_OWN: Mapping[str, Key] = {
    **pick(
        "k0_per_block",
        "k1",
        "a_src_scalar_per_vector",
        "b_src_scalar_per_vector",
        "c_scalar_per_vector",
        "loop_scheduler",
        "pipeline_version_classic",
        "layouts_d",
        "layout_e",
        "tensor_layout",
    ),
    "device_op": Key("The device op, as it calls itself.", None, _DEVICE),
    "m_per_wmma": Key("M extent of one WMMA tile.", "elements", _DEVICE),
    "n_per_wmma": Key("N extent of one WMMA tile.", "elements", _DEVICE),
    "m_repeat": Key("WMMA tiles along M that one wave computes.", "WMMA tiles", _DEVICE),
    "n_repeat": Key("WMMA tiles along N that one wave computes.", "WMMA tiles", _DEVICE),
    "gemm1_n_per_block": Key("N extent of the second GEMM's tile.", "elements", _DEVICE),
    "gemm1_k_per_block": Key("K extent per step of the second GEMM.", "elements", _DEVICE),
    "cde_scalar_per_vector": Key("Elements of D and E that one access touches.", "elements", _DEVICE),
    "gemm_specialization": Key("Which extents of the problem may end inside a tile.", None, _DEVICE),
    "conv_specialization": Key("Convolutions that the kernel is restricted to; Default is none.", None, _DEVICE),
    "masking_specialization": Key("Whether the upper triangle of the scores is masked out.", None, _DEVICE),
    "prefetch_stages": Key("Main-loop steps that the pipeline loads ahead.", "stages", _DEVICE),
    "num_gemm_k_prefetch_stage": Key("Main-loop steps loaded ahead.", "stages", _DEVICE),
    "num_groups_to_merge": Key("Convolution groups that one block computes.", "groups", _DEVICE),
    "dtype_cshuffle": Key("Element type in which C passes LDS.", None, _DEVICE),
    "inner_op": Key("Type string of the device op that the op runs.", None, _DEVICE),
}


def _glossary() -> dict[str, Key]:
    """The shared keys, the ones above, and CK's own parameter names for the rest."""
    stated = {key for forms in shapes().values() for form in forms for key in re.findall(r"\{(\w+)\}", form)}
    known = pick(*(key for key in sorted(stated) if key in SHARED and key not in _OWN))
    rest = {key: parameter(key, _DEVICE) for key in sorted(stated)}
    return {**rest, **known, **_OWN}


class CkTypestring(Grammar):
    """Type strings of CK's device ops."""

    name = "ck_typestring"
    families = (_FAMILY,)
    formal = frozenset(families)
    prefixes = ("Device", "GemmXdl")
    link = "https://github.com/ROCm/composable_kernel/tree/develop/include/ck/tensor_operation/gpu/device/impl"
    keys: ClassVar[Mapping[str, Key]] = WhenAsked(_glossary)

    def accepts(self, name: str) -> bool:
        head = _OP.match(name)
        return head is not None and (head.group() in shapes() or _UNKNOWN.match(name, head.end()) is not None)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        head = _OP.match(name)
        if head is None:
            raise ValueError(f"{name[:80]!r} is no type string")
        op = head.group()
        if op not in shapes():
            rest = Unparsed(name[head.end() :], head.end(), "a device op that is known")
            return DecodedName(name, name, self.name, _FAMILY, {"device_op": op}, {"device_op": head.span()}, (rest,))
        answer = _reader(op).read(name, self.name)
        if answer.complete and _prints_twice(op) and self.format(_FAMILY, answer.fields) != name:
            rest = Unparsed(name[head.end() :], head.end(), "the same value in both places where the op prints it")
            return msgspec.structs.replace(
                answer, fields={"device_op": op}, spans={"device_op": head.span()}, unparsed=(rest,)
            )
        return answer

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        if family != _FAMILY:
            return super().format(family, fields)
        op = _OP.match(str(fields.get("device_op", "")))
        if op is None or op.group() not in shapes():
            raise ValueError(f"field 'device_op' is {fields.get('device_op')!r}, which is no device op that is known")
        return _reader(op.group()).format(fields)

    def view(self, decoded: DecodedName) -> GemmView | None:
        op = str(decoded.fields.get("device_op", "")).lower()
        if "gemm" not in op and "conv" not in op and "contraction" not in op:
            return None
        return ck_view.gemm_view(decoded.fields, "conv" if "conv" in op else "gemm")
