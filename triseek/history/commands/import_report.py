"""What `triseek history import` shows of an import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import counted, visible_line
from triseek.terminal import report_text

if TYPE_CHECKING:
    from triseek.history.importing.run import ImportReport

SKIPPED_SHOWN = 10
"""Lines that name what was skipped, of each source of conversations."""


def show(report: ImportReport, *, dry_run: bool, as_json: bool) -> None:
    """Print what was imported, or with `dry_run` what would be."""
    if as_json:
        print(report_text.as_json({"dry_run": dry_run, "agents": _document(report)}))
    else:
        print(report_text.readable("\n".join(_lines(report, dry_run=dry_run))))


def _document(report: ImportReport) -> dict[str, Any]:
    return {
        name: {field: getattr(counts, field) for field in counts.__slots__}
        for name, counts in report.agents.items()
    }


def _lines(report: ImportReport, *, dry_run: bool) -> list[str]:
    shown = []
    for name, counts in report.agents.items():
        if not counts.sources:
            continue
        files = f"{counts.read:,} of {counted(counts.sources, 'file')}"
        if dry_run:
            shown.append(f"{name}: {files} to read, {report_text.human_size(counts.bytes)}")
            continue
        shown.append(
            f"{name}: {files} read, {counted(counts.messages, 'message')} and"
            f" {counted(counts.events, 'use')} of tools in"
            f" {counted(counts.conversations, 'conversation')}"
        )
        if counts.forgotten:
            shown.append(f"  {counted(counts.forgotten, 'record')} left out that were forgotten")
        shown += [f"  skipped {visible_line(line)}" for line in counts.skipped[:SKIPPED_SHOWN]]
        if len(counts.skipped) > SKIPPED_SHOWN:
            shown.append(f"  … and {len(counts.skipped) - SKIPPED_SHOWN:,} more (--json)")
    if any(counts.messages for counts in report.agents.values()) and not dry_run:
        shown.append("Search them: triseek history search WORDS")
    return shown or ["No conversations of these agents on this machine."]
