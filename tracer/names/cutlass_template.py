"""CUTLASS kernels by their C++ templates: `void cutlass::device_kernel<...CollectiveMma<...>...>(...)` in, fields out.

Only what stands at a fixed place is read: of a CUTLASS 3 main loop its stages, cluster, schedule, tile and element
type, of a CUTLASS 2 one its block, warp and instruction shapes. The rest of the template is left to the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tracer.model.kernel import DecodedName, FieldValue, Span
from tracer.names.base import Key
from tracer.names.vocabulary import pick

FAMILY = "cutlass_template"
#: a library may wrap the kernel once (vllm::enable_sm90_or_later<...>)
_START = re.compile(
    r"(?:void )?cutlass::(?:device_kernel|Kernel2?)<(?:(?!flash|cutlass::(?:gemm|conv)::)[\w:]{1,200}<)?"
    r"cutlass::(?:gemm|conv)::"
).match
_INT = r"(?:\(?int[)=])?"
_C = rf"cute::(?:C<{_INT}|_)([0-9]{{1,9}})>?"
_THREE = rf"cute::tuple<{_C}, {_C}, {_C} ?>"
_COLLECTIVE = re.compile(
    r"\b(?:cutlass::)?(?P<kind>gemm|conv)::collective::(?P<name>CollectiveMma|CollectiveConv)<"
).search
_POLICY = re.compile(
    rf"(?:cutlass::)?(?:gemm|conv)::(?P<policy>Mainloop\w+)<{_INT}(?P<stages>[0-9]{{1,9}})[^<>]*, {_THREE}"
    r"(?:, (?:cutlass::)?(?:gemm|conv)::(?P<schedule>Kernel\w+))?"
).search
_TILE = re.compile(rf" ?>, {_THREE}, (?:cutlass::)?(?P<a>[\w:]+)").search
_SHAPE = re.compile(
    rf"(?:cutlass::)?gemm::GemmShape<{_INT}([0-9]{{1,9}}), ?{_INT}([0-9]{{1,9}}), ?{_INT}([0-9]{{1,9}}) ?>"
)
_CONV_2 = re.compile(r"conv::kernel::\w*").search
#: how much of a name is looked at: templates run to tens of thousands of characters, the main loop stands in front
_REACH = 16384

KEYS: Mapping[str, Key] = {
    **pick("op", "m_per_block", "n_per_block", "k_per_block", "cluster_m", "cluster_n", "cluster_k", "num_stages",
           "dtype_a"),
    "mainloop_policy": Key("The main loop's dispatch policy, as the template names it."),
    "schedule": Key("The kernel schedule, as the template names it."),
    "m_per_warp": Key("M extent that one warp computes.", "elements"),
    "n_per_warp": Key("N extent that one warp computes.", "elements"),
    "k_per_warp": Key("K extent that one warp consumes per step.", "elements"),
}  # fmt: skip


def accepts(name: str) -> bool:
    """Whether `name` is a CUTLASS kernel template."""
    return _START(name) is not None


def read(name: str, grammar: str) -> DecodedName:
    """Reads a kernel template's name; what is not at a fixed place stays unread."""
    fields: dict[str, FieldValue] = {}
    spans: dict[str, Span] = {}

    def put(key: str, value: FieldValue, span: Span) -> None:
        fields[key] = value
        spans[key] = span

    def three(keys: tuple[str, str, str], m: re.Match[str], first: int) -> None:
        for i, key in enumerate(keys):
            put(key, int(m.group(first + i)), m.span(first + i))

    text = name[:_REACH]
    collective = _COLLECTIVE(text)
    if collective:
        put("op", collective["kind"], collective.span("kind"))
        policy = _POLICY(text, collective.end())
        if policy:
            put("mainloop_policy", policy["policy"], policy.span("policy"))
            put("num_stages", int(policy["stages"]), policy.span("stages"))
            three(("cluster_m", "cluster_n", "cluster_k"), policy, 3)
            if policy["schedule"]:
                put("schedule", policy["schedule"], policy.span("schedule"))
            tile = _TILE(text, policy.end())
            if tile:
                three(("m_per_block", "n_per_block", "k_per_block"), tile, 1)
                put("dtype_a", tile["a"], tile.span("a"))
    else:
        shapes = [m for _, m in zip(range(3), _SHAPE.finditer(text), strict=False)]
        put("op", "conv" if _CONV_2(text) else "gemm", (0, 0))
        for shape, suffix in zip(shapes, ("per_block", "per_warp"), strict=False):
            three((f"m_{suffix}", f"n_{suffix}", f"k_{suffix}"), shape, 1)
        if len(shapes) == 3:
            three(("inst_m", "inst_n", "inst_k"), shapes[2], 1)
    return DecodedName(name, name, grammar, FAMILY, fields, spans)
