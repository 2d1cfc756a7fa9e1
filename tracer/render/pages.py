"""A report in, the Markdown of its page in one language out; and the names that pages have on disk.

The templates decide nothing: what a page says is in the report, how it is worded is in the language files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import msgspec

from tracer.model.capture import CaptureRecord
from tracer.model.report import Path, Report
from tracer.model.source import TunedLookup
from tracer.render.chart import flow_chart
from tracer.render.environment import environment
from tracer.render.frames import frame_list
from tracer.render.languages import Words
from tracer.render.names import coloured_name
from tracer.render.plot import roofline_svg

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_SLUG = 96


def _safe(text: str) -> str:
    return _UNSAFE.sub("-", text).strip("-.")


def page_folder(record: CaptureRecord) -> str:
    """The folder of a record's page: the op, made safe as a file name."""
    return _safe(record.call.op.split(".")[-1].split(":")[-1])[:64] or "op"


def page_name(record: CaptureRecord) -> str:
    """The name of a record's page, without its ending: the same for the same call, different for any other.

    It reads as shape, target and mode; eight characters of a digest over everything that makes a call what it is (op,
    shape, options, configuration, target, device, mode, library versions, trace) follow.
    """
    call, target = record.call, record.target
    identity = msgspec.json.encode(
        [
            call.op,
            call.shape,
            call.options,
            call.config,
            [target.arch, target.compute_units, target.device],
            record.mode,
            [[tree.name, tree.version, tree.commit, tree.layout] for tree in record.environment.trees],
            [record.origin.file, record.origin.sha256] if record.origin else None,
            [[launch.kernel, launch.start_ns] for launch in record.launches] if record.origin else None,
        ],
        order="deterministic",
    )
    digest = hashlib.sha256(identity).hexdigest()[:8]
    shape = "x".join(str(extent) for extent in call.shape.values())
    units = f"{target.compute_units}cu" if target.compute_units else None
    parts = [shape, *call.options.values(), target.arch, units, str(record.mode)]
    readable = _safe("-".join(str(part) for part in parts if part))[:_LONGEST_SLUG]
    return f"{readable}-{digest}" if readable else digest


def shape_text(record: CaptureRecord) -> str:
    """`M=128, N=1536, K=7168`, or an empty text."""
    return ", ".join(f"{name}={extent}" for name, extent in record.call.shape.items())


def page_title(record: CaptureRecord) -> str:
    """The title in menus and tabs."""
    target = record.target.arch or record.target.device_name or ""
    units = f" {record.target.compute_units} CU" if record.target.compute_units and target.startswith("gfx") else ""
    shape = "x".join(str(extent) for extent in record.call.shape.values())
    return " ".join(part for part in (shape or record.call.op, f"{target}{units}".strip(), str(record.mode)) if part)


def tuned_lookups(paths: Sequence[Path]) -> list[tuple[str, TunedLookup]]:
    """Every look-up in a tuned config, with the title of its path."""
    return [
        (path.title, kernel.dispatch.tuned)
        for path in paths
        for kernel in path.kernels
        if kernel.dispatch and kernel.dispatch.tuned
    ]


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
    words = Words(language)
    env = environment()
    env.filters.update(frame_list=frame_list, coloured_name=coloured_name, tuned_lookups=tuned_lookups)
    template = env.get_template("page.md.jinja")
    plot = roofline_svg(report.roofline, lambda key: str(words(key))) if report.roofline else None
    text = template.render(
        report=report,
        record=report.record,
        t=words,
        title=page_title(report.record),
        shape=shape_text(report.record),
        chart=flow_chart(report, lambda key, **values: _plain(words(key, **values))),
        plot=plot,
    )
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def _plain(text: str) -> str:
    """A text of a language file without Markdown's backslashes, for a code block."""
    return re.sub(r"\\(.)", r"\1", str(text))
