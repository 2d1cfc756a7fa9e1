"""A walk over a mangled symbol with a stack of its own: a symbol in, the size of its text and where it breaks off out.

It follows names, types and template arguments (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling), and of
expressions literals, addresses and operators on them. Candidates for substitutions are numbered as LLVM numbers them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracer.names import itanium_tokens as tokens
from tracer.names.itanium_frames import (
    ADDRESS,
    CLASS,
    DECLARATION,
    ENTITY,
    EXPRESSION,
    FOR_EACH,
    FUNCTION,
    LAMBDA,
    LITERAL,
    NESTED,
    OWNER,
    PACK,
    PARAMETERS,
    QUALIFIES,
    SIGNATURE,
    TEMPLATE,
    WITHIN,
    Frames,
)  # fmt: skip
from tracer.names.itanium_tokens import AROUND, BUILTIN, NAME, Broken, Ends


class Walk(Frames):
    """The walk over one symbol: what each letter means where the walk stands."""

    def run(self) -> None:
        """Walks to the end of the symbol. Raises Ends when it breaks off, Broken when it can't be followed."""
        text = self.text
        while self.at < self.end:
            step = _STEPS[self.kind].get(text[self.at])
            if step is None:
                raise Broken
            step(self)
        if self.kind != PARAMETERS or self.outer or self.pending:
            raise Ends

    # --- what stands where types do --------------------------------------------------------------------------
    def _builtin(self) -> None:
        self.at += 1
        self.complete(BUILTIN)

    def _operators(self) -> None:
        m = tokens.OPERATORS.match(self.text, self.at)
        if m is None:
            raise Broken
        self.size += AROUND * (m.end() - self.at)
        self.at = m.end()

    def _literal(self) -> None:
        m = tokens.LITERALS.match(self.text, self.at)
        if m is not None:
            length = m.end() - self.at
            self.at = m.end()
            self.extra += (length >> 2) if self.kind == PACK else 0
            return self.complete(6 * length)
        m = tokens.FLOAT.match(self.text, self.at)
        if m is not None:
            self.at = m.end()
            return self.complete(6 * (m.end() - m.start()))
        self.at += 1
        if self.follows("_Z"):
            self.at += 2
            self.open(ADDRESS)
            return self.open(FUNCTION)
        if self.follows("Z"):  # LLVM takes it for `L_Z` misspelt
            raise Broken
        if self.text[self.at :] == "_":
            raise Ends
        return self.open(LITERAL)

    def _source_name(self) -> None:
        size = self.identifier()
        if not self.follows("I"):
            return self.type(size)
        self.candidates.append(size)
        return self.open_arguments(size)

    def _substitution(self) -> None:
        number, self.at = tokens.sequence(self.text, self.at)
        if number == tokens.STD:
            return self._source_name() if self.next_is_digit() else self.break_or_end()
        size = self.candidate(number)
        if not self.follows("I"):
            return self.complete(size)
        if self.kind == EXPRESSION:
            raise Broken
        return self.open_arguments(size)

    def _template_parameter(self) -> None:
        if self.kind in (TEMPLATE, PACK) and self.text.startswith("Tn", self.at):
            self.at += 2
            return self.open(DECLARATION)
        self.at = tokens.parameter(self.text, self.at)
        size = self.largest
        if self.kind == EXPRESSION:
            return self.complete(size)
        if not self.follows("I"):
            return self.type(size)
        self.candidates.append(size)
        return self.open_arguments(size)

    def _nested(self) -> None:
        start = self.at
        self.at = tokens.END_OF_N.match(self.text, start).end()  # type: ignore[union-attr]  # it always matches
        self.size += AROUND * (self.at - start - 1)
        self.open(OWNER if self.kind <= ENTITY else NESTED)

    def _local(self) -> None:
        self.at += 1
        self.open(ENTITY)
        self.open(FUNCTION)

    def _pack(self) -> None:
        self.at += 1
        self.open(PACK)
        if self.whole:
            self.safe = (self.at, len(self.outer))

    def _expression(self) -> None:
        self.at += 1
        self.open(EXPRESSION)

    def _qualifier(self) -> None:
        self.at += 1
        if self.kind != SIGNATURE or not self.follows("E"):
            self.pending.append(QUALIFIES)

    def _cv(self) -> None:
        self.at = tokens.QUALIFIERS.match(self.text, self.at).end()  # type: ignore[union-attr]  # it always matches
        # a function's qualifiers are its own
        self.pending.append(WITHIN if self.follows("F") or self.follows("Do") else QUALIFIES)

    def _signature(self) -> None:
        self.at += 2 if self.text.startswith("FY", self.at) else 1
        self.open(SIGNATURE)

    def _array(self) -> None:
        m = tokens.ARRAY.match(self.text, self.at)
        if m is None:
            raise Broken if "_" in self.text[self.at :] else Ends
        self.at = m.end()
        self.size += m.end() - m.start()
        self.pending.append(QUALIFIES)

    def _pointer_to_member(self) -> None:
        self.at += 1
        self.open(CLASS)

    def _vendor_type(self) -> None:
        self.at += 1
        if not self.next_is_digit():
            return self.break_or_end()
        size = self.identifier()
        if self.follows("I"):
            raise Broken
        return self.type(size)

    def _d_type(self) -> None:
        m = tokens.D_BUILTIN.match(self.text, self.at)
        if m is not None:
            self.at = m.end()
            return self.complete(BUILTIN)
        m = tokens.BIT_INT.match(self.text, self.at)
        if m is not None:
            self.at = m.end()
            return self.type(BUILTIN)
        m = tokens.D_QUALIFIER.match(self.text, self.at)
        if m is not None:
            self.at = m.end()
            kind = m.group()[1]
            if kind != "o":  # `noexcept` is a function's own
                self.pending.append(FOR_EACH if kind == "p" else QUALIFIES)
            return None
        raise Ends if tokens.D_BEGINS.fullmatch(self.text, self.at) else Broken

    def _end(self) -> None:
        kind = self.kind
        if self.pending:
            raise Broken
        if kind == TEMPLATE:
            return self._end_of_arguments()
        if kind == PARAMETERS and not self.outer:
            self.end = self.at
            return None
        self.at += 1
        if kind == PACK:
            self.packed = max(self.packed, self.extra)
            return self.complete(self.close())
        if kind == SIGNATURE:
            return self.type(self.close() + AROUND)
        if kind == EXPRESSION:
            return self.complete(self.close())
        if kind == LAMBDA:
            m = tokens.LAMBDA_END.match(self.text, self.at)
            if m is None:
                raise Ends if tokens.DIGITS.fullmatch(self.text, self.at) else Broken
            self.at = m.end()
            return self.unqualified(self.close() + NAME)
        if kind == PARAMETERS:
            size = self.close()
            if self.kind == ENTITY:
                self.size = size + 2
                return None
            return self.complete(self.close() + size)
        raise Broken

    def _end_of_arguments(self) -> None:
        self.at += 1
        size = self.extra + self.close() + 2
        if self.kind > NESTED:
            return self.type(size)
        return self.unqualified(size) if self.kind > ENTITY else self.name(size)

    def _suffix(self) -> None:
        """`.kd` or `@version` after the parameters."""
        if self.kind != PARAMETERS or self.outer or self.pending:
            raise Broken
        self.size += self.end - self.at + 4
        self.end = self.at

    # --- what stands in names ------------------------------------------------------------------------------
    def _component(self) -> None:
        self.unqualified(self.identifier())

    def _internal(self) -> None:
        self.at += 1
        if not self.next_is_digit():
            self.break_or_end()

    def _first_component(self) -> None:
        """`S..._` or `T..._` at the beginning of `N...E`."""
        if self.size:
            raise Broken
        if self.text[self.at] == "T":
            self.at = tokens.parameter(self.text, self.at)
            return self.unqualified(self.largest)
        number, self.at = tokens.sequence(self.text, self.at)
        self.size = self.candidate(number)
        if self.follows("E"):
            raise Broken
        return None

    def _end_of_name(self) -> None:
        self.at += 1
        owner = self.kind == OWNER
        if not self.size:
            raise Broken
        size = self.close()
        if not owner:
            return self.complete(size)
        self.candidates.pop()
        return self.name(size)

    def _arguments_of_component(self) -> None:
        if not self.size:
            raise Broken
        self.open_arguments()

    def _function_of_std(self) -> None:
        """`St` before a function's name, or a template that a substitution names."""
        number, self.at = tokens.sequence(self.text, self.at)
        if number == tokens.STD:
            if self.next_is_digit():
                return self._component()
            return self._operator() if self.text[self.at : self.at + 1].islower() else self.break_or_end()
        if self.follows("I"):
            return self.open_arguments(self.candidate(number))
        return self.break_or_end()

    def _special(self) -> None:
        """A guard variable, or a virtual table and the like of a type."""
        m = tokens.SPECIAL.match(self.text, self.at)
        if m is None or self.kind != FUNCTION:
            raise Broken
        self.at = m.end()
        self.size += tokens.SPECIAL_SIZE
        if m.group() != "GV":
            self.kind = PARAMETERS

    def _operator(self) -> None:
        if self.kind == ENTITY:
            m = tokens.LOCAL.match(self.text, self.at)
            if m is not None:
                self.at = m.end()
                return self.name(NAME) if m.group() == "s" else None
        m = tokens.OPERATOR_NAME.match(self.text, self.at)
        if m is None:
            raise Ends if self.at + 1 >= self.end else Broken
        self.at = m.end()
        return self.unqualified(NAME)

    def _unnamed(self) -> None:
        m = tokens.UNNAMED.match(self.text, self.at)
        if m is not None:
            self.at = m.end()
            return self.unqualified(NAME)
        if not self.follows("Ul"):
            raise Ends if self.at + 1 >= self.end or self.follows("Ut") else Broken
        self.at += 2
        return self.open(LAMBDA)

    def _constructor(self) -> None:
        m = tokens.CONSTRUCTOR.match(self.text, self.at)
        if m is None or not self.size:
            raise Ends if self.at + 1 >= self.end else Broken
        self.at = m.end()
        self.unqualified(self.size + NAME)

    def _member_prefix(self) -> None:
        self.at += 1


