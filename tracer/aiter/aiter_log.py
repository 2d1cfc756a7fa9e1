"""What aiter's own log says of its tuned configs: lines in, the shapes it looked up with what it found out.

Lines of two levels matter: every miss is logged, a hit only with AITER_LOG_TUNED_CONFIG=1. Texts of the wheel 0.1.7
and of main (2026) are read; other lines are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath

import msgspec

from tracer.aiter.lookups import FUSED_MOE, lookup_rule, ops
from tracer.aiter.tree import AiterTree
from tracer.aiter.variables import config_variables
from tracer.errors import SourceTreeError

_SHAPE = re.compile(r"\bshape (?:is )?(?:B:(?P<B>\d+), ?)?M:(?P<M>\d+), ?N:(?P<N>\d+), ?K:(?P<K>\d+)(?P<rest>.*)")
_MISSED = re.compile(r"not found tuned(?:/padded)? config in (?P<file>[^,]+?)(?:,|$)")
_FOUND = re.compile(r"\bis tuned\b.*? in (?P<file>\S+?)[ ,!]*(?:$|,|!| )")
_PADDED = re.compile(r"found padded_M: ?(\d+)|using padded_M: ?(\d+)")
_CU_NUM = re.compile(r"cu_num = (\d+)")
_KERNEL = re.compile(r"kernel ?[nN]ame is '?([\w:]+)'?")
_KEY = re.compile(r"\b(q_dtype_w|dtype|otype|bias|scaleAB|bpreshuffle)[:=] ?'?([\w.]+)'?")
#: aiter's log words for key columns that its CSVs call otherwise
_COLUMNS = {"otype": "outdtype"}
_MOE = re.compile(r"\[fused_moe\] using \S+(?: xbf16)? (?P<config>default|\(kernelName1=.*?\)) for \((?P<key>.*)\)\s*$")
#: the key that the MoE's line prints; the wheel's has no gfx
_MOE_KEY = (
    "gfx", "cu_num", "token", "model_dim", "inter_dim", "expert", "topk", "act_type", "dtype", "q_dtype_a", "q_dtype_w",
    "q_type", "use_g1u1", "doweight_stage1",
)  # fmt: skip
#: ops that look into the file of another; a line that names the file is taken for the other's
_SAME_FILE = {"gemm_a8w8_ASM": "gemm_a8w8_bpreshuffle"}


class LoggedLookup(msgspec.Struct, frozen=True):
    """One shape that aiter looked up.

    Attributes:
        op: the op whose look-up wrote the line, or None when its file is not one that this aiter knows.
        key: M, N, K (B) and what else the line states of the key.
        hit: whether aiter found a row.
        file: the file that the line names; None where it names none.
        padded_m: the M of the row, for a hit that says so.
        cu_num: CUs of the GPU, where the line says so.
        kernel: the kernel that the line names, for a hit.
        line: the first line of the log with this shape; count: how many say the same.
    """

    op: str | None
    key: dict[str, str]
    hit: bool
    file: str | None
    padded_m: int | None
    cu_num: int | None
    kernel: str | None
    line: int
    count: int = 1


def read_log(tree: AiterTree, lines: Iterable[str], environment: Mapping[str, str]) -> list[LoggedLookup]:
    """Reads a log.

    Args:
        tree: the aiter that wrote it, or one like it: its config variables say which op a file belongs to.
        lines: the log.
        environment: the environment in which aiter ran, for files that it names.

    Returns:
        Each shape once, in the order in which the log has it first, with a count.

    Raises:
        SourceTreeError: the tree can't be read.
    """
    stems = _stems(tree, environment)
    found: dict[tuple[object, ...], LoggedLookup] = {}
    for number, line in enumerate(lines, 1):
        logged = _read(line, number, stems)
        if logged is None:
            continue
        identity = (logged.op, tuple(sorted(logged.key.items())), logged.hit, logged.file, logged.cu_num)
        before = found.get(identity)
        found[identity] = logged if before is None else msgspec.structs.replace(before, count=before.count + 1)
    return list(found.values())


def _read(line: str, number: int, stems: Mapping[str, str]) -> LoggedLookup | None:
    shape = _SHAPE.search(line)
    if shape is None:
        return _moe(line, number)
    rest = shape.group("rest")
    missed = _MISSED.search(rest)
    found = _FOUND.search(rest) if missed is None else None
    if missed is None and found is None:
        return None
    file = (missed or found).group("file").strip()  # type: ignore[union-attr]
    key = {axis: shape.group(axis) for axis in ("B", "M", "N", "K") if shape.group(axis) is not None}
    head = rest[: (missed or found).start()]  # type: ignore[union-attr]
    key.update({_COLUMNS.get(name, name): value for name, value in _KEY.findall(head)})
    padded, cu_num, kernel = _PADDED.search(rest), _CU_NUM.search(rest), _KERNEL.search(rest)
    return LoggedLookup(
        op=_op(file, key, rest, stems),
        key=key,
        hit=found is not None,
        file=file,
        padded_m=int(padded.group(1) or padded.group(2)) if padded else None,
        cu_num=int(cu_num.group(1)) if cu_num else None,
        kernel=kernel.group(1) if kernel else None,
        line=number,
    )


def _moe(line: str, number: int) -> LoggedLookup | None:
    """A line of the fused MoE, which prints the whole key: the wheel's begins with cu_num, main's with gfx."""
    found = _MOE.search(line)
    if found is None:
        return None
    values = [_plain(part) for part in found.group("key").split(", ")]
    columns = _MOE_KEY[-len(values) :] if len(values) <= len(_MOE_KEY) else ()
    if not columns:
        return None
    key = dict(zip(columns, values, strict=True))
    cu_num = key.pop("cu_num", "")
    key.pop("gfx", None)
    names = re.findall(r"kernelName[12]='([^']*)'", found.group("config"))
    return LoggedLookup(
        op=FUSED_MOE,
        key=key,
        hit=found.group("config") != "default",
        file=None,
        padded_m=None,
        cu_num=int(cu_num) if cu_num.isdigit() else None,
        kernel=" + ".join(name for name in names if name) or None,
        line=number,
    )


def _plain(value: str) -> str:
    """`'torch.int8'`, `True` or `<ActivationType.Silu: 0>` as the CSV has it."""
    value = value.strip().strip("'")
    enum_ = re.match(r"<(\w+\.\w+):", value)
    return enum_.group(1) if enum_ else {"True": "1", "False": "0"}.get(value, value)


def _op(file: str, key: Mapping[str, str], rest: str, stems: Mapping[str, str]) -> str | None:
    """Which op wrote a line: by the file that it names, or by its wording where it names none."""
    if "CKGEMM or asmGEMM" in file:
        return "gemm_a4w4"
    if file.startswith("CKGEMM"):
        return "batched_gemm_bf16" if "dtype is bf16" in rest else "batched_gemm_a8w8" if "B" in key else None
    return stems.get(file) or stems.get(PurePath(file).stem)


def _stems(tree: AiterTree, environment: Mapping[str, str]) -> dict[str, str]:
    """File stems and whole paths that lead to an op."""
    by_variable: dict[str, str] = {}
    for op in ops():
        try:
            by_variable.setdefault(lookup_rule(tree, op).variable, _SAME_FILE.get(op, op))
        except SourceTreeError:
            continue  # this aiter does not have the op
    stems: dict[str, str] = {}
    for variable in config_variables(tree):
        known = by_variable.get(variable.name)
        if known is not None:
            stems[variable.merge_name] = known
            stems[PurePath(variable.default).stem] = known
            if environment.get(variable.name):
                stems[environment[variable.name]] = known
    return stems
