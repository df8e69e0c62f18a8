"""An audit as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.terminal.report_text import local_time, readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.app.audit import AuditReport

ROWS_MAX = 15
"""Most rows of a table; JSON and HTML have all."""
TEXT_MAX = 100
COUNTS = (
    ("reads", "reads"), ("edits", "edits"), ("searches", "searches"), ("refused", "refused"),
    ("tokens_not_read", "tokens not read"), ("prompts", "prompts"), ("compactions", "compactions"),
)  # fmt: skip
"""Fields of counts, and their titles."""


def text(audit: AuditReport) -> str:
    """Return the audit as text without control characters; its last line is ended."""
    return "\n".join(_lines(audit)) + "\n"


def _lines(audit: AuditReport) -> Iterator[str]:
    sessions, totals = audit.sessions, audit.totals
    counted = f"{totals.entries:,} entries of {len(sessions)} session" + "s" * (len(sessions) != 1)
    yield f"{_cell(audit.root, 300)}: {counted}"
    if totals.entries:
        yield f"{local_time(audit.first_at or 0)} to {local_time(audit.last_at or 0)}"
    if audit.omitted["entries"]:
        yield f"{audit.omitted['entries']:,} older entries are not in the snapshot"
    yield ""
    people = [*((agent.harness, agent) for agent in audit.harnesses), ("all", totals)]
    yield from _table(
        ("", *(title for _, title in COUNTS)),
        [(name, *(getattr(counts, count) for count, _ in COUNTS)) for name, counts in people],
    )
    yield from _part(
        "Files",
        ("reads", "edits", "refused", "tokens not read", "by", "path"),
        [
            (item.reads, item.edits, item.refused, item.tokens_not_read,
             ", ".join(item.by), item.path + " (taken back)" * item.taken_back)
            for item in audit.files
        ],
    )  # fmt: skip
    yield from _part(
        "Searches",
        ("times", "matches", "by", "kind", "query"),
        [
            (item.times, "?" if item.matches is None else item.matches,
             ", ".join(item.by), item.kind, item.query)
            for item in audit.searches
        ],
    )  # fmt: skip
    yield from _part(
        "Dead ends",
        ("entry", "by", "what"),
        [(item.entry_id, ", ".join(item.by), str(item)) for item in audit.dead_ends],
    )
    yield from _part(
        "Prompts",
        ("when", "by", "prompt"),
        [(local_time(item.at), item.harness, item.prompt) for item in reversed(audit.prompts)],
    )


def _part(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield title
    yield from _table(head, rows[:ROWS_MAX])
    if len(rows) > ROWS_MAX:
        yield f"and {len(rows) - ROWS_MAX:,} more: --json, --html"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yield a table's lines: columns fit their cells, numbers are right-aligned, ends trimmed."""
    cells = [[_cell(value, TEXT_MAX) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    right = [all(isinstance(row[n], int) for row in rows) for n in range(len(head))]
    for row in [list(head), *cells]:
        padded = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        )
        yield ("  " + "  ".join(padded)).rstrip()


def _cell(value: object, most: int) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    line = readable(" ".join(str(value)[: 4 * most].split()))
    return line if len(line) <= most else line[: most - 1] + "…"
