"""Which of aiter's instances a CK symbol is a kernel of: a decoded name in, the instances with their places out.

aiter's tables are looked into when the first CK symbol comes; names of other kernels cost nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tracer.errors import SourceTreeError
from tracer.model.kernel import DecodedName

if TYPE_CHECKING:
    from tracer.aiter.tree import AiterTree
    from tracer.resolve.symbol_instances import InstanceMatch

#: the grammar of CK's kernel symbols
_GRAMMAR = "ck_template"
#: ... and of CK-tile's, of which instances compile to some
_TILE_GRAMMAR = "ck_tile_template"
#: symbols whose instances are remembered: a trace repeats its kernels
_REMEMBERED = 1024


class Instances:
    """Looks the instances of symbols up in one aiter.

    Args:
        path: where that aiter is; None for the installed one.
        wanted: whether to look at all.
    """

    def __init__(self, path: Path | None = None, wanted: bool = True) -> None:
        self._path = path
        self._wanted = wanted
        self._seen: OrderedDict[str, list[InstanceMatch]] = OrderedDict()

    @cached_property
    def _tree(self) -> AiterTree | None:
        from tracer.aiter.tree import AiterTree  # only a CK symbol needs aiter's tables

        try:
            return AiterTree.find(self._path)
        except SourceTreeError:
            if self._path is not None:
                raise
            return None

    def of(self, decoded: DecodedName) -> list[InstanceMatch] | None:
        """The instances that compile to a symbol; None where nobody can look: no CK symbol, or no aiter.

        Raises:
            SourceTreeError: the aiter that was asked for is none.
        """
        if not self._wanted or not _is_of_instances(decoded) or self._tree is None:
            return None
        found = self._seen.get(decoded.spelled)
        if found is None:
            from tracer.resolve.symbol_instances import instances_of

            found = self._seen[decoded.spelled] = instances_of(decoded, self._tree)
            if len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
        return found


def _is_of_instances(decoded: DecodedName) -> bool:
    """Whether instances of aiter's compile to kernels of this kind."""
    if decoded.grammar == _TILE_GRAMMAR:
        from tracer.aiter.families import is_tile_kernel

        return is_tile_kernel(decoded.fields)
    return decoded.grammar == _GRAMMAR
