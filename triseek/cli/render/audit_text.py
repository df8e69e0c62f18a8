"""An audit as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.cli.report_text import local_time, readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROWS_MAX = 15
"""Rows of a table; JSON and HTML have all."""
TEXT_MAX = 100
COUNTS = (
    ("reads", "reads"), ("edits", "edits"), ("searches", "searches"), ("refused", "refused"),
    ("tokens_not_read", "tokens not read"), ("prompts", "prompts"), ("compactions", "compactions"),
)  # fmt: skip
"""Fields of counts, and what people call them."""


def text(audit: Mapping[str, Any]) -> str:
    """The audit, without control characters, its last line ended."""
    return "\n".join(_lines(audit)) + "\n"


def _lines(audit: Mapping[str, Any]) -> Iterator[str]:
    sessions, totals = audit["sessions"], audit["totals"]
    counted = f"{totals['entries']:,} entries of {len(sessions)} session" + "s" * (
        len(sessions) != 1
    )
    yield f"{_cell(audit['root'], 300)}: {counted}"
    if totals["entries"]:
        yield f"{local_time(audit['first_at'])} to {local_time(audit['last_at'])}"
    if audit["omitted"]["entries"]:
        yield f"{audit['omitted']['entries']:,} older entries are not in the snapshot"
    yield ""
    people = [*audit["harnesses"], {"harness": "all", **totals}]
    yield from _table(
        ("", *(title for _, title in COUNTS)),
        [(one["harness"], *(one[name] for name, _ in COUNTS)) for one in people],
    )
    yield from _part(
        "Files",
        ("reads", "edits", "refused", "tokens not read", "by", "path"),
        [
            (one["reads"], one["edits"], one["refused"], one["tokens_not_read"],
             ", ".join(one["by"]), one["path"] + " (taken back)" * one["taken_back"])
            for one in audit["files"]
        ],
    )  # fmt: skip
    yield from _part(
        "Searches",
        ("times", "matches", "by", "kind", "query"),
        [
            (one["times"], "?" if one["matches"] is None else one["matches"],
             ", ".join(one["by"]), one["kind"], one["query"])
            for one in audit["searches"]
        ],
    )  # fmt: skip
    yield from _part(
        "Dead ends",
        ("entry", "by", "what"),
        [(one["entry_id"], ", ".join(one["by"]), dead_end(one)) for one in audit["dead_ends"]],
    )
    yield from _part(
        "Prompts",
        ("when", "by", "prompt"),
        [
            (local_time(one["at"]), one["harness"], one["prompt"])
            for one in reversed(audit["prompts"])
        ],
    )


def dead_end(one: Mapping[str, Any]) -> str:
    """What led nowhere, in words."""
    if one["what"] == "search":
        return f"{one['query']} ({one['kind']}) finds nothing"
    return f"an edit of {one['path']} was taken back"


def _part(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield title
    yield from _table(head, rows[:ROWS_MAX])
    if len(rows) > ROWS_MAX:
        yield f"and {len(rows) - ROWS_MAX:,} more: --json, --html"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Columns as wide as what is in them; numbers to the right, the last column as it comes."""
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
