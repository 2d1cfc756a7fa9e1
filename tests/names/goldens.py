"""Golden cases of kernel names: readable text, one block a name.

    = a8w8_blockscale_1x128x128_...
    family: aiter_ck_a8w8_blockscale
      scale_block_m = 1                 '1'
      a_bits = 8                        (not printed)
    unparsed: '...' at 17: expected ...

A folder under tests/data/names/ is named for its grammar. `cases.txt` holds blocks like this one, `refused.txt` holds
names, one a line, that the grammar must not claim, or must not read completely.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tracer.model.kernel import DecodedName
from tracer.names import registry

FOLDER = Path(__file__).parents[1] / "data" / "names"


def show(decoded: DecodedName) -> str:
    """Prints a decoded name as a golden block."""
    lines = [f"= {decoded.text}", f"family: {decoded.family}"]
    if decoded.demangle:
        lines.append(f"demangle: {decoded.demangle}")
    for key, value in decoded.fields.items():
        start, end = decoded.spans[key]
        stated = repr(decoded.spelled[start:end]) if end > start else "(not printed)"
        lines.append(f"  {f'{key} = {value!r}':40} {stated}")
    lines += [f"  {f'likely {key} = {value!r}':40}" for key, value in decoded.likely.items()]
    lines += [f"unparsed: {piece.text!r} at {piece.start}: {piece.reason}" for piece in decoded.unparsed]
    lines += [f"note: {note}" for note in decoded.notes]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def blocks(path: Path) -> Iterator[tuple[str, str]]:
    """The (name, block) pairs of a cases file."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        if block.startswith("= "):
            yield block.split("\n", 1)[0][2:], block.rstrip("\n") + "\n"


def case_files() -> list[Path]:
    """Every cases.txt of every grammar."""
    return sorted(FOLDER.glob("*/cases.txt"))


def case_names() -> list[tuple[str, str]]:
    """(grammar, name) of every golden case."""
    return [(path.parent.name, name) for path in case_files() for name, _ in blocks(path)]


def rewrite(path: Path) -> None:
    """Reads every name of a cases file again and writes the blocks anew."""
    path.write_text("\n".join(show(registry.decode(name)) for name, _ in blocks(path)), encoding="utf-8")
