"""What handing work over has done, a line each: on standard error, with an arrow.

Standard output stays what was asked for: an id, a payload, the line to paste.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TOLD_MAX = 20
"""Stale files that are named; the rest are counted."""


def arrow(text: str) -> None:
    """Tell of one thing."""
    sys.stdout.flush()  # where both go to one terminal, in the order in which they are said
    print(visible_line(f"→ {text}"), file=sys.stderr, flush=True)


def primed(report: Mapping[str, Any]) -> None:
    """Tell what a resume has made warm."""
    arrow(f"memo primed ({counted(report['files_primed'], 'file')})")
    arrow(f"search reuse warmed ({counted(report['searches_warmed'], 'query', 'queries')})")
    arrow("frecency restored")


def stale(files: Iterable[Mapping[str, str]]) -> None:
    """Tell which files are no longer what the snapshot knew, and why."""
    found = list(files)
    for one in found[:TOLD_MAX]:
        arrow(f"stale: {one['path']} ({one['reason']})")
    if len(found) > TOLD_MAX:
        arrow(f"stale: {len(found) - TOLD_MAX} more files")


def differs(sentences: Iterable[str]) -> None:
    """Tell how the repository here is not the one of the snapshot."""
    for sentence in sentences:
        arrow(f"differs: {sentence}")


def counted(count: int, one: str, more: str = "") -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
