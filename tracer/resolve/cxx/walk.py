"""Walks the bodies of C++ functions at compile time: a function and its arguments in, its value and kernel uses out.

`if constexpr` must be decided by the text; a condition that only a run decides sends the walk both ways, so what is
collected without a shape is every kernel that is compiled, and with one the kernel that runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import msgspec

from tracer.resolve.cxx.construct import constructed
from tracer.resolve.cxx.deduce import deduced
from tracer.resolve.cxx.environment import Env, Function, Lambda
from tracer.resolve.cxx.evaluate import Evaluator
from tracer.resolve.cxx.headers import Headers
from tracer.resolve.cxx.kernel_uses import KernelUse, kernel_use
from tracer.resolve.cxx.reader import Reader
from tracer.resolve.cxx.tokens import tokenize
from tracer.resolve.cxx.values import Constant, Named, Object, Unknown, flatten, integer

_LOOPS = ("for", "while", "switch")
_MOST_STATEMENTS = 4000
#: what the names of CK's device operations begin with, namespaces included
_OPERATION = "::device::Device"


class _Result(msgspec.Struct, frozen=True):
    """How a statement left: with a value, or (`value` None) by throwing."""

    value: Any = None
    certain: bool = True


class Walker(Evaluator):
    """An evaluator that also walks function bodies.

    Attributes:
        uses: the kernels handed to launchers so far.
        undecided: `if constexpr` conditions that the text did not decide.
        operations: the device operations of CK that walked functions name, in order.
    """

    def __init__(self, headers: Headers) -> None:
        """Takes the headers to look names up in."""
        super().__init__(headers)
        self.uses: list[KernelUse] = []
        self.undecided: list[str] = []
        self.operations: list[Named] = []
        self._extents: Mapping[str, int] = {}
        self._followed = ""
        self._walking = 0
        self._statements = 0

    def restart(self) -> None:
        """Forgets the kernels seen so far, and what was spent on finding them."""
        self.uses = []
        self.undecided = []
        self.operations = []
        self._statements = 0

    def follow(self, function: Function, extents: Mapping[str, int] | None = None) -> list[Named]:
        """The device operations that a host function names, in its own text or in functions of its file that it calls.

        Its arguments are not known, so every branch is walked that the text does not decide. Kernels that it launches
        are in `uses` afterwards.

        Args:
            function: the host function.
            extents: the problem, by the names of the variables in which the function holds its extents. With it
                objects get the members that their constructors set.
        """
        self.restart()
        self._followed = function.place.file
        self._extents = extents or {}
        try:
            self.call(function, [])
        finally:
            self._followed = ""
            self._extents = {}
        return list(self.operations)

    def construct(self, type_: Named, args: list[Any]) -> Object:
        """An object, with the members that its constructor sets where a problem is given."""
        return constructed(self, type_, args) if self._extents else Object(type_)

    def passed(self, function: Function | Lambda) -> None:
        """Notes a kernel that is handed to a call, or that a lambda launches which is."""
        kernel = self._launched(function) if isinstance(function, Lambda) else function
        use = kernel_use(self.headers, kernel) if kernel is not None else None
        if use is not None and use not in self.uses:
            self.uses.append(use)

    def _launched(self, function: Lambda) -> Function | None:
        """The kernel that a lambda is there to launch: its body calls a local name that stands for one."""
        called = self.look_up(function.body[1], function.env) if function.body[2:3] == ("(",) else None
        return called if isinstance(called, Function) and self.headers.is_kernel(called.place) else None

    def call(self, function: Any, args: list[Any]) -> Any:
        """The value of a call, by walking the body; Unknown when it depends on a run."""
        if self._walking > 20:
            return Unknown("calls nested too deep")
        if any(isinstance(arg, Lambda) and self._launched(arg) is not None for arg in args):
            return Unknown("a launch")
        written = function
        if isinstance(function, Function):
            function = deduced(self, function, args)
            # of a function whose template arguments the call says, no other argument need be known
            open_ = function is written and any(isinstance(arg, Unknown) for arg in args)
            if open_ and function.place.file != self._followed:
                return Unknown(f"{function.place.head.leaf}()")
        self._walking += 1
        try:
            if isinstance(function, Lambda):
                if any(isinstance(arg, Function) for arg in args):
                    return Unknown("a launch")
                bound = dict(zip(function.parameters, args, strict=False))
                env = Env(function.env.scope, bound, None, function.env)
                return self._value(list(function.body), env)
            if isinstance(function, Function):
                return self._call_function(function, args)
            if isinstance(function, Object) and len(args) == 1 and isinstance(args[0], Lambda):
                for chosen in _choices(function.type):
                    self.call(args[0], [Object(item) for item in chosen])
        finally:
            self._walking -= 1
        return Unknown("a call")

    def _call_function(self, function: Function, args: list[Any]) -> Any:
        tokens = tokenize(self.headers.body(function.place))
        reader = Reader(self, tokens, function.env)
        if "(" not in tokens:
            return Unknown(function.place.head.leaf)
        start = tokens.index("(")
        end = reader.closing(start)
        written = Reader(self, tokens[start : end + 1], function.env).split_arguments()
        names = [_parameter_name(tokens) for tokens in written]
        body = next((i for i in range(end, len(tokens)) if tokens[i] in ("{", ";")), len(tokens))
        if body >= len(tokens) or tokens[body] == ";":
            return Unknown(function.place.head.leaf)
        bound = {**{name: Unknown(name) for name in names}, **dict(zip(names, args, strict=False))}
        env = Env(function.env.scope, {**function.env.bindings, **bound}, function.env.owner, function.env.parent)
        return self._value(tokens[body : reader.closing(body) + 1], env)

    def _value(self, body: list[str], env: Env) -> Any:
        result = self._block(Reader(self, body, env), env)
        if result is None or result.value is None:
            return Unknown("no value")
        return result.value if result.certain else Unknown("one of several values")

    # ---- statements -------------------------------------------------------------------------------------------------

    def _block(self, reader: Reader, env: Env) -> _Result | None:
        """Walks `{ ... }`; the reader stands at its opening brace."""
        end = reader.closing(reader.at)
        reader.at += 1
        inner = Reader(self, reader.tokens, Env(env.scope, {}, None, env))
        inner.at = reader.at
        maybe = False
        result: _Result | None = None
        while inner.at < end:
            step = self._statement(inner, inner.env)
            if step is not None and step.certain:
                result = _Result(step.value, certain=not maybe)
                break
            maybe = maybe or (step is not None and step.value is not None)
        reader.at = end + 1
        return result

    def _statement(self, reader: Reader, env: Env) -> _Result | None:
        self._statements += 1
        token = reader.peek()
        if token == "{":
            return self._block(reader, env)
        if token == "if":
            return self._if(reader, env)
        if token == "return":
            reader.take()
            if reader.peek() == ";":
                reader.take()
                return _Result(Unknown("void"))
            value = reader.expression()
            self._to_end(reader)
            return _Result(value)
        if token == "throw":
            self._to_end(reader)
            return _Result(None)
        if token in _LOOPS:
            self._skip(reader)
            return None
        if token == "using":
            self._using(reader, env)
        else:
            self._simple(reader, env)
        return None

    def _if(self, reader: Reader, env: Env) -> _Result | None:
        reader.take()
        fixed = reader.peek() == "constexpr"
        if fixed:
            reader.take()
        start = reader.at
        end = reader.closing(start)
        then_at = end + 1
        throws = reader.tokens[then_at : then_at + 2] in (["{", "throw"],) or reader.tokens[then_at : then_at + 1] == [
            "throw"
        ]
        condition: Any = Unknown("a check")
        if not throws and self._statements < _MOST_STATEMENTS:
            inner = Reader(self, reader.tokens[start + 1 : end], env)
            condition = inner.expression()
        reader.at = then_at
        decided = isinstance(condition, Constant)
        if fixed and not decided:
            self.undecided.append(" ".join(reader.tokens[start + 1 : end]))
        first = second = None
        if not decided or condition.value:
            first = self._statement(reader, env)
        else:
            self._skip(reader)
        if reader.peek() == "else":
            reader.take()
            if not decided or not condition.value:
                second = self._statement(reader, env)
            else:
                self._skip(reader)
        if decided:
            return first if condition.value else second
        if first is not None and second is not None and first == second:
            return first
        returned = [r for r in (first, second) if r is not None and r.value is not None]
        return _Result(returned[0].value, certain=False) if returned else None

    def _using(self, reader: Reader, env: Env) -> None:
        reader.take()
        name = reader.take()
        if reader.peek() == "=":
            reader.take()
            value = env.bindings[name] = reader.expression()
            if isinstance(value, Named) and _OPERATION in value.name and value not in self.operations:
                self.operations.append(value)
        self._to_end(reader)

    def _simple(self, reader: Reader, env: Env) -> None:
        start = reader.at
        self._to_end(reader)
        tokens = reader.tokens[start : reader.at - 1]
        split = _assignment(tokens)
        if split is None:
            if len(tokens) > 2 and ("(" in tokens or "{" in tokens):
                self._declared(Reader(self, tokens, env), env)
            return
        left, right = tokens[:split], tokens[split + 1 :]
        if not left or not left[-1].isidentifier() or "(" in left or "." in left or "->" in left:
            return
        value = Reader(self, right, env).expression()
        if isinstance(value, Unknown) and self._walking == 1 and len(left) > 1 and left[-1] in self._extents:
            value = integer(self._extents[left[-1]])
        if left[0] in ("constexpr", "const", "auto", "static") or len(left) > 1:
            env.bindings[left[-1]] = value
            return
        around: Env | None = env  # an assignment to a name from further out
        while around is not None and left[-1] not in around.bindings:
            around = around.parent
        (around or env).bindings[left[-1]] = value if around is env else Unknown("assigned in a branch")

    def _declared(self, reader: Reader, env: Env) -> None:
        """An expression, or a declaration `type name{...}`, whose object the name then is."""
        value = reader.expression()
        if isinstance(value, Named) and reader.peek().isidentifier() and reader.peek(1) in ("(", "{"):
            name = reader.take()
            env.bindings[name] = self.construct(value, reader.call_arguments())

    def _skip(self, reader: Reader) -> None:
        """Passes over one statement."""
        token = reader.peek()
        if token == "{":
            reader.at = reader.closing(reader.at) + 1
        elif token == "if":
            reader.take()
            if reader.peek() == "constexpr":
                reader.take()
            reader.at = reader.closing(reader.at) + 1
            self._skip(reader)
            if reader.peek() == "else":
                reader.take()
                self._skip(reader)
        elif token in _LOOPS:
            reader.take()
            reader.at = reader.closing(reader.at) + 1
            self._skip(reader)
        else:
            self._to_end(reader)

    def _to_end(self, reader: Reader) -> None:
        """Passes the `;` that ends this statement."""
        while reader.at < len(reader.tokens):
            token = reader.peek()
            if token == ";":
                reader.at += 1
                return
            if token in ("(", "[", "{"):
                reader.at = reader.closing(reader.at) + 1
            elif token == "}":
                return
            else:
                reader.at += 1


def _choices(type_: Named) -> list[tuple[Named, ...]]:
    """What `static_for_product<Tuple<...>, ...>{}(f)` calls f with."""
    if type_.leaf != "static_for_product":
        return []
    lists = [arg for arg in flatten(type_.args) if isinstance(arg, Named) and arg.leaf == "Tuple"]
    items = [[item for item in flatten(one.args) if isinstance(item, Named)] for one in lists]
    return list(product(*items)) if len(lists) == len(flatten(type_.args)) else []


def _parameter_name(tokens: list[str]) -> str:
    plain = tokens[: tokens.index("=")] if "=" in tokens else tokens
    plain = [token for token in plain if token != "const"]
    named = len(plain) > 1 and plain[-1].isidentifier() and plain[-2] != "::"
    return plain[-1] if named else ""


def _assignment(tokens: list[str]) -> int | None:
    """The index of the `=` of a declaration or assignment."""
    depth = 0
    for index, token in enumerate(tokens):
        if token in ("(", "[", "{"):
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
        elif token == "=" and depth == 0:
            return index
    return None
