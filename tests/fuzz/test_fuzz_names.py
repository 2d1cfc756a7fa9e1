"""A few thousand random and spoiled names a run of the tests; `make fuzz` reads a million."""

from __future__ import annotations

import random

import pytest

from tests.fuzz import fuzz_names
from tests.fuzz.spoiled_names import Spoiler
from tests.names import goldens
from tracer.names import registry

NAMES = [name for _, name in goldens.case_names()]


def test_no_spoiled_name_raises_or_comes_back_otherwise() -> None:
    # time is left to `make fuzz`: no test depends on how fast the machine is
    problems = list(fuzz_names.run(5000, 7, NAMES, limit=None))
    assert not problems, problems[0]


def test_the_same_seed_makes_the_same_names() -> None:
    first, second = (Spoiler(NAMES, random.Random(3)) for _ in range(2))
    assert [first.name() for _ in range(200)] == [second.name() for _ in range(200)]


def test_a_grammar_that_raises_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise ValueError(f"no reading of {text}")

    monkeypatch.setattr(registry, "decode", broken)
    problem = fuzz_names.check("anything")
    assert problem is not None
    assert (problem.kind, problem.detail) == ("exception", "ValueError: no reading of anything")
