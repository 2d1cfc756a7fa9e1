"""Random mangled symbols by the rules of the Itanium ABI, for what must hold for any symbol.

Most are symbols that a demangler reads, many have references that lead nowhere, and some break the rules.
"""

from __future__ import annotations

import random

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NAMES = ("a", "foo", "ck", "Sequence", "_GLOBAL__N_1", "x_y", "T_", "S0_", "Ev")
_BUILTIN = "ifcdbtyxo"


def reference(number: int) -> str:
    """The reference to the candidate of this number: `S_`, `S0_`, ..."""
    if number == 0:
        return "S_"
    high, low = divmod(number - 1, 36)
    return f"S{_DIGITS[high] if high else ''}{_DIGITS[low]}_"


def nested(levels: int, identifier: str) -> str:
    """A symbol whose text doubles with every one of its few references: `p<p<..., A>, p<..., A>>`."""
    opening = "1pI" * levels + f"{len(identifier)}{identifier}"
    return f"_Z1fI{opening}" + "".join(f"{reference(levels + i)}E" for i in range(levels)) + "EvT_"


def expanded(levels: int, elements: int) -> str:
    """A symbol whose text is `elements` times longer with every expansion of a pack."""
    return f"_Z1fIJ{'i' * elements}EEv" + "Dp1pIT_" * levels + "E" * levels


def doubling(levels: int) -> str:
    """A symbol whose text doubles with every level: `p<p<..., ...>, p<..., ...>>`."""
    return "_Z1f1pIiiE" + "".join(f"1pI{reference(level)}{reference(level)}E" for level in range(levels))


class SymbolMaker:
    """Makes symbols.

    Args:
        rng: the source of chance.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.candidates = 0

    def symbol(self) -> str:
        """A symbol; one in ten has a letter dropped, doubled or changed."""
        self.candidates = 0
        text = "_Z" + self._encoding(0)
        if self.rng.random() < 0.1:
            at = self.rng.randrange(2, len(text))
            text = text[:at] + self.rng.choice(("", text[at - 1], "E", "S_", "T_")) + text[at + self.rng.randrange(2) :]
        return text

    def _one(self, weights: tuple[tuple[float, str], ...]) -> str:
        return self.rng.choices([what for _, what in weights], [weight for weight, _ in weights])[0]

    def _name(self) -> str:
        name = self.rng.choice(_NAMES)
        return f"{len(name)}{name}{'B3abi' if self.rng.random() < 0.02 else ''}"

    def _candidate(self) -> str:
        return reference(self.rng.randrange(0, max(1, self.candidates + 1)))

    def _parameter(self) -> str:
        return self.rng.choice(("T_", "T_", "T0_", "T1_"))

    def _arguments(self, depth: int) -> str:
        return f"I{''.join(self._argument(depth + 1) for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3))))}E"

    def _argument(self, depth: int) -> str:
        kinds = ((25, "int"), (5, "Lb1E"), (10, "pack"), (5, "enum"), (3, "X"), (1, "Tn"), (2, "L_Z3foovE"),
                 (2, "Lf3f800000E"), (47, "type"))  # fmt: skip
        kind = self._one(kinds)
        if kind == "int":
            return f"Li{self.rng.randrange(300)}E"
        if kind == "pack" and depth < 6:
            return f"J{''.join(self._argument(depth + 1) for _ in range(self.rng.choice((0, 1, 2, 4))))}E"
        if kind == "enum":
            return f"L{self._type(6)}3E"
        if kind == "X":
            operator = self.rng.choice(("gt", "ad", "aant", "szT_", f"st{self._type(6)}", "sZT_", "spT_"))
            return f"X{operator}{self.rng.choice(('Li1ELi2E', 'T_Li0E', 'L_Z3barvE', 'LN1a1eE2ET0_', ''))}E"
        if kind == "Tn":
            return f"Tn{self._type(6)}Li3E"
        return self._type(depth) if kind in ("type", "pack") else kind

    def _nested(self, depth: int) -> str:
        text = "N" + self.rng.choice(("", "", "", "K", "VK"))
        starts = ((55, ""), (30, "S"), (8, "St"), (5, "T"), (2, "Sa"))
        start = self._one(starts)
        text += {"S": self._candidate(), "T": self._parameter()}.get(start, start)
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            special = ("UlvE_", "UliE0_", "Ut_", f"Ul{self._type(depth + 1)}E_", "C1", "D2", "cl", "L3foo", "pl")
            text += self._name() if self.rng.random() < 0.85 else self.rng.choice(special)
            self.candidates += 1
            if self.rng.random() < 0.3 and depth < 6:
                text += self._arguments(depth)
                self.candidates += 1
        return text + "E"

    def _type(self, depth: int) -> str:
        if depth > 7:
            return self.rng.choice(_BUILTIN)
        kinds = ((20, "builtin"), (20, "S"), (10, "T"), (7, "qualified"), (4, "Dp"), (12, "N"), (10, "template"),
                 (2, "name"), (3, "D"), (2, "F"), (2, "St"), (1, "M"), (1, "Sa"), (2, "Z"))  # fmt: skip
        kind = self._one(kinds)
        if kind == "builtin":
            return self.rng.choice(_BUILTIN)
        if kind == "S":
            return self._candidate()
        if kind == "D":
            return self.rng.choice(("Dn", "DF16b", "DF16_", "DB8_", "Ss", "Da", "u6__bf16", "Di", "DF32x"))
        if kind == "N":
            return self._nested(depth)
        if kind == "Z":
            return self._local(depth)
        self.candidates += 2 if kind == "template" else 1
        if kind == "T":
            return self._parameter()
        if kind == "qualified":
            qualifiers = ("P", "R", "O", "K", "PK", "RK", "V", "VK", "KK", "KV", "A4_", "Dv4_", "C")
            return self.rng.choice(qualifiers) + self._type(depth + 1)
        if kind == "F":
            end = self.rng.choice(("v", "i", self._type(depth + 1))) + self.rng.choice(("E", "RE"))
            return self.rng.choice(("F", "PF", "PKF", "PDoF", "FY")) + self._type(depth + 1) + end
        if kind == "M":
            return f"M{self._type(depth + 1)}{self._type(depth + 1)}"
        arguments = self._arguments(depth) if kind in ("template", "Sa") or self.rng.random() < 0.5 else ""
        return {"Dp": f"Dp{self._type(depth + 1)}", "name": self._name(), "Sa": f"Sa{arguments}"}.get(
            kind, f"{'St' if kind == 'St' else ''}{self._name()}{arguments}"
        )

    def _local(self, depth: int) -> str:
        entities = ("UlvE_", "1x", "NKUlvE_clEv", "s", "d_UlvE_", "UlT_E_", "1xB1a_0", "1x_2", "NUlvE_1aE")
        return f"Z{self._encoding(depth + 1)}E{self.rng.choice(entities)}"

    def _encoding(self, depth: int) -> str:
        kind = self._one(((50, "N"), (40, "template"), (3, "St"), (7, "Z")))
        if kind == "N":
            name = self._nested(depth)
        elif kind == "Z" and depth < 5:
            name = self._local(depth + 1)
        else:
            name = ("St" if kind == "St" else "") + self._name()
            name += self._arguments(depth) if kind == "template" and self.rng.random() < 0.7 else ""
        return name + "".join(self._type(depth + 1) for _ in range(self.rng.choice((0, 1, 2, 3, 5))))
