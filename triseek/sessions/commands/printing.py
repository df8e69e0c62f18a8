"""What the verbs of sessions print: the answer on standard output, progress on standard error.

Standard output has only the result: an id, a payload, the line to paste. Each message about the
progress of a handoff is a line on standard error, with an arrow.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import plural, visible_line
from triseek.terminal import report_text, status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STALE_MAX = 20
"""Stale files that are listed; the rest are counted."""


def answer(document: Mapping[str, Any], text: str, *, as_json: bool) -> int:
    """Print an answer as a JSON document or as text; return the exit status of success."""
    print(report_text.as_json(document) if as_json else report_text.readable(text))
    return status.FOUND


def arrow(text: str) -> None:
    """Print one message."""
    sys.stdout.flush()  # keeps the order if both go to one terminal
    print(visible_line(f"→ {text}"), file=sys.stderr, flush=True)


def resumed(report: Mapping[str, Any], write_to: str, *, goes_on: bool) -> None:
    """Print what a resume has done.

    Args:
        report: Its `hydration_report`.
        write_to: The file that the payload was written to; "" for none.
        goes_on: Whether an agent continues its own work; then what was primed is not printed.
    """
    if not goes_on:
        arrow(f"memo primed ({counted(report['files_primed'], 'file')})")
        arrow(f"search reuse warmed ({counted(report['searches_warmed'], 'query', 'queries')})")
        arrow("frecency restored")
    stale = report["stale_files"]
    for file in stale[:STALE_MAX]:
        arrow(f"stale: {file['path']} ({file['reason']})")
    if len(stale) > STALE_MAX:
        arrow(f"stale: {len(stale) - STALE_MAX} more files")
    differs(report["differs"])
    if write_to:
        ready = "updated; ready to continue" if goes_on else "updated with hydration payload"
        arrow(f"{write_to} {ready}")


def differs(sentences: Iterable[str]) -> None:
    """Print how the repository here differs from the one of the snapshot."""
    for sentence in sentences:
        arrow(f"differs: {sentence}")


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 file`, `2 files`."""
    return f"{count:,} {plural(count, one, many)}"
