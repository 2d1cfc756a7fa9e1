"""docs/record.md says of every field what the model's docstrings say; the JSON Schema beside it is generated."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import msgspec

from tracer import store
from tracer.model import capture, environment, source, timing

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "record.md"
SCHEMA = DOCS / "record.schema.json"
START, END = "<!-- fields: written by pytest --update-goldens -->", "<!-- end of fields -->"

STRUCTS: tuple[type[msgspec.Struct], ...] = (
    capture.CaptureRecord,
    capture.Call,
    environment.Target,
    environment.Environment,
    environment.SourceTree,
    capture.Frame,
    capture.Argument,
    capture.TensorInfo,
    capture.BoundaryCall,
    capture.CpuOp,
    capture.Launch,
    capture.RuntimeCall,
    capture.Resources,
    capture.CompiledKernel,
    source.Dispatch,
    source.CandidateLaunch,
    source.Instantiation,
    source.TunedLookup,
    source.CsvRow,
    source.Hop,
    source.SourceRef,
    source.Decorator,
    source.FlowStep,
    timing.Timing,
    capture.ExceptionInfo,
    capture.Lost,
    environment.TraceOrigin,
)


def meanings(struct: type[msgspec.Struct]) -> dict[str, str]:
    """field -> what the docstring's Attributes section says of it; `a, b: text` speaks of both."""
    doc = inspect.getdoc(struct) or ""
    _, _, section = doc.partition("Attributes:\n")
    result: dict[str, str] = {}
    entry = re.compile(r"^ {4}(\w+(?:, \w+)*): ", re.M)
    starts = list(entry.finditer(section))
    for i, match in enumerate(starts):
        end = starts[i + 1].start() if i + 1 < len(starts) else len(section)
        text = " ".join(section[match.end() : end].split())
        for name in match.group(1).split(", "):
            result[name] = text
    return result


def rendered() -> str:
    """The fields section of the page."""
    lines = []
    for struct in STRUCTS:
        said = meanings(struct)
        summary = (inspect.getdoc(struct) or "").partition("Attributes:")[0].strip()
        lines += [f"### {struct.__name__}", "", summary, "", "| field | type | meaning |", "|---|---|---|"]
        for field in msgspec.structs.fields(struct):
            kind = str(struct.__annotations__[field.name]).replace("|", "\\|")
            lines.append(f"| `{field.name}` | `{kind}` | {said.get(field.name, '').replace('|', chr(92) + '|')} |")
        lines.append("")
    return "\n".join(lines)


def test_every_field_of_the_record_is_explained_by_its_docstring() -> None:
    silent = [
        f"{struct.__name__}.{field.name}"
        for struct in STRUCTS
        for field in msgspec.structs.fields(struct)
        if not meanings(struct).get(field.name)
    ]
    assert not silent


def test_every_struct_that_a_record_can_hold_is_on_the_page() -> None:
    defined = set(store.record_schema()["$defs"])
    structs = {name for name, body in store.record_schema()["$defs"].items() if body.get("type") == "object"}
    assert structs == {struct.__name__ for struct in STRUCTS} & defined


def test_the_page_says_what_the_docstrings_say(update_goldens: bool) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    wanted = f"{before}{START}\n\n{rendered()}\n{END}{after}"
    if update_goldens:
        PAGE.write_text(wanted, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == wanted


def test_the_schema_beside_the_page_is_the_generated_one(update_goldens: bool) -> None:
    wanted = json.dumps(store.record_schema(), indent=1, ensure_ascii=False) + "\n"
    if update_goldens:
        SCHEMA.write_text(wanted, encoding="utf-8")
    assert SCHEMA.read_text(encoding="utf-8") == wanted
