"""Reads C++ expressions and types token by token and evaluates them on the way.

Only what a name means tells whether `<` after it opens template arguments; so names are looked up while the text is
read. What a run decides is `Unknown` and spreads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracer.resolve.cxx.environment import Env, Function, Lambda, NamespaceName
from tracer.resolve.cxx.operators import (
    binary,
    builtin,
    enumerator,
    library_function,
    same_type,
    unary,
)
from tracer.resolve.cxx.sizes import size_of
from tracer.resolve.cxx.tokens import Cursor
from tracer.resolve.cxx.values import (
    BUILTINS,
    FALSE,
    TRUE,
    Constant,
    Named,
    Object,
    Pack,
    Unknown,
    flatten,
    integer,
)

if TYPE_CHECKING:
    from tracer.resolve.cxx.evaluate import Evaluator

_SKIPPED = {"typename", "template", "const", "constexpr", "struct", "class", "volatile", "static", "inline", "auto"}
_TYPE_WORDS = {"unsigned", "signed", "long", "short", "int", "char", "double"}
_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<",), ("+", "-"),
           ("*", "/", "%"))  # fmt: skip
_IDENTITIES = {"remove_cvref_t", "remove_cv_t", "remove_reference_t", "remove_const_t", "decay_t", "type_identity_t"}
#: lists of numbers of CK and of CK-tile, and the functions that give one of them
_SEQUENCES = ("Sequence", "sequence")
_ELEMENT = ("At", "Get", "at")
_CASTS = {"static_cast", "reinterpret_cast", "const_cast"}


class Reader(Cursor):
    """Reads tokens in an environment and evaluates them on the way."""

    def __init__(self, evaluator: Evaluator, tokens: list[str], env: Env) -> None:
        """Takes the tokens and what they can see."""
        super().__init__(tokens)
        self.evaluator = evaluator
        self.env = env

    # ---- expressions ------------------------------------------------------------------------------------------------

    def expression(self, level: int = 0, in_template: bool = False) -> Any:
        """Reads an expression or a type."""
        if level == 0:
            value = self.expression(1, in_template)
            if self.peek() != "?":
                return value
            self.take()
            first = self.expression(0, in_template)
            if self.peek() == ":":
                self.take()
            second = self.expression(0, in_template)
            if isinstance(value, Constant):
                return first if value.value else second
            return first if first == second else Unknown("a choice that a run makes")
        if level > len(_LEVELS):
            return self._postfix(self._primary(in_template), in_template)
        value = self.expression(level + 1, in_template)
        while self.peek() in _LEVELS[level - 1] and not (in_template and self.peek() == ">"):
            if isinstance(value, Named) and self.peek() in ("*", "&", "&&") and self.peek(1) in ("", ",", ">", ")"):
                self.take()  # a pointer or reference type
                value = Unknown(f"{value.name}*")
                continue
            operator = self.take()
            value = binary(operator, value, self.expression(level + 1, in_template))
        return value

    def template_arguments(self) -> list[Any]:
        """Reads `<...>`, at its `<`."""
        self.take()
        out: list[Any] = []
        while self.peek() not in (">", ""):
            before = self.at
            value = self.expression(0, in_template=True)
            if self.peek() == "...":
                self.take()
            while self.peek() in ("*", "&", "&&"):
                self.take()
                value = Unknown("a pointer or reference")
            out.extend(value.values if isinstance(value, Pack) else (value,))
            if self.peek() == ",":
                self.take()
            elif self.peek() != ">" and self.at == before:
                self.take()  # nothing that can be read: go on rather than stand still
        self.take()
        return out

    def call_arguments(self) -> list[Any]:
        """Reads `(...)` or `{...}`, at its opening bracket."""
        end = self.closing(self.at)
        self.at += 1
        out = []
        while self.at < end:
            before = self.at
            out.append(self.expression())
            if self.peek() == "," or self.at == before:
                self.take()
        self.at = end + 1
        return out

    def _primary(self, in_template: bool) -> Any:
        token = self.take()
        while token in _SKIPPED:
            token = self.take()
        if token in ("true", "false"):
            return TRUE if token == "true" else FALSE
        if token and (token[0].isdigit()):
            try:
                return integer(int(token, 0))
            except ValueError:
                return Unknown(token)
        if token == "(":
            end = self.closing(self.at - 1)
            value = self.expression()
            self.at = end + 1
            if isinstance(value, Named) and (self.peek() == "(" or self.peek()[:1].isalnum()):
                return self._postfix(self._primary(in_template), in_template)  # a C cast
            return value
        if token in ("-", "!", "~", "+", "*", "&", "++", "--"):
            return unary(token, self._postfix(self._primary(in_template), in_template))
        if token == "[":
            return self._lambda()
        if token == "{":
            self.at = self.closing(self.at - 1) + 1
            return Unknown("an initialiser")
        if token == "sizeof":
            return self._sizeof()
        if token == "decltype":
            return self._decltype()
        if token in _CASTS and self.peek() == "<":
            self.template_arguments()
            return self.call_arguments()[-1] if self.peek() == "(" else Unknown(token)
        if token == "_BitInt" or (token == "unsigned" and self.peek() == "_BitInt"):
            prefix = "unsigned " if token == "unsigned" else ""
            if prefix:
                self.take()
            width = self.call_arguments()
            bits = width[0].value if width and isinstance(width[0], Constant) else 0
            return Named(f"{prefix}_BitInt({bits})")
        if token in _TYPE_WORDS:
            words = [token]
            while self.peek() in _TYPE_WORDS:
                words.append(self.take())
            return builtin(words)
        if token == "::" or token.isidentifier():
            return self._name(self.take() if token == "::" else token)
        return Unknown(token)

    def _decltype(self) -> Any:
        """The type of an expression; of one inside another `decltype` (tile descriptors), nothing is asked."""
        if self.evaluator.in_decltype:
            self.at = self.closing(self.at) + 1
            return Unknown("decltype")
        self.evaluator.in_decltype = True
        try:
            value = self.call_arguments()[-1]
        finally:
            self.evaluator.in_decltype = False
        return value.type if isinstance(value, Object) else value

    def _sizeof(self) -> Any:
        if self.peek() == "...":
            self.take()
            found = self.call_arguments()
            pack = found[0] if found else None
            return integer(len(pack.values)) if isinstance(pack, Pack) else Unknown("sizeof...")
        value = self.call_arguments()[-1] if self.peek() == "(" else self._primary(False)
        return size_of(self.evaluator, value)

    def _lambda(self) -> Any:
        self.at = self.closing(self.at - 1) + 1
        parameters: list[str] = []
        if self.peek() == "(":
            end = self.closing(self.at)
            written = Cursor(self.tokens[self.at : end + 1]).split_arguments()
            parameters = [tokens[-1] for tokens in written]
            self.at = end + 1
        while self.peek() not in ("{", ""):
            self.take()
        if not self.peek():
            return Unknown("a lambda")
        end = self.closing(self.at)
        body = tuple(self.tokens[self.at : end + 1])
        self.at = end + 1
        return Lambda(tuple(parameters), body, self.env)

    def _name(self, first: str) -> Any:
        if first in BUILTINS and self.peek() != "::":
            return Named(BUILTINS[first])
        item = self._with_arguments(self.evaluator.look_up(first, self.env), first)
        while self.peek() == "::":
            self.take()
            if self.peek() == "template":
                self.take()
            name = self.take()
            if isinstance(item, NamespaceName):
                qualified = f"{item.name}::{name}"
                places = self.evaluator.headers.find(qualified, self.env.scope)
                item = self._with_arguments(places or NamespaceName(qualified), name)
            elif isinstance(item, Named) and name in _ELEMENT and item.leaf in _SEQUENCES and self.peek() == "(":
                item = self._element(item)
            elif isinstance(item, Named):
                item = self._with_arguments(self._member(item, name), name, item)
            else:
                item = Unknown(f"{getattr(item, 'text', '')}::{name}")
        if isinstance(item, NamespaceName):
            leaf = item.name.rpartition("::")[2]
            if leaf in BUILTINS:
                return Named(BUILTINS[leaf])
            return item if self.peek() == "(" else Unknown(item.name)
        return item

    def _member(self, owner: Named, name: str) -> Any:
        places = [p for p in self.evaluator.headers.find(owner.name, "") if p.head.kind == "enum"]
        if places and places[0].head.name == owner.name:
            return enumerator(places[0].head, name)
        return self.evaluator.member(owner, name)

    def _with_arguments(self, item: Any, name: str, owner: Named | None = None) -> Any:
        """Applies `<...>`, if it follows, to a found name."""
        if self.peek() == "<" and name in _IDENTITIES:
            values = self.template_arguments()
            return values[0] if values else Unknown(name)
        if self.peek() == "<" and name == "conditional_t":
            values = self.template_arguments()
            if len(values) == 3 and isinstance(values[0], Constant):
                return values[1] if values[0].value else values[2]
            return Unknown(name)
        if self.peek() == "<" and name == "is_void_v":
            values = self.template_arguments()
            void = same_type(values[0], Named("void")) if len(values) == 1 else None
            return Unknown(name) if void is None else (TRUE if void else FALSE)
        if self.peek() == "<" and name == "is_same":
            return Named("std::is_same", tuple(self.template_arguments()))
        if self.peek() == "<" and name == "is_same_v":
            values = self.template_arguments()
            same = same_type(values[0], values[1]) if len(values) == 2 else None
            return Unknown(name) if same is None else (TRUE if same else FALSE)
        if isinstance(item, list):
            env = (self.evaluator.env_of(owner) if owner is not None else None) or self.env
            takes = any(p.head.parameters is not None for p in item)
            args = self.template_arguments() if takes and self.peek() == "<" else None
            return self.evaluator.apply(item, args, env)
        if self.peek() == "<" and isinstance(item, NamespaceName) and self._looks_like_template():
            self.template_arguments()
            return Unknown(item.name)
        return item

    def _looks_like_template(self) -> bool:
        """Whether the `<` after a name that no header defines is closed before the expression ends."""
        depth = 0
        for index in range(self.at, min(self.at + 200, len(self.tokens))):
            token = self.tokens[index]
            if token == "<":
                depth += 1
            elif token == ">":
                depth -= 1
                if depth == 0:
                    return index + 1 < len(self.tokens) and self.tokens[index + 1] in ("(", "{", "::", ",", ">", ";")
            elif token in (";", "&&", "||", "?"):
                return False
        return False

    def _postfix(self, value: Any, in_template: bool) -> Any:
        while True:
            token = self.peek()
            if token == "{" and isinstance(value, (Named, Unknown)):
                args = self.call_arguments()
                value = self.evaluator.construct(value, args) if isinstance(value, Named) else value
            elif token == "(":
                args = self.call_arguments()
                value = self._called(value, args)
            elif token in (".", "->"):
                self.take()
                if self.peek() == "template":
                    self.take()
                name = self.take()
                value = self._of_object(value, name)
            elif token == "[":
                self.call_arguments()
                value = Unknown("an element")
            elif token in ("++", "--"):
                self.take()
                value = Unknown("a counter")
            else:
                return value

    def _called(self, value: Any, args: list[Any]) -> Any:
        for arg in args:
            if isinstance(arg, (Function, Lambda)):
                self.evaluator.passed(arg)
        if isinstance(value, NamespaceName):
            return library_function(value.name.rpartition("::")[2], args)
        if isinstance(value, Named):
            return self.evaluator.construct(value, args)
        if isinstance(value, Function):
            known = library_function(value.place.head.leaf, args)
            return self.evaluator.call(value, args) if isinstance(known, Unknown) else known
        if isinstance(value, (Lambda, Object)):
            return self.evaluator.call(value, args)
        # a number stands where a static function was meant: Size()
        return value if isinstance(value, (Constant, Unknown)) else Unknown("a call")

    def _of_object(self, value: Any, name: str) -> Any:
        if not isinstance(value, Object):
            return Unknown(f"{getattr(value, 'text', '')}.{name}")
        known = value.field(name)
        if known is not None:
            return known
        if name in _ELEMENT and value.type.leaf in _SEQUENCES and self.peek() == "(":
            return self._element(value.type)
        member = self.evaluator.member(value.type, name)
        return self._with_arguments(member, name, value.type)

    def _element(self, sequence: Named) -> Any:
        """The number at an index of a sequence, the index being a number or a type that stands for one."""
        args = self.call_arguments()
        index = args[0] if args else None
        if isinstance(index, Object) and index.type.args:
            index = index.type.args[0]
        items = flatten(sequence.args)
        if isinstance(index, Constant) and 0 <= index.value < len(items):
            return items[index.value]
        return Unknown(f"{sequence.leaf}.at")
