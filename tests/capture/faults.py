"""Callables that go wrong, for the tests of what becomes of a child process."""

from __future__ import annotations

import os
import sys
import time


def die() -> None:
    print("last words", file=sys.stderr, flush=True)
    os._exit(7)


def hang() -> None:
    print("waiting for nothing", flush=True)
    time.sleep(600)


def leave() -> None:
    raise SystemExit("built nothing")


def write_outside() -> str:
    with open("/tmp/ktrace-test-shadow.txt", "w") as file:
        file.write("shadow")
    with open("/tmp/ktrace-test-shadow.txt") as file:
        return file.read()


def ask_for_a_value(x: object) -> int:
    return int(x.sum().item())  # type: ignore[attr-defined]
