"""What a CK instance is launched with: its values, a shape and CK's own headers in, grid, block and LDS bytes out.

Each rule is used only when the header still says what the rule ports; otherwise the value is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.aiter import text
from tracer.aiter.ck import CkPlaces
from tracer.aiter.tree import AiterTree

_TILE_MAP = "BlockToCTileMap_Grouped_M00_N0_M01Adapt"
#: bytes of the element types that aiter's instances keep in LDS
ELEMENT_BYTES = {
    "float8_e4m3fnuz": 1, "float8_e4m3fn": 1, "int8": 1, "uint8": 1, "bfloat16": 2, "float16": 2, "float32": 4,
}  # fmt: skip


class Problem(msgspec.Struct, frozen=True):
    """What one launch computes: M x N x K, split `k_batch` ways, `batch` times; `dtype` is A's, in torch's spelling."""

    m: int
    n: int
    k: int
    k_batch: int = 1
    batch: int = 1
    dtype: str | None = None


def ceil_div(a: int, b: int) -> int:
    """The smallest integer not below a / b."""
    return -(-a // b)


def k_steps(values: Mapping[str, Any], problem: Problem) -> int | None:
    """Main-loop steps that K takes of one block, as CK's device operations round it; None for an unknown tile."""
    tile = values.get("k_per_block")
    return ceil_div(problem.k, problem.k_batch * tile) if isinstance(tile, int) and tile > 0 else None


def launch_parameters(tree: AiterTree, places: CkPlaces, values: Mapping[str, Any], problem: Problem) -> dict[str, Any]:
    """Launch values of an instance.

    Args:
        tree: the aiter.
        places: where the instance's family leads to in CK.
        values: the instance's values in the words of `tracer.names`.
        problem: the shape.

    Returns:
        "block" and "grid" as [x, y, z] (threads, blocks), "lds_bytes", "k_batch" and "sources": for each of them the
        line that states the rule. A value whose rule does not hold here is left out.
    """
    known: dict[str, Any] = {"k_batch": problem.k_batch, "sources": {}}
    if "block_size" in values:
        known["block"] = [values["block_size"], 1, 1]
        _cite(
            known, "block", places.launch.file if places.launch else None, places.launch.line if places.launch else None
        )
    if places.gridwise is None or places.device_op is None:
        return known
    _grid(tree, places, values, problem, known)
    _lds(tree, places, values, problem, known)
    return known


def _cite(known: dict[str, Any], what: str, file: str | None, line: int | None) -> None:
    if file is not None and line is not None:
        known["sources"][what] = f"{file}:{line}"


def _grid(
    tree: AiterTree, places: CkPlaces, values: Mapping[str, Any], problem: Problem, known: dict[str, Any]
) -> None:
    """Tiles along x, splits (times batch) along z: CalculateGridSize of CK's grid-wise header."""
    assert places.gridwise is not None
    assert places.device_op is not None
    grid = tree.absolute(places.gridwise.file)
    line = text.find_line(grid, r"make_tuple\(Block2CTileMap\w*::CalculateGridSize\(M, N\), 1, KBatch\)")
    mapped = text.find_line(grid, r"using Block2CTileMap\w*\s*=") is not None and _TILE_MAP in text.read(grid)
    device = tree.absolute(places.device_op.file)
    if re.search(r"GridwiseGemm::CalculateGridSize\(\s*arg\.M,\s*arg\.N\s*\)", text.read(device)):
        _moe_grid(tree, places.gridwise.file, values, problem, known)
        return
    call = re.search(r"GridwiseGemm::CalculateGridSize\(\s*arg\.M,\s*arg\.N,\s*([^)]*)\)", text.read(device))
    if line is None or not mapped or call is None:
        return
    factors = {factor.strip() for factor in call.group(1).split("*")}
    if not factors <= {"arg.KBatch", "arg.Batch"}:
        return
    z = problem.k_batch * (problem.batch if "arg.Batch" in factors else 1)
    tiles = ceil_div(problem.m, values["m_per_block"]) * ceil_div(problem.n, values["n_per_block"])
    known["grid"] = [tiles, 1, z]
    known["tiles_m"] = ceil_div(problem.m, values["m_per_block"])
    known["tiles_n"] = ceil_div(problem.n, values["n_per_block"])
    _cite(known, "grid", places.gridwise.file, line)


