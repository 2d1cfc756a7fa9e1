"""Names for the fuzzer: real names in, broken and random ones out, the same for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from tests.names.mangled import SymbolMaker, doubling, expanded, nested

_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_ODD = "0189xX_-. ,:;<>(){}[]&*~@#$%^|\\/'\"\t\n\0\x7f\u00e9\u0660\u2028\u2026\U0001f600\ud800"
_BRACKETS = "<>(){}[],"
_NOISE = (".kd", " [clone .kd]", "...", "\u2026", " (.kd)", "_0d1d2d3de", "(int, float*)", " const", "@plt")
_NUMBER = re.compile(r"[0-9]+")
_TOKEN = re.compile(r"_|::|, |[<>()]")


class Spoiler:
    """Makes broken names out of real ones.

    Args:
        names: the real names.
        rng: where all choices come from.
    """

    def __init__(self, names: Sequence[str], rng: random.Random) -> None:
        self._names = names
        self._rng = rng
        self._symbols = SymbolMaker(rng)
        self._tokens = sorted({token for name in names for token in name.split("_") if len(token) < 40})
        self._ways: tuple[Callable[[str], str], ...] = (
            self._drop, self._double, self._swap, self._foreign, self._character, self._number, self._cut,
            self._noisy, self._bracket, self._wrapped, self._recased, self._joined,
        )  # fmt: skip

    def name(self) -> str:
        """The next name: nine in ten are real ones that were spoiled once to three times, the rest is random."""
        rng = self._rng
        if rng.random() < 0.1:
            return rng.choice((self._random_text, self._random_tokens, self._deep, self._long, self._symbol))()
        name = rng.choice(self._names)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            name = rng.choice(self._ways)(name)
        return name

    def _split(self, name: str) -> tuple[list[str], str]:
        separator = self._rng.choice(("_", "_", "_", ", ", "::", "x"))
        return name.split(separator), separator

    def _drop(self, name: str) -> str:
        tokens, separator = self._split(name)
        del tokens[self._rng.randrange(len(tokens))]
        return separator.join(tokens)

    def _double(self, name: str) -> str:
        tokens, separator = self._split(name)
        i = self._rng.randrange(len(tokens))
        return separator.join(tokens[: i + 1] + tokens[i:])

    def _swap(self, name: str) -> str:
        tokens, separator = self._split(name)
        i, j = self._rng.randrange(len(tokens)), self._rng.randrange(len(tokens))
        tokens[i], tokens[j] = tokens[j], tokens[i]
        return separator.join(tokens)

    def _foreign(self, name: str) -> str:
        tokens, separator = self._split(name)
        tokens[self._rng.randrange(len(tokens))] = self._rng.choice(self._tokens)
        return separator.join(tokens)

    def _character(self, name: str) -> str:
        i = self._rng.randrange(len(name) + 1)
        new = self._rng.choice(self._rng.choice((_PLAIN, _ODD)))
        return name[:i] + new + name[i + self._rng.randrange(2) :]

    def _number(self, name: str) -> str:
        found = list(_NUMBER.finditer(name))
        if not found:
            return name
        m = self._rng.choice(found)
        new = self._rng.choice(("0", "00", "1", "-1", "007", "9" * 18, "9" * 5000, "1.5", "0x10", "", "\u0663", "+3"))
        return name[: m.start()] + new + name[m.end() :]

    def _cut(self, name: str) -> str:
        i = self._rng.randrange(len(name) + 1)
        return (name[:i] if self._rng.random() < 0.7 else name[i:]) + self._rng.choice(("", "", "...", "\u2026"))

    def _noisy(self, name: str) -> str:
        noise = self._rng.choice(_NOISE)
        return self._rng.choice(
            (name + noise, "void " + name, f"{name}(anonymous namespace)", f" {name} ", f"_Z{name}")
        )

    def _bracket(self, name: str) -> str:
        places = [m.start() for m in _TOKEN.finditer(name)] or [0]
        i = self._rng.choice(places)
        return name[:i] + self._rng.choice(_BRACKETS) + name[i + self._rng.randrange(2) :]

    def _wrapped(self, name: str) -> str:
        return self._rng.choice(
            ("void f<{}>(int)", "ns::{}", "{}<int, 4>", "void cutlass::Kernel2<{}>(T)", "{0}{0}")
        ).format(name)

    def _recased(self, name: str) -> str:
        return self._rng.choice((name.upper, name.lower, name.swapcase, name.title))()

    def _joined(self, name: str) -> str:
        return self._rng.choice(("", "_", " ", ", ")).join((name, self._rng.choice(self._names)))

    def _random_text(self) -> str:
        letters = self._rng.choice((_PLAIN, _PLAIN + _ODD, _ODD))
        return "".join(self._rng.choices(letters, k=self._rng.randrange(80)))

    def _random_tokens(self) -> str:
        return "_".join(self._rng.choices(self._tokens, k=self._rng.randrange(1, 30)))

    def _deep(self) -> str:
        opening = self._rng.choice(("<", "(", "{", "a<", "ns::f<int, ", "lambda(", "NS_I", "std::tuple<(int)1, "))
        depth = self._rng.randrange(1, 400)
        return "void f" + opening * depth + self._rng.choice((">", ")", "", ", ", "E")) * self._rng.randrange(depth + 1)

    def _symbol(self) -> str:
        """A mangled symbol: a random one, or one whose text is far longer than itself."""
        rng = self._rng
        if rng.random() < 0.8:
            return self._symbols.symbol()
        levels = rng.randrange(1, 40)
        packed = expanded(rng.randrange(1, 8), rng.randrange(30))
        return rng.choice((doubling(levels), packed, nested(levels, "A" * rng.randrange(1, 99))))

    def _long(self) -> str:
        unit = self._rng.choice((*self._tokens, "_", "x", "1x", "__", "a", " ", "0", "_1"))
        head = self._rng.choice(self._names)
        # most are a few hundred characters long, a few tens of thousands: what grows faster than the name is seen there
        return head[: self._rng.randrange(len(head) + 1)] + unit * int(2 ** self._rng.uniform(0, 14))
