"""Names that a generator puts together when a module is built: a name in, the script and the line that makes it out.

No table lists such names: CK's codegen scripts and aiter's MoE generators make one from the types and tiles that they
are asked for. The script is known by the name's beginning; the line is that of its `name` property.
"""

from __future__ import annotations

import re

import msgspec

from tracer.index.recipes import CK
from tracer.index.tree_index import TreeIndex

_FMHA = f"{CK}/example/ck_tile/01_fmha/codegen/ops"
#: (beginning of the name, scripts in the order in which trees have had them, JIT modules that are built with it)
_MAKERS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("moe_ck2stages_", ("csrc/ck_gemm_moe_2stages_codegen/gemm_moe_ck2stages_common.py",), r"module_moe_ck2stages"),
    ("moe_cktile2stages_", ("csrc/ck_tile_gemm_moe_2stages/moe_cktile2stages_common.py",), r"module_moe_cktile2stages"),
    ("fmha_batch_prefill_", (f"{_FMHA}/fmha_batch_prefill.py",), r"module_mha_batch_prefill"),
    ("fmha_fwd_splitkv_", (f"{_FMHA}/fmha_fwd_splitkv.py",), r"module_mha_(?:varlen_)?fwd"),
    ("fmha_fwd_appendkv_", (f"{_FMHA}/fmha_fwd_appendkv.py",), r"module_mha_(?:varlen_)?fwd"),
    ("fmha_fwd_pagedkv_", (f"{_FMHA}/fmha_pagedkv_prefill.py",), r"module_mha_(?:varlen_)?fwd"),
    ("fmha_fwd_", (f"{_FMHA}/fmha_fwd.py",), r"module_mha_(?:varlen_)?fwd"),
    ("fmha_bwd_", (f"{_FMHA}/fmha_bwd.py",), r"module_mha_(?:varlen_)?bwd"),
    ("opus_gemm_", ("csrc/opus_gemm/opus_gemm_common.py",), r"module_deepgemm_opus"),
    ("opus_bmm_", ("csrc/opus_gemm/opus_gemm_common.py",), r"module_deepgemm_opus"),
)


class Maker(msgspec.Struct, frozen=True):
    """What makes a name.

    Attributes:
        file: the script.
        line: line of its `name` property; None when it is not in this tree.
        modules: the JIT modules that it is run for.
    """

    file: str
    line: int | None
    modules: tuple[str, ...]


def maker_of(index: TreeIndex, name: str) -> Maker | None:
    """What makes a name; None for names of other kinds."""
    for beginning, files, pattern in _MAKERS:
        if name.startswith(beginning):
            file = next((f for f in files if index.tree.absolute(f).is_file()), files[0])
            modules = tuple(m for m in index.recipes if re.fullmatch(pattern, m))
            return Maker(file, _name_line(index.text(file) or "", beginning), modules)
    return None


def _name_line(text: str, beginning: str) -> int | None:
    """The line of the `name` property whose body writes the beginning, else of the last one that there is."""
    lines = text.splitlines()
    places = [i for i, line in enumerate(lines) if re.match(r"\s*def name\(", line)]
    literal = re.compile(rf"""["']{re.escape(beginning.rstrip("_"))}""")
    for place in places:
        if any(literal.search(line) for line in lines[place + 1 : place + 40]):
            return place + 1
    return places[-1] + 1 if places else None