def _moe_grid(tree: AiterTree, file: str, values: Mapping[str, Any], problem: Problem, known: dict[str, Any]) -> None:
    """Tiles of N along x and of the sorted tokens along y, or all along x where they are swizzled: CK's MoE headers."""
    path = tree.absolute(file)
    line = text.find_line(path, r"gridx\s*=\s*NSwizzle \? nblock \* mblock : nblock;")
    other = text.find_line(path, r"gridy\s*=\s*NSwizzle \? 1 : mblock;")
    swizzled = values.get("nswizzle")
    if line is None or other is None or not isinstance(swizzled, bool):
        return
    m, n = ceil_div(problem.m, values["m_per_block"]), ceil_div(problem.n, values["n_per_block"])
    known["grid"] = [m * n, 1, 1] if swizzled else [n, m, 1]
    known["tiles_m"], known["tiles_n"] = m, n
    _cite(known, "grid", file, line)


def _lds(tree: AiterTree, places: CkPlaces, values: Mapping[str, Any], problem: Problem, known: dict[str, Any]) -> None:
    """The larger of A's (and B's) tile and the output's shuffle buffer: GetSharedMemoryNumberOfByte of CK's header.

    Holds where LDS rows carry no extra elements (the helper alias passes 0): then the tiles are packed.
    """
    assert places.gridwise is not None
    content = text.read(tree.absolute(places.gridwise.file))
    rule = re.search(
        r"return math::max\(\(?a_block_space_size_aligned \* sizeof\(\w+\)"
        r"(\s*\+\s*b_block_space_size_aligned \* sizeof\(\w+\)\))?,\s*c_block_size \* sizeof\(CShuffleDataType\)\)",
        content,
    )
    wanted = ("m_per_block", "n_per_block", "k_per_block", "m_per_xdl", "n_per_xdl", "m_xdl_per_wave", "n_xdl_per_wave")
    element = ELEMENT_BYTES.get(problem.dtype or "")
    if rule is None or element is None or any(name not in values for name in wanted) or not _packed(tree, places):
        return
    align = math.lcm(values.get("ak1", 1), values.get("bk1", 1))
    a = ceil_div(values["m_per_block"] * values["k_per_block"], align) * align * element
    b = ceil_div(values["n_per_block"] * values["k_per_block"], align) * align * element if rule.group(1) else 0
    waves_m = values["m_per_block"] // (values["m_xdl_per_wave"] * values["m_per_xdl"])
    waves_n = values["n_per_block"] // (values["n_xdl_per_wave"] * values["n_per_xdl"])
    shuffle = (
        values["cshuffle_m"] * waves_m * values["m_per_xdl"] * values["cshuffle_n"] * waves_n * values["n_per_xdl"]
    )
    known["lds_bytes"] = max(a + b, shuffle * 4) * _buffers(tree, places)
    _cite(known, "lds_bytes", places.gridwise.file, content.count("\n", 0, rule.start()) + 1)


def _packed(tree: AiterTree, places: CkPlaces) -> bool:
    """Whether the helper alias passes no extra LDS elements and a 4-byte shuffle type."""
    if places.helper is None:
        return False
    path = tree.absolute(places.helper.file)
    lines = text.lines(path)[places.helper.line - 1 :]
    alias = " ".join(re.sub(r"//.*", "", line) for line in lines).partition(";")[0]
    alias = re.sub(r"\s+", " ", alias)
    extras = re.findall(r"S<1, 0, 2>, S<1, 0, 2>, 2, [\w:]+, [\w:]+, (\w+),", alias)
    four_bytes = (
        re.search(r"using CShuffleDataType\s*=\s*F32;", text.read(path)) or "AccDataType, AccDataType," in alias
    )
    return extras == ["0", "0"] and bool(four_bytes)


def _buffers(tree: AiterTree, places: CkPlaces) -> int:
    """How many LDS buffers the kernel declares: one, or two for double buffering."""
    if places.kernel is None:
        return 1
    path = tree.absolute(places.kernel.file)
    end = text.block_end(path, places.kernel.line) or places.kernel.line
    return max(1, sum("__shared__ char" in line for line in text.lines(path)[places.kernel.line - 1 : end]))
