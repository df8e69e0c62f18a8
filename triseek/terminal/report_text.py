"""Reports of the verbs other than search, as text and as JSON, and their progress bars."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from triseek.model.index import no_progress
from triseek.model.plain_text import json_text, visible, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.progress import TaskID

    from triseek.model.index import BuildReport, IndexStatus, Progress, Stage
    from triseek.model.search import Skipped

TITLES: dict[Stage, str] = {
    "walk": "Listing files",
    "read": "Reading files",
    "write": "Writing the index",
    "compile": "Compiling kernels",
    "check": "Checking the index",
    "import": "Importing",
    "forget": "Removing the text from all files",
    "embed": "Embedding texts",
}
"""Titles of progress bars."""


def as_json(document: object) -> str:
    """Return a document as JSON, indented by two, hostile characters escaped (`json_text`).

    Of paths that are not UTF-8 the readable part is kept.
    """
    return json_text(json.dumps(document, indent=2, ensure_ascii=False, default=_plain))


def either(document: object, lines: Iterable[str], *, is_json: bool) -> str:
    """Return a report as JSON, or as lines for people."""
    return as_json(document) if is_json else readable("\n".join(lines))


def build_text(report: BuildReport, root: str) -> str:
    """Describe what a build or update did, in a few lines."""
    verb = "Indexed" if report.rebuilt_full else "Updated"
    files = f"{report.files_indexed:,} of {report.files_seen:,} files"
    changes = f"{report.files_changed:,} read, {report.files_removed:,} gone"
    summary = f"generation {report.generation}, {report.elapsed_ms / 1e3:.2f} s"
    lines = [
        f"{verb} {visible_line(root)}: {summary}",
        f"  {files}, {human_size(report.text_bytes)} of text",
        f"  {changes}, {report.postings:,} postings",
    ]
    if report.skipped:
        lines.append(f"  skipped: {skipped_text(report.skipped)}")
    return "\n".join(lines)


def status_text(status: IndexStatus) -> str:
    """Describe the state of an index, in a few lines."""
    lines = [visible_line(status.root)]
    if status.problem:
        lines.append(f"  cannot be used: {visible_line(status.problem)}")
    if not status.present:
        return "\n".join([*lines, "  no index; run `triseek build`"])
    parts = f"{status.blocks:,} blocks, {status.trigrams:,} trigrams, {status.segments} segments"
    freshness = "up to date" if status.fresh else f"{status.dirty:,} files changed since"
    lines += [
        f"  generation {status.generation}, {freshness}",
        f"  {status.files:,} files, {human_size(status.text_bytes)} of text"
        + (f", {status.category}" if status.category else ""),
        f"  {status.files_binary:,} binary, {status.files_unreadable:,} unreadable",
        f"  {parts}, {human_size(status.index_bytes)}",
        f"  {visible_line(status.index_dir)}",
    ]
    return "\n".join(lines)


def skipped_text(skipped: list[Skipped]) -> str:
    """Return the number of skipped files for each reason: `3 unreadable, 1 loop`."""
    counts = Counter(file.reason for file in skipped)
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(counts.items()))


def human_size(size: int) -> str:
    """Return a size in bytes as people read it: `1.3 GB`."""
    value = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def local_time(at_s: float) -> str:
    """Return Unix seconds as local date and time, to the minute."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_s))
    except (OverflowError, ValueError, OSError):
        return str(at_s)


def readable(text: str) -> str:
    """Return a text that is safe to print on a terminal: see `plain_text.visible`."""
    return visible(text)


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    raise TypeError(f"no JSON for {type(value).__name__}")


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Yield a callback that draws a bar per stage on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[Stage, TaskID] = {}

        def report(stage: Stage, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(TITLES[stage], total=total or None)
            bars.update(tasks[stage], completed=done, total=total or None)

        yield report
