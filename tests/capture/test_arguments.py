"""Summaries of arguments never run the argument's own code."""

from __future__ import annotations

import enum
import sys
import types
from typing import Any

import msgspec
import pytest

from tracer.capture import arguments
from tracer.capture.arguments import summarise
from tracer.model.capture import ArgumentKind, TensorInfo


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError(f"asked the metaclass for {name}")


class Hostile(metaclass=Meta):
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"asked for {name}")

    def __repr__(self) -> str:
        raise RuntimeError("asked for a repr")

    __str__ = __len__ = __iter__ = __eq__ = __hash__ = __bool__ = __repr__  # type: ignore[assignment]


class Colour(enum.IntEnum):
    RED = 3


def test_an_object_whose_every_attribute_raises_is_named_by_its_type() -> None:
    found = summarise("x", Hostile())
    assert (found.kind, found.value) == (ArgumentKind.OBJECT, None)
    assert found.type.endswith("test_arguments.Hostile")


def test_a_list_of_hostile_objects_is_counted_and_not_asked() -> None:
    found = summarise("xs", [Hostile()] * 20)
    assert (found.kind, found.value, len(found.items)) == (ArgumentKind.SEQUENCE, 20, 8)


@pytest.mark.parametrize(
    ("value", "kind", "kept"),
    [
        (3, ArgumentKind.SCALAR, 3),
        (True, ArgumentKind.SCALAR, True),
        (2**70, ArgumentKind.SCALAR, hex(2**70)),
        (float("inf"), ArgumentKind.SCALAR, "inf"),
        (None, ArgumentKind.NONE, None),
        (Colour.RED, ArgumentKind.ENUM, "Colour.RED (=3)"),
        ({"a": 1, 2: 3}, ArgumentKind.MAPPING, 2),
        ((1, 2), ArgumentKind.SEQUENCE, 2),
    ],
)
def test_plain_values_keep_what_json_can_hold(value: Any, kind: ArgumentKind, kept: Any) -> None:
    found = summarise("v", value)
    assert (found.kind, found.value) == (kind, kept)
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found


def test_a_long_text_is_cut_short() -> None:
    value = summarise("t", "x" * 10_000).value
    assert isinstance(value, str)
    assert len(value) < 400


def test_a_container_that_holds_itself_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert summarise("loop", loop).items[0].items[0].items == ()


def test_tensors_are_read_without_their_overrides(needs_torch: None) -> None:
    import torch

    class Loud(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise RuntimeError(f"asked for {func}")

        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(f"asked for {name}")

    plain = summarise("x", torch.empty(2, 3))
    assert plain.tensor == TensorInfo((2, 3), "float32", (3, 1), "cpu")
    loud = torch.empty(4, 5).as_subclass(Loud)
    found = summarise("x", loud)
    assert found.kind is ArgumentKind.TENSOR
    assert found.tensor == TensorInfo((4, 5), "float32", (5, 1), None)


def test_dtypes_devices_and_sizes_are_known(needs_torch: None) -> None:
    import torch

    assert summarise("d", torch.bfloat16).value == "bfloat16"
    assert summarise("d", torch.device("cuda", 1)).value == "cuda:1"
    assert [item.value for item in summarise("s", torch.empty(2, 3).shape).items] == [2, 3]


def test_no_torch_is_loaded_for_a_summary() -> None:
    if "torch" not in sys.modules:
        summarise("x", object())
        assert "torch" not in sys.modules


@pytest.mark.parametrize("attribute", ["_fake_device", "fake_device"])
def test_a_fake_tensors_device_is_read_where_its_torch_keeps_it(
    attribute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Kept:
        pass

    kept = Kept()
    setattr(kept, attribute, "cuda:0")
    module = types.SimpleNamespace(FakeTensor=Kept)
    monkeypatch.setitem(sys.modules, "torch._subclasses.fake_tensor", module)
    assert arguments._device(kept, Kept, None) == "cuda:0"
