"""Kernels of NCCL and RCCL: `ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)` in, collective, algorithm, protocol out.

ncclDevKernel_{collective}[_{reduction}_{type}]_{algorithm}_{protocol}    NCCL since 2.19
ncclDevKernel[Debug]_Generic[_{unroll}]                                   RCCL, and NCCL for all else
ncclKernel_{collective}_{algorithm}_{protocol}_{reduction}_{C type}       NCCL before
ncclDevFunc_{collective}_{algorithm}_{protocol}[_{reduction}_{type}][_{unroll}]    a device function of RCCL
ncclSymkDevKernel_{collective}_{algorithm}[_{reduction}_{type}]           kernels on symmetric memory
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue, Span, Unparsed
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.vocabulary import pick

_SOURCE = "src/device/generate.py (NVIDIA/nccl, ROCm/rccl)"
_COLLECTIVE = "(?P<collective>AllGatherV|AllGather|AllReduce|AllToAllPivot|Broadcast|ReduceScatter|Reduce|SendRecv)"
_ALGORITHM = "(?P<algorithm>RING|TREE|COLLNET_DIRECT|COLLNET_CHAIN|COLLNET|NVLS_TREE|NVLS|PAT)"
_PROTOCOL = "(?P<protocol>LL128|LL|SIMPLE)"
_REDUCTION = "(?P<redop>SumPostDiv|PreMulSum|MinMax|Sum|Prod|Min|Max|Avg)"
_TYPE = "(?P<dtype>[iu](?:8|32|64)|f16|f32|f64|bf16|f8e4m3|f8e5m2|bf8|f8)"
_C_TYPE = "(?P<c_type>u?int(?:8|32|64)_t|half|float|double|__nv_bfloat16|rccl_bfloat16|hip_bfloat16)"
_UNROLL = "(?:_(?P<unroll>[1-9]))?"
_FORMS = tuple(
    re.compile(form + r"(?=$|\()")
    for form in (
        f"ncclDevKernel_{_COLLECTIVE}(?:_{_REDUCTION}_{_TYPE})?(?:(?<=SendRecv)|_{_ALGORITHM}_{_PROTOCOL})",
        f"ncclDevKernel(?P<debug>Debug)?_Generic{_UNROLL}",
        f"(?P<device_function>ncclDevFunc)_{_COLLECTIVE}(?:(?<=SendRecv)|_{_ALGORITHM}_{_PROTOCOL})(?:_{_REDUCTION}_{_TYPE})?"
        f"{_UNROLL}",
        f"(?P<device_function>ncclDevFunc)_{_COLLECTIVE}_{_REDUCTION}_{_TYPE}_{_ALGORITHM}_{_PROTOCOL}",
        f"ncclKernel_{_COLLECTIVE}_{_ALGORITHM}_{_PROTOCOL}_{_REDUCTION}_{_C_TYPE}",
        rf"(?P<symmetric>ncclSymk?DevKernel)_{_COLLECTIVE}_(?P<algorithm>(?:(?!(?:sum|avg)_)\w)+)"
        f"(?:_(?P<redop>sum|avg)_{_TYPE})?",
    )
)
_TYPES = {"half": "f16", "float": "f32", "double": "f64", "__nv_bfloat16": "bf16", "rccl_bfloat16": "bf16",
          "hip_bfloat16": "bf16"}  # fmt: skip
_REDUCING = ("AllReduce", "Reduce", "ReduceScatter")
_HEAD = re.compile(r"nccl(?:DevKernel(?:Debug)?|DevFunc|Kernel|Symk?DevKernel)_")


class Nccl(Grammar):
    """NCCL's and RCCL's kernels."""

    name = "nccl"
    families = ("nccl",)
    formal: ClassVar[frozenset[str]] = frozenset()
    prefixes = ("ncclDev", "ncclKernel_", "ncclSym")
    link = "https://github.com/NVIDIA/nccl/blob/master/src/device/generate.py"
    keys: ClassVar[Mapping[str, Key]] = {
        **pick("kernel", "algorithm", "unroll", "dtype"),
        "collective": Key("The collective operation.", None, _SOURCE),
        "protocol": Key("The protocol that the kernel is specialised for.", None, _SOURCE),
        "redop": Key("The reduction.", None, _SOURCE),
        "debug": Key("Whether the kernel was built with debug output.", None, _SOURCE),
        "device_function": Key("Whether the name is that of a device function, which a kernel calls.", None, _SOURCE),
        "symmetric": Key("Whether the kernel works on symmetric memory.", None, _SOURCE),
    }

    def accepts(self, name: str) -> bool:
        return _HEAD.match(name) is not None

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        end = name.find("(")
        end = end if end >= 0 else len(name)
        fields: dict[str, FieldValue] = {"kernel": name[:end]}
        spans: dict[str, Span] = {"kernel": (0, end)}
        m = next((m for form in _FORMS if (m := form.match(name)) is not None), None)
        if m is None:
            head = _HEAD.match(name)
            start = head.end() if head is not None else 0
            rest = Unparsed(name[start:end], start, "a collective operation of NCCL that is known")
            return DecodedName(name, name, self.name, "nccl", {}, {}, (rest,))
        groups = {key: value for key, value in m.groupdict().items() if value is not None}
        for key, value in groups.items():
            if key in ("redop", "dtype", "c_type") and groups["collective"] not in _REDUCING:
                continue  # a place holder: nothing is reduced
            stated: FieldValue = value
            if key == "c_type":
                stated = _TYPES.get(value) or value.replace("uint", "u").replace("int", "i").removesuffix("_t")
            elif key in ("debug", "device_function", "symmetric"):
                stated = True
            elif key == "unroll":
                stated = int(value)
            fields["dtype" if key == "c_type" else key] = stated
            spans["dtype" if key == "c_type" else key] = m.span(key)
        return DecodedName(name, name, self.name, "nccl", fields, spans, notes=_notes(groups))


def _notes(groups: Mapping[str, str]) -> tuple[str, ...]:
    if "algorithm" not in groups or "device_function" in groups or "symmetric" in groups:
        return ()
    return ("the kernel is specialised for this algorithm and protocol, but runs others too: a launch may differ",)
