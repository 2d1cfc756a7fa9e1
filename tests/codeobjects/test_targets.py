"""Target ids from ELF flags and from text, and what code runs where."""

from __future__ import annotations

import pytest

from tracer.codeobjects.targets import MACHINES, TargetId, parse_target, runs_on, target_of_flags


@pytest.mark.parametrize(
    ("machine", "arch"),
    [
        (0x3F, "gfx90a"),
        (0x4C, "gfx942"),
        (0x4F, "gfx950"),
        (0x49, "gfx1250"),
        (0x4E, "gfx1201"),
        (0x5F, "gfx9-4-generic"),
    ],
)
def test_the_machine_field_names_the_processor(machine: int, arch: str) -> None:
    assert target_of_flags(machine | 0x500, 3).arch == arch


def test_no_processor_has_two_numbers() -> None:
    assert len(set(MACHINES.values())) == len(MACHINES)


def test_an_unknown_machine_is_kept_as_a_number() -> None:
    target = target_of_flags(0x7E, 3)
    assert (target.arch, str(target)) == (None, "machine 0x7e")


@pytest.mark.parametrize(
    ("flags", "xnack", "sramecc", "text"),
    [
        (0x000, None, None, "gfx942"),
        (0x500, "any", "any", "gfx942"),
        (0x600, "off", "any", "gfx942:xnack-"),
        (0xF00, "on", "on", "gfx942:sramecc+:xnack+"),
        (0xA00, "off", "off", "gfx942:sramecc-:xnack-"),
    ],
)
def test_features_of_code_object_v4_and_later_have_four_settings(
    flags: int, xnack: str | None, sramecc: str | None, text: str
) -> None:
    target = target_of_flags(0x4C | flags, 2)
    assert (target.xnack, target.sramecc, str(target)) == (xnack, sramecc, text)


def test_code_object_v3_says_on_alone() -> None:
    assert str(target_of_flags(0x3F | 0x300, 1)) == "gfx90a:sramecc+:xnack+"
    assert str(target_of_flags(0x3F, 1)) == "gfx90a"


def test_a_generic_processor_of_v6_has_a_version() -> None:
    assert target_of_flags(0x5F | 0x02000000, 4).generic_version == 2
    assert target_of_flags(0x5F | 0x02000000, 3).generic_version is None


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("gfx942", "gfx942"),
        ("gfx942:xnack-:sramecc+", "gfx942:sramecc+:xnack-"),
        ("amdgcn-amd-amdhsa--gfx950", "gfx950"),
        ("amdgcn-amd-amdhsa-unknown-gfx90a:xnack+", "gfx90a:xnack+"),
        ("gfx9-4-generic", "gfx9-4-generic"),
    ],
)
def test_text_is_read_with_and_without_a_triple(text: str, written: str) -> None:
    assert str(parse_target(text)) == written


@pytest.mark.parametrize(
    "text", ["", "sm_90", "gfx", "x86_64-unknown-linux-gnu-", "gfx942:foo+", "gfx942 "[:-1] + ":xnack"]
)
def test_other_text_is_no_target(text: str) -> None:
    assert parse_target(text) is None


@pytest.mark.parametrize(
    ("code", "wanted", "answer"),
    [
        ("gfx942", "gfx942", True),
        ("gfx942", "gfx950", False),
        ("gfx942:xnack+", "gfx942:xnack-", False),
        ("gfx942", "gfx942:xnack-", True),
        ("gfx942:xnack+", "gfx942", True),
        ("gfx9-4-generic", "gfx942", True),
        ("gfx9-4-generic", "gfx950", True),
        ("gfx9-4-generic", "gfx90a", False),
    ],
)
def test_code_runs_where_the_processor_and_its_features_allow(code: str, wanted: str, answer: bool) -> None:
    a, b = parse_target(code), parse_target(wanted)
    assert a is not None
    assert b is not None
    assert runs_on(a, b) is answer


def test_code_for_an_unknown_processor_may_run_anywhere() -> None:
    assert runs_on(target_of_flags(0x7E, 3), TargetId(arch="gfx942")) is None
