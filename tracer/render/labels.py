"""Short forms of long kernel names, for headings, menus and tabs: a name in, some words of what it states out.

A label is no name: whatever shows one shows the whole name on the page as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from tracer.model.kernel import DecodedName
from tracer.names import registry
from tracer.render.filters import field_value, shortened
from tracer.resolve.kernels import LONGEST_NAME

#: names up to this length are their own label
LONGEST_LABEL = 72
#: how much of the front of a formal name is kept before its tile
_HEAD = 28
_ARGUMENTS = re.compile(r"[<(]")


@lru_cache(maxsize=4096)
def brief(name: str) -> str:
    """A name of at most LONGEST_LABEL characters: itself, or its function or front with the main values it states."""
    if len(name) <= LONGEST_LABEL:
        return name
    decoded = registry.decode(name)
    spelled = decoded.spelled.replace("(anonymous namespace)::", "")
    if _ARGUMENTS.search(spelled):
        function = _ARGUMENTS.split(spelled, maxsplit=1)[0].rpartition(" ")[2].rpartition("::")[2]
        return _fitting(shortened(function or spelled, LONGEST_LABEL - len("…")), _stated(decoded))
    tile, base, constants = _tile(decoded), decoded.fields.get("base_name"), decoded.fields.get("constexprs")
    if isinstance(base, str) and isinstance(constants, Mapping):
        return _fitting(base, [f"{key}={value}" for key, value in constants.items()])
    if tile is None:
        return shortened(name, LONGEST_LABEL)
    front = name[:_HEAD]
    return f"{front.rpartition('_')[0] or front}… {tile}"


def in_text(name: str) -> str:
    """A name as it stands in a sentence or a list: itself up to a line's length, else its short form."""
    return name if len(name) <= LONGEST_NAME else brief(name)


def _tile(decoded: DecodedName) -> str | None:
    """`128x256x64` of the common GEMM view."""
    view = registry.view(decoded) if decoded.known else None
    if view is None or view.tile_m is None or view.tile_n is None:
        return None
    return "x".join(str(extent) for extent in (view.tile_m, view.tile_n, view.tile_k) if extent is not None)


def _stated(decoded: DecodedName) -> list[str]:
    """What a C++ name states besides its function: the operation, the types, then the other values with their keys."""
    fields = dict(decoded.fields)
    for told in ("kernel", "functor", "namespace", "device_op"):
        fields.pop(told, None)
    first = [field_value(fields.pop("operation"))] if "operation" in fields else []
    types = [fields.pop(key) for key in list(fields) if key.startswith("dtype")]
    flat = [str(item) for value in types for item in (value if isinstance(value, (list, tuple)) else [value])]
    return [*first, *dict.fromkeys(flat), *(f"{key}={field_value(value)}" for key, value in fields.items())]


def _fitting(function: str, stated: Iterable[str]) -> str:
    """The function with as much of what is stated as fits."""
    kept: list[str] = []
    for part in stated:
        if len(f"{function} ({', '.join([*kept, part])}, …)") > LONGEST_LABEL:
            return f"{function} ({', '.join([*kept, '…'])})" if kept else f"{function}…"
        kept.append(part)
    return f"{function} ({', '.join(kept)})" if kept else f"{function}…"
