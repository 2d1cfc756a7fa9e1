"""Stands where aiter's JIT-built C++ modules would: a call that leaves Python in, a `BoundaryCall` and an answer out.

An import hook supplies `module_*` in place of extensions, and a stand-in for `ctypes.CDLL` answers main's torch-free
bindings. Nothing is computed: the output argument is returned, pure host functions are answered by their ports, and
what has to be made up is said to be.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import time
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tracer.capture.arguments import summarise
from tracer.capture.builds import Template, install_refusals, tensors_passed
from tracer.capture.definitions import definition_of
from tracer.capture.enums import pybind_enum
from tracer.capture.host_functions import HOST_FUNCTIONS
from tracer.capture.jit_modules import install_modules
from tracer.capture.values import Values
from tracer.model.capture import Argument, ArgumentKind, Binding, BoundaryCall, Launch, TensorInfo
from tracer.model.evidence import Evidence
from tracer.model.source import Decorator, SourceRef

#: parameter names that aiter gives to outputs, most telling first
_OUTPUTS = ("out", "Out", "output", "y", "Y", "c", "C")
#: calls that set state for the next one and start no kernel
_SILENT = frozenset({"_set_current_hip_stream"})


class Crossing:
    """A call across the boundary while the op runs; becomes a BoundaryCall."""

    def __init__(self, number: int, frame: int | None, module: str, function: str, binding: Binding) -> None:
        self.number = number
        self.frame = frame
        self.module = module
        self.function = function
        self.binding = binding
        self.built_from: str | None = None
        self.declared_as: str | None = None
        self.source: SourceRef | None = None
        self.decorators: tuple[Decorator, ...] = ()
        self.arguments: tuple[Argument, ...] = ()
        self.answered = "output"
        self.invented: str | None = None
        self.launch: int | None = None
        self.at_ns = time.time_ns()

    def invent(self, text: str) -> None:
        """Notes that a value which the call would have written was made up."""
        self.answered, self.invented = "invented", text

    def placeholder(self) -> Launch | None:
        """The launch that the C++ function would make, before anything is known about it; None for a host function."""
        if self.launch is None:
            return None
        return Launch(
            id=self.launch,
            boundary=self.number,
            frame=self.frame,
            evidence=Evidence.UNRESOLVED,
            frame_evidence=Evidence.OBSERVED if self.frame is not None else Evidence.UNRESOLVED,
            reason=f"no rule is known for what {self.module}.{self.function} launches",
        )

    def finish(self) -> BoundaryCall:
        """The record's struct."""
        return BoundaryCall(
            id=self.number,
            frame=self.frame,
            module=self.module,
            function=self.function,
            built_from=self.built_from,
            declared_as=self.declared_as,
            source=self.source,
            decorators=self.decorators,
            binding=self.binding,
            arguments=self.arguments,
            answered=self.answered,
            invented=self.invented,
            at_ns=self.at_ns,
        )


