"""What an op is to ktrace: its shape and options, how its inputs are made, how it is called, what work it does.

Implementations stand beside this module, one file an op family; the registry imports them. torch, Triton and aiter are
imported inside `inputs` and `call` only, which nothing but `capture` runs.
"""

from __future__ import annotations

import abc
import difflib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import msgspec

from tracer.errors import UsageError
from tracer.model.roofline import Work

#: a shape: dimension name -> extent in elements, in the op's order
Shape = Mapping[str, int]
#: options: name -> text as given on the command line (or the default)
Options = Mapping[str, str]

#: no single extent may be larger: a 32-bit index is what most kernels count with
LARGEST_EXTENT = 2**31 - 1


class Dim(msgspec.Struct, frozen=True):
    """One dimension of an op's shape.

    Attributes:
        name: as kernel engineers write it ("M").
        meaning: what it counts.
        multiple_of: it must be a multiple of this.
        why: who demands that multiple.
    """

    name: str
    meaning: str
    multiple_of: int = 1
    why: str | None = None


class Option(msgspec.Struct, frozen=True):
    """An option of an op, which is an option of the command: `--quant-dtype fp8`.

    Attributes:
        name: with underscores ("quant_dtype").
        meaning: one sentence for --help.
        choices: accepted texts; empty for free text.
        default: used when not given.
    """

    name: str
    meaning: str
    choices: tuple[str, ...]
    default: str


class TensorFactory(Protocol):
    """Makes input tensors: without storage in a dry run, filled with random values in a live one."""

    def tensor(self, shape: Sequence[int], dtype: Any, *, low: float = -1.0, high: float = 1.0) -> Any:
        """A tensor of `shape` and torch `dtype` on the target device."""
        ...


class Op(abc.ABC):
    """One op that ktrace can run."""

    #: the name on the command line
    name: ClassVar[str]
    #: one sentence for `ktrace ops`
    summary: ClassVar[str]
    #: the callable as it is written in Python
    entry: ClassVar[str]
    #: its dotted names in the releases of its package, where they differ
    entries: ClassVar[tuple[str, ...]] = ()
    dims: ClassVar[tuple[Dim, ...]]
    options: ClassVar[tuple[Option, ...]] = ()
    #: packages that must be importable: "aiter", "triton"
    needs: ClassVar[tuple[str, ...]] = ("torch",)
    #: JIT modules of aiter that it calls: their sources are read while the library is being imported
    modules: ClassVar[tuple[str, ...]] = ()
    #: vendors it runs on live: "rocm", "cuda"
    vendors: ClassVar[tuple[str, ...]] = ("rocm", "cuda")
    #: whether it takes an explicit kernel configuration (--config JSON), and the keys that it knows with their types
    config_keys: ClassVar[Mapping[str, type]] = {}
    #: vendors on whose GPUs the library has no configuration of its own, so that one must be given
    config_needed_on: ClassVar[tuple[str, ...]] = ()
    #: the keys that an explicit configuration must have
    config_required: ClassVar[tuple[str, ...]] = ()

    @abc.abstractmethod
    def inputs(self, shape: Shape, options: Options, factory: TensorFactory) -> dict[str, Any]:
        """Makes the arguments of one call."""

    @abc.abstractmethod
    def call(self, inputs: Mapping[str, Any], options: Options, config: Mapping[str, Any] | None) -> Any:
        """Makes one call. Runs under the tracer; must do nothing but the call."""

    @abc.abstractmethod
    def work(self, shape: Shape, options: Options) -> Work | None:
        """Counts the FLOPs and the minimal bytes of one call (pure); None where they are not known."""

    def check_config(self, config: Mapping[str, Any] | None) -> None:
        """Refuses a kernel configuration that the op does not take.

        Raises:
            UsageError: the op takes none, or a key is unknown, of the wrong type, or missing.
        """
        if config is None:
            return
        if not self.config_keys:
            raise UsageError(f"{self.name} takes no kernel configuration", hint="leave --config away")
        accepted = ", ".join(f"{key} ({kind.__name__})" for key, kind in self.config_keys.items())
        for key, value in config.items():
            if key not in self.config_keys:
                near = difflib.get_close_matches(key, self.config_keys, n=1, cutoff=0.5)
                raise UsageError(
                    f"{self.name}: the configuration has the unknown key {key!r}",
                    expected=accepted,
                    hint=f"did you mean {near[0]}?" if near else None,
                )
            if type(value) is not self.config_keys[key] and not (value is None and self.config_keys[key] is str):
                raise UsageError(
                    f"{self.name}: {key}={value!r} in the configuration is of the type {type(value).__name__}",
                    expected=f"{key} of the type {self.config_keys[key].__name__}",
                )
        missing = [key for key in self.config_required if key not in config]
        if missing:
            raise UsageError(f"{self.name}: the configuration lacks {', '.join(missing)}", expected=accepted)

    def check(self, shape: Shape) -> None:
        """Refuses a shape that the op can't take.

        Raises:
            UsageError: a dimension is missing, not positive, too large, or no multiple of what is demanded.
        """
        names = [dim.name for dim in self.dims]
        if list(shape) != names:
            raise UsageError(
                f"{self.name}: the shape {dict(shape)} has the dimensions {', '.join(shape) or 'none'}",
                expected=f"the dimensions {','.join(names)}",
                hint=f"write --shape {','.join(names)} with a number for each",
            )
        for dim in self.dims:
            value = shape[dim.name]
            if value <= 0:
                raise UsageError(
                    f"{self.name}: {dim.name}={value} in the shape is not positive", expected=f"{dim.name} >= 1"
                )
            if value > LARGEST_EXTENT:
                raise UsageError(
                    f"{self.name}: {dim.name}={value} in the shape is absurdly large",
                    expected=f"{dim.name} <= {LARGEST_EXTENT} (kernels count with 32-bit integers)",
                )
            if value % dim.multiple_of:
                near = max(dim.multiple_of, round(value / dim.multiple_of) * dim.multiple_of)
                raise UsageError(
                    f"{self.name}: {dim.name}={value} in the shape is not a multiple of {dim.multiple_of}",
                    expected=f"a multiple of {dim.multiple_of}" + (f" ({dim.why})" if dim.why else ""),
                    hint=f"the nearest is {dim.name}={near}",
                )
