"""Host functions of aiter's C++ that decide what Python does next: a name in, a port that answers as it does out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracer.aiter.padding import get_padded_m

#: function as a module exports it -> its port (main binds the C++ name itself)
HOST_FUNCTIONS: dict[str, Callable[..., Any]] = {"get_padded_m": get_padded_m, "getPaddedM": get_padded_m}
