"""Templates are found in a checkout and in a wheel, and nothing undefined or unescaped passes."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import jinja2
import pytest

from tracer.errors import RenderError
from tracer.render import environment as module
from tracer.render.environment import environment, templates_folder


def test_the_templates_of_this_checkout_are_found() -> None:
    assert (templates_folder() / "sections" / "kernel.md.jinja").is_file()


def test_a_package_with_templates_inside_is_served_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "tracer" / "templates"
    (inside).mkdir(parents=True)
    (inside / "page.md.jinja").write_text("")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "tracer" / "render" / "environment.py"))
    assert templates_folder() == inside


def test_missing_templates_are_an_error_that_names_both_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "__file__", str(tmp_path / "tracer" / "render" / "environment.py"))
    with pytest.raises(RenderError, match=r"no page\.md\.jinja in .*tracer/templates or .*templates"):
        templates_folder()


def test_an_undefined_value_raises() -> None:
    with pytest.raises(jinja2.UndefinedError):
        environment().from_string("{{ nobody }}").render()


@pytest.mark.parametrize("value", [None, [1], {"a": 1}, True, b"x"])
def test_a_value_that_has_no_place_on_a_page_raises(value: object) -> None:
    with pytest.raises(TypeError, match="has no place on a page"):
        environment().from_string("{{ value }}").render(value=value)


def test_a_plain_string_is_escaped_without_being_asked() -> None:
    assert environment().from_string("{{ value }}").render(value="<b> *x* [y](z)") == "&lt;b&gt; \\*x\\* \\[y\\](z)"


@pytest.mark.parametrize("path", sorted(templates_folder().rglob("*.jinja")), ids=lambda p: p.name)
def test_every_template_opens_with_its_purpose_and_context(path: Path) -> None:
    assert re.match(r"\{#-?\s+Purpose: .+\n(?:.*\n)*?  Context.*:", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted(templates_folder().rglob("*.jinja")), ids=lambda p: p.name)
def test_only_values_of_our_own_are_marked_safe(path: Path) -> None:
    ours = {"note.level | string", "entry.folder", "entry.name", "plot"}
    found = set(re.findall(r"\{\{ ([^{}|]+(?:\| string)?) \| safe \}\}", path.read_text(encoding="utf-8")))
    assert {name.strip() for name in found} <= ours


def test_a_wheel_carries_every_template(tmp_path: Path) -> None:
    hatchling = pytest.importorskip("hatchling.builders.wheel", reason="the build backend is not installed")
    root = Path(__file__).parents[2]
    builder = hatchling.WheelBuilder(str(root))
    (wheel,) = builder.build(directory=str(tmp_path), versions=["standard"])
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in templates_folder().rglob("*"):
        if path.is_file():
            assert f"tracer/templates/{path.relative_to(templates_folder()).as_posix()}" in names
