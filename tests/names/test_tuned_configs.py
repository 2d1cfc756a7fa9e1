"""The kernelName columns of aiter's tuned CSVs: every name in them is read completely."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.names import sources
from tracer.names import registry


def _kernel_names(configs: Path) -> set[str]:
    names: set[str] = set()
    for path in configs.rglob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            columns = [
                column for column in reader.fieldnames or () if column and column.lower().startswith("kernelname")
            ]
            for row in reader:
                names.update(row[column] for column in columns if row.get(column))
    return names


def _unread(names: set[str]) -> list[str]:
    assert names, "no tuned CSV names a kernel"
    return sorted(name for name in names if not registry.decode(name).complete)


def test_every_kernel_name_in_the_installed_aiters_tuned_csvs_is_read() -> None:
    assert not _unread(_kernel_names(sources.installed("aiter") / "configs"))


@pytest.mark.aiter_main
def test_every_kernel_name_in_the_tuned_csvs_of_aiters_main_is_read(aiter_main: Path) -> None:
    assert not _unread(_kernel_names(aiter_main / "aiter" / "configs"))
