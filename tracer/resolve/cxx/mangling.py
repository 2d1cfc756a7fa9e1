"""Names by the Itanium C++ ABI: a function template with its arguments in, the symbol that a compiler writes out.

Only what kernels need: nested names, template arguments (types, constants, packs), parameters that are a template
parameter or a member of one, and the substitutions `S_`, `S0_`, ... that shorten what was written before.
"""

from __future__ import annotations

import re

from tracer.resolve.cxx.values import BIT_INT, Constant, Named, Pack, Value

_CODES = {
    "void": "v", "bool": "b", "char": "c", "signed char": "a", "unsigned char": "h", "short": "s",
    "unsigned short": "t", "int": "i", "unsigned int": "j", "long": "l", "unsigned long": "m", "long long": "x",
    "unsigned long long": "y", "float": "f", "double": "d", "_Float16": "DF16_", "__bf16": "DF16b",
}  # fmt: skip
_ENABLED = re.compile(r"(?:std::)?enable_if_t<(?P<not>!?)(?P<name>\w+),\s*void>")
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class NotMangledError(ValueError):
    """A value that this module can't write."""


class _Writer:
    """Writes pieces and remembers what may be substituted, in the order in which the ABI counts."""

    def __init__(self) -> None:
        self._seen: dict[tuple[object, ...], int] = {}

    def substitution(self, key: tuple[object, ...]) -> str | None:
        number = self._seen.get(key)
        if number is None:
            return None
        if number == 0:
            return "S_"
        digits, rest = "", number - 1
        while True:
            digits = _DIGITS[rest % 36] + digits
            rest //= 36
            if rest == 0:
                return f"S{digits}_"

    def remember(self, key: tuple[object, ...]) -> None:
        self._seen.setdefault(key, len(self._seen))

    def prefix(self, parts: tuple[str, ...]) -> str:
        """The enclosing namespaces and classes, as a <prefix>."""
        known = self.substitution(("name", parts))
        if known is not None:
            return known
        text = (self.prefix(parts[:-1]) if parts[:-1] else "") + _source_name(parts[-1])
        self.remember(("name", parts))
        return text

    def type(self, value: Named) -> str:
        if value.args is None and value.name in _CODES:
            return _CODES[value.name]
        known = self.substitution(("type", value))
        if known is not None:
            return known
        bits = BIT_INT.fullmatch(value.name)
        if bits is not None:
            self.remember(("type", value))
            return f"D{'U' if bits.group(1) else 'B'}{bits.group(2)}_"
        parts = tuple(value.name.split("::"))
        if value.owner is not None:
            return self._member(value, value.owner)
        if value.args is None:
            if len(parts) == 1:
                text = _source_name(parts[0])
                self.remember(("type", value))
                return text
            # a type's own name is what a nested prefix of it would be
            plain = self.substitution(("name", parts))
            if plain is not None:
                return plain
            text = f"N{self.prefix(parts[:-1])}{_source_name(parts[-1])}E"
            self.remember(("name", parts))
            return text
        if len(parts) == 1:
            text = self.prefix(parts) + self.arguments(value.args)
        else:
            text = f"N{self.prefix(parts)}{self.arguments(value.args)}E"
        self.remember(("type", value))
        return text

    def _member(self, value: Named, owner: Named) -> str:
        """A class that is a member of a class template instance."""
        plain = Named(value.name, None, owner)
        text = self.substitution(("type", plain))
        if text is None:
            text = self._instance(owner) + _source_name(value.leaf)
            self.remember(("type", plain))
        if value.args is not None:
            text += self.arguments(value.args)
            self.remember(("type", value))
        return f"N{text}E"

    def _instance(self, owner: Named) -> str:
        """A class template instance as a <prefix>."""
        known = self.substitution(("type", owner))
        if known is not None:
            return known
        if owner.owner is not None:
            raise NotMangledError(f"{owner.leaf} is nested too deep")
        text = self.prefix(tuple(owner.name.split("::"))) + self.arguments(owner.args or ())
        self.remember(("type", owner))
        return text

    def arguments(self, args: tuple[Value, ...]) -> str:
        return "I" + "".join(self.argument(arg) for arg in args) + "E"

    def argument(self, value: Value) -> str:
        if isinstance(value, Named):
            return self.type(value)
        if isinstance(value, Pack):
            return "J" + "".join(self.argument(item) for item in value.values) + "E"
        if isinstance(value, Constant):
            number = str(value.value) if value.value >= 0 else f"n{-value.value}"
            return f"L{self.type(Named(value.type))}{number}E"
        raise NotMangledError(f"the value of {getattr(value, 'text', value)!r} is not known")


def _source_name(name: str) -> str:
    return f"{len(name)}{name}"


def mangle(function: Named, parameters: tuple[str, ...], types: tuple[str, ...], result: str = "void") -> str:
    """The symbol of a function template.

    Args:
        function: its qualified name and template arguments.
        parameters: the names of its template parameters.
        types: the types of its function parameters as written, top-level const removed: a template parameter
            (`Args`), a pack of them (`Args...`) or a member of one (`typename GridwiseGemm::Argument`).
        result: the type that it returns as written: `void`, or `enable_if_t<Use, void>` of a template parameter.

    Raises:
        NotMangledError: an argument is not known, or the type of a parameter or of the result is of another form.
    """
    writer = _Writer()
    parts = tuple(function.name.split("::"))
    args = writer_arguments = function.args or ()
    if len(parts) == 1:
        text = "_Z" + writer.prefix(parts) + writer.arguments(writer_arguments)
    else:
        text = "_ZN" + writer.prefix(parts) + writer.arguments(args) + "E"
    text += _result(writer, result, parameters)
    for written in types:
        text += _parameter(writer, written, parameters)
    return text + ("" if types else "v")


def _result(writer: _Writer, written: str, parameters: tuple[str, ...]) -> str:
    if written == "void":
        return "v"
    found = _ENABLED.fullmatch(written)
    if found is None or found["name"] not in parameters:
        raise NotMangledError(f"a result of type {written!r}")
    # the alias stands for `typename std::enable_if<..., void>::type`; the template and its instance count as seen
    writer.remember(("std", "enable_if"))
    writer.remember(("std", "enable_if", written))
    return f"NSt9enable_ifIX{'nt' if found['not'] else ''}{_template_parameter(found['name'], parameters)}EvE4typeE"


def _template_parameter(name: str, parameters: tuple[str, ...]) -> str:
    number = parameters.index(name)
    return "T_" if number == 0 else f"T{_base36(number - 1)}_"


def _parameter(writer: _Writer, written: str, parameters: tuple[str, ...]) -> str:
    if written.endswith("..."):
        return f"Dp{_parameter(writer, written.removesuffix('...'), parameters)}"
    path = tuple(part.strip() for part in written.removeprefix("typename ").removeprefix("const ").split("::"))
    if path[0] not in parameters or not all(part.isidentifier() for part in path):
        raise NotMangledError(f"a parameter of type {written!r}")
    known = writer.substitution(("param", path[0]))
    if known is None:
        writer.remember(("param", path[0]))
        known = _template_parameter(path[0], parameters)
    if len(path) == 1:
        return known
    whole = writer.substitution(("param", *path))
    if whole is not None:
        return whole
    writer.remember(("param", *path))
    return f"N{known}{''.join(_source_name(part) for part in path[1:])}E"


def _base36(number: int) -> str:
    text = _DIGITS[number % 36]
    return text if number < 36 else _base36(number // 36) + text
