"""Progress messages of a handoff: a line each on standard error, with an arrow.

Standard output has only the result: an id, a payload, the line to paste.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TOLD_MAX = 20
"""Stale files that are listed; the rest are counted."""


def arrow(text: str) -> None:
    """Print one message."""
    sys.stdout.flush()  # keeps the order if both go to one terminal
    print(visible_line(f"→ {text}"), file=sys.stderr, flush=True)


def primed(report: Mapping[str, Any]) -> None:
    """Print what a resume has primed."""
    arrow(f"memo primed ({counted(report['files_primed'], 'file')})")
    arrow(f"search reuse warmed ({counted(report['searches_warmed'], 'query', 'queries')})")
    arrow("frecency restored")


def stale(files: Iterable[Mapping[str, str]]) -> None:
    """Print which files have changed since the snapshot, and why they count as changed."""
    stale_files = list(files)
    for file in stale_files[:TOLD_MAX]:
        arrow(f"stale: {file['path']} ({file['reason']})")
    if len(stale_files) > TOLD_MAX:
        arrow(f"stale: {len(stale_files) - TOLD_MAX} more files")


def differs(sentences: Iterable[str]) -> None:
    """Print how the repository here differs from the one of the snapshot."""
    for sentence in sentences:
        arrow(f"differs: {sentence}")


def counted(count: int, one: str, more: str = "") -> str:
    """Return a count with its noun: `1 file`, `2 files`."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