_Steps = Mapping[str, Callable[[Walk], None]]
_NAMES: _Steps = {
    **dict.fromkeys("0123456789", Walk._component),
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", Walk._operator),
    "L": Walk._internal,
    "N": Walk._nested,
    "S": Walk._function_of_std,
    **dict.fromkeys("GT", Walk._special),
    "U": Walk._unnamed,
    "Z": Walk._local,
}
_COMPONENTS: _Steps = {
    **dict.fromkeys("0123456789", Walk._component),
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", Walk._operator),
    "C": Walk._constructor,
    "D": Walk._constructor,
    "E": Walk._end_of_name,
    "I": Walk._arguments_of_component,
    "L": Walk._internal,
    "M": Walk._member_prefix,
    "S": Walk._first_component,
    "T": Walk._first_component,
    "U": Walk._unnamed,
}
_TYPES: _Steps = {
    **dict.fromkeys("0123456789", Walk._source_name),
    **dict.fromkeys("abcdefghijlmnostvwxyz", Walk._builtin),
    **dict.fromkeys("CGOPR", Walk._qualifier),
    **dict.fromkeys("KVr", Walk._cv),
    **dict.fromkeys(".@", Walk._suffix),
    "A": Walk._array,
    "D": Walk._d_type,
    "E": Walk._end,
    "F": Walk._signature,
    "M": Walk._pointer_to_member,
    "N": Walk._nested,
    "S": Walk._substitution,
    "T": Walk._template_parameter,
    "Z": Walk._local,
    "u": Walk._vendor_type,
}
_ARGUMENTS: _Steps = {**_TYPES, "J": Walk._pack, "L": Walk._literal, "X": Walk._expression}
_OPERANDS: _Steps = {
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", Walk._operators),
    "E": Walk._end,
    "L": Walk._literal,
    "S": Walk._substitution,
    "T": Walk._template_parameter,
}
#: what can come next, by the construct that the walk stands in
_STEPS: tuple[_Steps, ...] = tuple(
    _NAMES if kind <= ENTITY else _COMPONENTS if kind <= NESTED
    else _ARGUMENTS if kind in (TEMPLATE, PACK, DECLARATION) else _OPERANDS if kind == EXPRESSION else _TYPES
    for kind in range(DECLARATION + 1)
)  # fmt: skip
