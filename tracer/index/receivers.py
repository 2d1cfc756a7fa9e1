"""What a method is called on: a receiver and the functions around it in, the class that their text gives it out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tracer.index.scope import Place, Scope

#: what follows a variable that is made from a class, and what precedes one that is declared with it
_MADE = re.compile(
    r"\s*(?:=|\{|\()\s*(?:reinterpret_cast|static_cast|dynamic_cast|std::make_unique|std::make_shared|new)\s*<?\s*([\w:]+)"
)
_DECLARED = re.compile(r"([A-Za-z_][\w:]*)(?:<[^;(){}]*>)?\s*[*&]*\s*(?:const\s+)?\Z")


class Receivers:
    """The classes of receivers in one scope."""

    def __init__(self, scope: Scope) -> None:
        """Knows none yet."""
        self.scope = scope
        self._classes: dict[tuple[object, ...], str | None] = {}

    def owner(self, receiver: str, inwards: Iterable[Place]) -> str | None:
        """The class of a receiver; a macro's body also sees the variables of the function that uses it.

        Args:
            receiver: as written.
            inwards: the function that it is written in, its user, the user of that, ...
        """
        for place in inwards:
            owner = self._of_place(place, receiver)
            if owner is not None or place.function.kind != "macro":
                return owner
        return None

    def _of_place(self, place: Place, receiver: str) -> str | None:
        """The class of a variable, where the function's own text declares it."""
        word = re.match(r"\(?\*?(\w+)", receiver)
        if word is None:
            return None
        key = (*place.key, word.group(1))
        if key not in self._classes:
            found = self._declared_class(self.scope.body(place), word.group(1))
            owner = place.function.name.rpartition("::")[0]
            for file, alias in self.scope.types(owner) if found is None and owner else ():
                if file == place.file and not alias.target:
                    text = self.scope.lines(file, alias.line, alias.last)
                    found = self._declared_class(text, word.group(1))
            self._classes[key] = found
        return self._classes[key]

    def _declared_class(self, text: str, name: str) -> str | None:
        for i, m in enumerate(re.finditer(rf"\b{re.escape(name)}\b", text)):
            tail = _MADE.match(text, m.end())
            head = _DECLARED.search(text[max(0, m.start() - 160) : m.start()])
            for found in (tail, head if text[m.end() :].lstrip()[:1] in "=;({,)[" else None):
                if found is not None and self.scope.types(found.group(1)):
                    return found.group(1).rpartition("::")[2]
            if i == 2:
                break
        return None
