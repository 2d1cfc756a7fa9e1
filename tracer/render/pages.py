"""A report in, the Markdown of its page in one language out; and the names that pages have on disk.

The templates decide nothing: what a page says is in the report, how it is worded is in the language files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache

import jinja2
import msgspec
from markupsafe import Markup

from tracer.codeobjects.instructions import matrix_instructions
from tracer.model.capture import CaptureRecord
from tracer.model.evidence import Evidence
from tracer.model.report import Report
from tracer.render import rows
from tracer.render.chart import flow_chart
from tracer.render.environment import environment
from tracer.render.filters import code
from tracer.render.frames import entry_list, frame_list
from tracer.render.labels import brief, in_text
from tracer.render.languages import Words
from tracer.render.names import coloured_name
from tracer.render.plot import roofline_svg

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_SLUG = 96
_TEMPLATE_OR_CALL = re.compile(r"[<(]")


def _safe(text: str) -> str:
    return _UNSAFE.sub("-", text).strip("-.")


def _digest(value: object) -> str:
    """Hexadecimal digits that stand for a value, whatever the order of its mappings."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def page_folder(record: CaptureRecord) -> str:
    """The folder of a record's page: the op, made safe as a file name; of a C++ kernel, the function's own name."""
    function = _TEMPLATE_OR_CALL.split(record.call.op.replace("(anonymous namespace)::", ""), maxsplit=1)[0]
    return _safe(function.removeprefix("void ").split(".")[-1].split(":")[-1])[:64] or "op"


def page_digest(record: CaptureRecord) -> str:
    """Eight characters that stand for everything that makes a call what it is.

    That is op, shape, options, configuration, target, device, mode, library versions, variables that steer them, trace.
    """
    call, target = record.call, record.target
    return _digest(
        [
            call.op,
            call.shape,
            call.options,
            call.config,
            [target.arch, target.compute_units, target.device],
            record.mode,
            [[tree.name, tree.version, tree.commit, tree.layout] for tree in record.environment.trees],
            [record.origin.file, record.origin.sha256, call.command] if record.origin else None,
            [[launch.kernel, launch.start_ns] for launch in record.launches] if record.origin else None,
            *([steered] if (steered := rows.steering(record)) else []),
        ]
    )[:8]


def page_name(record: CaptureRecord) -> str:
    """The name of a record's page, without its ending: the same for the same call, different for any other.

    It reads as shape, target and mode; the digest of the call follows.
    """
    call, target, digest = record.call, record.target, page_digest(record)
    shape = "x".join(str(extent) for extent in call.shape.values())
    units = f"{target.compute_units}cu" if target.compute_units else None
    parts = [shape, *call.options.values(), target.arch, units, str(record.mode)]
    readable = _safe("-".join(str(part) for part in parts if part))[:_LONGEST_SLUG]
    return f"{readable}-{digest}" if readable else digest


def shape_text(record: CaptureRecord) -> str:
    """`M=128, N=1536, K=7168`, or an empty text."""
    return ", ".join(f"{name}={extent}" for name, extent in record.call.shape.items())


def checkout_of(record: CaptureRecord) -> str:
    """`aiter@0123abc` for a library that ran from a source checkout; empty for installed ones."""
    trees = (t for t in record.environment.trees if t.commit is not None)
    return " ".join(f"{tree.name}@{(tree.commit or '')[:7]}" for tree in trees)


def page_title(record: CaptureRecord) -> str:
    """The title in menus and tabs."""
    target = record.target.arch or record.target.device_name or ""
    units = f" {record.target.compute_units} CU" if record.target.compute_units and target.startswith("gfx") else ""
    shape = "x".join(str(extent) for extent in record.call.shape.values())
    options = " ".join(record.call.options.values()) if shape else ""
    device = (record.target.device or "") if record.target.device_evidence is Evidence.STATED else ""
    config = f"config {_digest(record.call.config)[:4]}" if record.call.config else ""
    where = f"{target}{units}".strip()
    steered = rows.steering(record)
    variables = f"env {_digest(steered)[:4]}" if steered else ""
    op = brief(record.call.op)
    distinct = "" if shape else f"#{page_digest(record)[:4]}"  # no shape tells it from other calls of the op
    parts = (shape or op, options, where, device, str(record.mode), config, variables, checkout_of(record), distinct)
    return " ".join(part for part in parts if part)


def summary(report: Report, words: Words) -> Markup:
    """One sentence: what was called, for what, and where it ended."""
    record = report.record
    kernels = [kernel for path in report.paths for kernel in path.kernels]
    shape = shape_text(record)
    called = code(f"{brief(report.title)}({shape})" if shape else brief(report.title))
    target = record.target.device or record.target.arch or record.target.device_name or "?"
    if all(kernel.name == "?" for kernel in kernels):
        ways = {launch.kernel for kernel in kernels if kernel.dispatch for launch in kernel.dispatch.launches}
        if ways:
            return words("summary.open", call=called, target=target, n=len(ways))
        return words("summary.none", call=called, target=target)
    count = sum(1 + len(rows.further(kernel)) for kernel in kernels)
    if count == 1:
        return words("summary.one", call=called, target=target, kernel=code(in_text(kernels[0].name)))
    return words("summary.many", call=called, target=target, n=count, paths=len(report.paths))


def vendor_of(report: Report) -> str:
    """Whose words the page uses: NVIDIA's for its targets, else AMD's."""
    return "NVIDIA" if (report.record.target.arch or "").startswith("sm_") else "AMD"


@cache
def page_environment() -> jinja2.Environment:
    """The environment of pages: the common one, with the filters that lay out parts of a report."""
    env = environment().overlay()
    env.filters.update(
        frame_list=frame_list,
        entry_list=entry_list,
        coloured_name=coloured_name,
        tuned_lookups=rows.tuned_lookups,
        csv_rows=rows.csv_rows,
        registers=rows.registers,
        parameters=rows.parameters,
        stated_at=rows.stated_at,
        passed=rows.passed,
        step_files=rows.step_files,
        launch_options=rows.launch_options,
        matrix_instructions=matrix_instructions,
        versions=rows.versions,
        command_line=rows.command_line,
        indented=rows.indented,
    )
    return env


def read_ahead(languages: Iterable[str]) -> None:
    """Reads the templates and words of pages, so that the first page is quick.

    Raises:
        RenderError: they are missing.
    """
    templates = page_environment()
    for name in templates.list_templates(filter_func=lambda name: name.startswith(("page.", "sections/"))):
        templates.get_template(name)
    for language in languages:
        Words(language).phrase("")


def render_page(report: Report, language: str) -> str:
    """Writes the page of a report.

    Args:
        report: what to show.
        language: "zh" or "en".

    Returns:
        Markdown for MkDocs, with front matter.

    Raises:
        RenderError: a template and the report do not fit together (a bug of ktrace).
    """
    words = Words(language, vendor_of(report))
    plot = roofline_svg(report.roofline, lambda key: str(words(key))) if report.roofline else None
    text = (
        page_environment()
        .get_template("page.md.jinja")
        .render(
            report=report,
            record=report.record,
            t=words,
            title=page_title(report.record),
            summary=summary(report, words),
            shape=shape_text(report.record),
            stored=f"{page_name(report.record)}.json",
            chart=flow_chart(report, lambda key, **values: _plain(words(key, **values))),
            plot=plot,
        )
    )
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def _plain(text: str) -> str:
    """A text of a language file without Markdown's backslashes, for a code block."""
    return re.sub(r"\\(.)", r"\1", str(text))