class Boundary:
    """Answers for every JIT module of aiter.

    Args:
        enums: enum name -> member -> value.
        jit_folder: where aiter looks for built modules.
        locate: gives the id of the innermost recorded frame at or above a frame.
        number: gives the next launch's id: a call that is no pure host function starts at least one kernel.
        values: told which tensors a kernel may write to; None where values are real.
        place: names a line of a file as records do; None where no record is made.
    """

    def __init__(
        self,
        enums: dict[str, dict[str, int]],
        jit_folder: str,
        locate: Callable[[types.FrameType | None], int | None],
        number: Callable[[], int],
        values: Values | None = None,
        place: Callable[[str, int], SourceRef] | None = None,
    ) -> None:
        self._jit_folder = jit_folder
        self._place = place
        self._locate = locate
        self._number = number
        self._values = values or Values()
        self._enums: dict[str, Any] = {name: pybind_enum(name, members) for name, members in enums.items()}
        for kind in self._enums.values():
            kind.__module__ = "aiter"
        self._fakes: dict[str, Callable[..., Any]] = {}
        self.calls: list[Crossing] = []
        self.recording = False

    def install(self) -> None:
        """Sets the import hooks and the stand-in for ctypes, for good."""
        install_modules(self, self._jit_folder)
        install_refusals(self)

    def begin(self) -> None:
        """Forgets the last op's calls and records from now on."""
        self.calls, self.recording = [], True

    def end(self) -> None:
        """Stops recording; what was recorded stays until `begin`."""
        self.recording = False

    def remember_fake(self, op: str, fake: Callable[..., Any]) -> None:
        """Keeps the fake implementation that aiter registered for one of its ops: it knows the outputs' shapes."""
        code = fake.__code__
        if "gen_fake" in code.co_freevars and fake.__closure__:
            maker = fake.__closure__[code.co_freevars.index("gen_fake")].cell_contents
            if maker is not None:
                self._fakes[op] = maker

    def member(self, module: str, name: str) -> Any:
        """What `module.name` is: an enum, the tensor struct of main's bindings, or a function of the boundary."""
        if name in self._enums:
            kind = self._enums[name]
            kind.__doc__ = "Members:\n" + "\n".join(kind.__members__)
            return kind
        if name == "aiter_tensor_t":
            return TensorHandle
        if name in _SILENT:
            return lambda *_: None

        def cross(*args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(1)
            return self._cross(module, name, Binding.PYBIND, caller, caller.f_locals.get("func"), args, kwargs)

        cross.__name__ = cross.__qualname__ = name
        # aiter compares a function's pybind signature, the first line of its docstring, with the stub's annotations
        # unless it starts like an enum's (0.1.7 and main); the stub is the only signature there is here
        cross.__doc__ = "Members: none; a stand-in of a dry run"
        return cross

    def cross_ctypes(self, module: str, name: str, caller: types.FrameType, args: tuple[Any, ...]) -> Any:
        """Records a call through main's ctypes bindings, whose caller still holds the Python values."""
        values = caller.f_locals.get("values")
        stub = caller.f_locals.get("func")
        given = tuple(values) if isinstance(values, tuple) else args
        return self._cross(module, name, Binding.CTYPES, caller, stub, given, {})

    def cross_template(self, template: Template, caller: types.FrameType, args: tuple[Any, ...]) -> None:
        """Records a call of a function compiled from a template, whose Python caller still holds the tensors."""
        place = self._locate(caller)
        crossing = Crossing(len(self.calls), place, template.module, template.function, Binding.CTYPES)
        crossing.declared_as = template.maker
        crossing.built_from = _template_file(template)
        if self._place is not None:
            crossing.source = self._place(template.file, template.line)
        tensors = tensors_passed(caller, args, _is_tensor)
        named = tensors | (template.arguments or {})
        crossing.arguments = tuple(_summary(key, value) for key, value in named.items())
        if template.arguments is None:
            crossing.invent(f"what {template.function} writes to its arguments: nothing")
        if self.recording:
            self.calls.append(crossing)
            for value in tensors.values():
                self._values.written(value, f"{template.module}.{template.function}", crossing.invent)
            if template.arguments is not None:
                crossing.launch = self._number()

    def _cross(
        self,
        module: str,
        name: str,
        binding: Binding,
        caller: types.FrameType,
        stub: Callable[..., Any] | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        crossing = Crossing(len(self.calls), self._locate(caller), module, name, binding)
        declared = caller.f_locals.get("_md_name")
        if isinstance(declared, str) and declared != module:
            crossing.built_from = declared
        if isinstance(stub, types.FunctionType):
            crossing.declared_as = stub.__name__
            if self._place is not None:
                defined = definition_of(stub.__code__)
                crossing.source = self._place(stub.__code__.co_filename, defined.line)
                crossing.decorators = defined.decorators
        named = _bind(stub, args, kwargs)
        crossing.arguments = tuple(_summary(key, value) for key, value in named.items())
        if self.recording:
            self.calls.append(crossing)
            for value in named.values():
                if _is_tensor(value):
                    self._values.written(value, f"{module}.{name}", crossing.invent)
        answer = self._answer(crossing, name, stub, named, args, kwargs)
        if self.recording and crossing.answered == "output":
            crossing.launch = self._number()
        return answer

    def _answer(
        self,
        crossing: Crossing,
        name: str,
        stub: Callable[..., Any] | None,
        named: dict[str, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        if name in HOST_FUNCTIONS:
            crossing.answered = "true"
            return HOST_FUNCTIONS[name](*named.values())
        returns = _return_type(stub)
        if returns is None or returns is type(None):
            return None
        if returns in (int, float, bool):
            crossing.invent(f"the {returns.__name__} that {name} returns: 0")
            return returns(0)
        for key in _OUTPUTS if _is_tensor_type(returns) else ():
            if _is_tensor(named.get(key)):
                return named[key]
        fake = self._fakes.get(stub.__name__) if stub is not None else None
        if fake is not None:
            return fake(*args, **kwargs)
        raise NotImplementedError(
            f"{crossing.module}.{name} returns {returns!r}: aiter registers no fake implementation for it, and none of "
            f"its arguments is called {', '.join(_OUTPUTS)}; a dry run can't know its result"
        )


class TensorHandle:
    """Stands in for `aiter_tensor_t`, the tensor struct that main's pybind modules take in place of torch's.

    The constructor's order is that of csrc/include/aiter_tensor.h's binding: address, elements, dimensions, shape,
    strides, dtype number, device number.
    """

    def __init__(self, *fields: Any) -> None:
        self.fields = fields

    def summary(self, name: str) -> Argument:
        """The tensor as a record states it."""
        if len(self.fields) != 7:
            return Argument(name, ArgumentKind.TENSOR, "aiter_tensor_t")
        _, _, _, shape, stride, dtype, device = self.fields
        info = TensorInfo(tuple(shape), _dtype_name(dtype), tuple(stride), "cpu" if device < 0 else f"cuda:{device}")
        return Argument(name, ArgumentKind.TENSOR, "aiter_tensor_t", None, info)


def _template_file(template: Template) -> str | None:
    """The template's path in its tree, as the Python that fills it in names it."""
    from tracer.resolve.source_templates import templates_named

    with contextlib.suppress(OSError):
        return next(iter(templates_named(Path(template.file).read_text())), None)
    return None


def _dtype_name(number: int) -> str:
    types_module = sys.modules.get("aiter.utility.dtypes")
    numbers = getattr(types_module, "_torch_to_aiter_dtype", {})
    return next((str(k).removeprefix("torch.") for k, v in numbers.items() if v == number), f"aiter dtype {number}")


def _summary(name: str, value: Any) -> Argument:
    return value.summary(name) if type(value) is TensorHandle else summarise(name, value)


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(type(value), torch.Tensor)


def _is_tensor_type(annotation: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and annotation is torch.Tensor


def _bind(stub: Callable[..., Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    if stub is not None:
        try:
            bound = inspect.signature(stub).bind(*args, **kwargs)
        except (TypeError, ValueError):
            pass
        else:
            bound.apply_defaults()
            return dict(bound.arguments)
    return {str(i): value for i, value in enumerate(args)} | kwargs


def _return_type(stub: Callable[..., Any] | None) -> Any:
    if stub is None:
        return None
    try:
        return typing.get_type_hints(stub).get("return")
    except (NameError, TypeError):
        return getattr(stub, "__annotations__", {}).get("return")
