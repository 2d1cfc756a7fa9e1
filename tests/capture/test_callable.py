"""Any callable as an op: what `--arg` may say, and what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from tracer.errors import UsageError
from tracer.ops.callable import CallableOp, DtypeSpec, NamedSpec, TensorSpec, parse_argument


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("x=bf16[128,7168]", "x", TensorSpec("bfloat16", (128, 7168))),
        ("x=float8_e4m3fn[1, 2]", "x", TensorSpec("float8_e4m3fn", (1, 2))),
        ("x=fp8[]", "x", TensorSpec("fp8", ())),
        ("w=fp4x2[8,64]", "w", TensorSpec("float4_e2m1fn_x2", (8, 64))),
        ("s=e8m0[8]", "s", TensorSpec("float8_e8m0fnu", (8,))),
        ("quant=aiter:QuantType.per_1x128", "quant", NamedSpec("aiter:QuantType.per_1x128")),
        ("dtype=fp16", "dtype", DtypeSpec("float16")),
        ("n=3", "n", 3),
        ("eps=1e-6", "eps", 1e-6),
        ('mode="fast"', "mode", "fast"),
        ("flag=true", "flag", True),
        ("y=None", "y", None),
        ("shape=[1, 2]", "shape", [1, 2]),
    ],
)
def test_values_are_tensors_dtypes_words_or_json(text: str, name: str, value: Any) -> None:
    assert parse_argument(text) == (name, value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bf16[2]", "has no name"),
        ("x=bf17[2]", "'bf17' in the argument 'x=bf17[2]' is no dtype"),
        ("x=bf16[2,-1]", "is no shape"),
        ("x=bf16[2,a]", "is no shape"),
        ("x=fast", "'fast' in the argument"),
    ],
)
def test_what_can_not_be_read_is_named(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_argument(text)
    assert message in str(error.value)


def test_an_argument_twice_a_shape_or_a_bad_path_is_refused() -> None:
    with pytest.raises(UsageError, match="stands twice"):
        CallableOp("torch:mm", ("a=1", "a=2"))
    with pytest.raises(UsageError, match="names no callable"):
        CallableOp("torch:", ())
    with pytest.raises(UsageError, match="takes no --shape"):
        CallableOp("torch:mm", ()).check({"M": 1})


def test_what_does_not_exist_is_said_in_words() -> None:
    class Nothing:
        def tensor(self, *args: Any, **kwargs: Any) -> Any:
            raise AssertionError

    for path, message in (
        ("no_such_module:f", "does not exist"),
        ("json:no_such", "json has no no_such"),
        ("json.decoder:NaN", "no callable"),
    ):
        with pytest.raises(UsageError, match=message):
            CallableOp(path, ()).inputs({}, {}, Nothing())


def test_a_typing_error_in_a_callable_is_answered_with_close_names_of_its_module() -> None:
    for path, hint in (("json:detect_encodin", "did you mean detect_encoding?"), ("json:no_such", None)):
        with pytest.raises(UsageError) as error:
            CallableOp(path, ()).inputs({}, {}, None)  # type: ignore[arg-type]
        assert error.value.hint == hint


def test_its_work_is_not_known() -> None:
    assert CallableOp("torch:mm", ()).work({}, {}) is None
