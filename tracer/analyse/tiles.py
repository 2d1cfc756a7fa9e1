"""How a shape falls into tiles: extents and a tile in, blocks, rounds over the CUs and padding out. Pure arithmetic."""

from __future__ import annotations

import msgspec


def ceil_div(a: int, b: int) -> int:
    """The smallest integer not below a / b."""
    return -(-a // b)


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A GEMM's extents in elements, as the kernel counts them.

    Attributes:
        m, n, k: extents; batch: independent products.
        turned: whether M and N of the call have changed places, because a column-major library computes the product of
            row-major matrices as the transposed one of column-major ones.
    """

    m: int
    n: int
    k: int
    batch: int = 1
    turned: bool = False

    def turn(self) -> Problem:
        """The same product, transposed."""
        return Problem(m=self.n, n=self.m, k=self.k, batch=self.batch, turned=not self.turned)


class Tile(msgspec.Struct, frozen=True, kw_only=True):
    """What one block computes, in elements; `split_k` blocks share one output tile."""

    m: int
    n: int
    k: int | None = None
    split_k: int = 1


class Tiling(msgspec.Struct, frozen=True, kw_only=True):
    """A problem cut into tiles.

    Attributes:
        problem, tile: what was cut, and into what.
        along_m, along_n: tiles along each axis.
        tiles: output tiles, of the whole batch; blocks: tiles x split_k.
        k_steps: main-loop steps of one block, or None when the tile's K extent is not known.
    """

    problem: Problem
    tile: Tile
    along_m: int
    along_n: int
    k_steps: int | None

    @property
    def tiles(self) -> int:
        """Output tiles of the whole batch."""
        return self.along_m * self.along_n * self.problem.batch

    @property
    def blocks(self) -> int:
        """Blocks that are launched."""
        return self.tiles * self.tile.split_k

    @property
    def useful(self) -> float:
        """The part of the computed output that is asked for."""
        computed = self.along_m * self.tile.m * self.along_n * self.tile.n
        return self.problem.m * self.problem.n / computed

    def rounds(self, compute_units: int) -> int:
        """How often the CUs must be filled, with one block a CU at a time."""
        return ceil_div(self.blocks, compute_units)

    def wave_efficiency(self, compute_units: int) -> float:
        """The part of the CUs' turns that have a block to run."""
        return self.blocks / (self.rounds(compute_units) * compute_units)


def cut(problem: Problem, tile: Tile) -> Tiling:
    """Cuts a problem into tiles."""
    steps = None
    if tile.k:
        steps = ceil_div(ceil_div(problem.k, tile.split_k), tile.k)
    return Tiling(
        problem=problem,
        tile=tile,
        along_m=ceil_div(problem.m, tile.m),
        along_n=ceil_div(problem.n, tile.n),
        k_steps=steps,
    )
