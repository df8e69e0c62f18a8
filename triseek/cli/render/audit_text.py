"""An audit as tables: what each shows, and all of it as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from triseek.terminal.report_text import local_time, readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.app.audit import AuditReport

    Cell: TypeAlias = "int | str | Noted"

ROWS_MAX = 15
"""Most rows of a table; JSON and HTML have all."""
TEXT_MAX = 100
COUNTS = (
    "reads", "edits", "searches", "refused", "tokens_not_read", "prompts", "compactions",
)  # fmt: skip
"""Fields of counts."""


class Column(NamedTuple):
    """One column of a table."""

    field: str
    """The attribute to show; "" for the item itself."""
    kind: str = ""
    """n: a number, bar: one with a bar, t: a time, c: code, p: prose."""
    title: str = ""
    """If it is not the name of the field."""
    short: str | None = None
    """The title on a terminal if that is another; "" if the column is not shown there."""

    @property
    def name(self) -> str:
        """The title."""
        return self.title or self.field.replace("_", " ")


class Section(NamedTuple):
    """One table: a row for each item of a list of the audit."""

    title: str
    field: str
    columns: tuple[Column, ...]
    is_brief: bool = True
    """Shown on a terminal, too."""
    latest_last: bool = False
    """The list has its latest item last; a table has it first."""

    def rows(self, audit: AuditReport) -> list[list[Cell]]:
        """Return the cells of all rows."""
        items = getattr(audit, self.field)
        if self.latest_last:
            items = reversed(items)
        return [[_value(item, column) for column in self.columns] for item in items]


_AGENT, _BY = Column("harness", title="agent"), Column("by")
_ENTRY = Column("entry_id", "n", "entry")
_LAST, _WHEN = Column("last_at", "t", "last", ""), Column("at", "t", "when")
_COUNTS = tuple(Column(field, "n") for field in COUNTS)
_MOMENT = (_ENTRY._replace(short=""), _WHEN, _AGENT._replace(title="by"))
TABLES = (
    Section("Agents", "harnesses", (_AGENT, *_COUNTS), is_brief=False),
    Section("Conversations", "conversations",
            (_AGENT, Column("conversation", "c"), *_COUNTS), is_brief=False),
    Section("Sessions", "sessions",
            (Column("created_at", "t", "begun"), Column("session_id", "c", "session"),
             Column("status"), Column("entries", "n"), Column("goal", "p")), is_brief=False),
    Section("Files", "files",
            (Column("reads", "bar"), Column("edits", "n"), Column("refused", "n"),
             Column("tokens_not_read", "n"), _BY, Column("path", "c", "file", "path"), _LAST)),
    Section("Searches", "searches",
            (Column("times", "n"), Column("matches", "n"), _BY, Column("kind"),
             Column("query", "c"), _LAST)),
    Section("Dead ends", "dead_ends",
            (_ENTRY, _LAST._replace(field="at"), _BY, Column("", "c", "what led nowhere", "what"))),
    Section("Prompts", "prompts", (*_MOMENT, Column("prompt", "p")), latest_last=True),
    Section("Compactions", "compactions", (*_MOMENT, Column("source", "p")), is_brief=False,
            latest_last=True),
    Section("Kinds of entries", "kinds", (Column("times", "n"), Column("kind", "c")),
            is_brief=False),
)  # fmt: skip


class Noted(NamedTuple):
    """A cell with a note."""

    text: str
    note: str

    def __str__(self) -> str:
        return f"{self.text} ({self.note})"


def _value(item: object, column: Column) -> Cell:
    """Return a number, a text or a text with a note."""
    if not column.field:
        return str(item)
    value = getattr(item, column.field)
    if column.kind == "t":
        return local_time(value)
    if value is None:
        return "?"
    if column.field == "by":
        return ", ".join(value)
    if column.field == "path" and getattr(item, "taken_back", False):
        return Noted(value, "taken back")
    return value if isinstance(value, int) else str(value)


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
        ("", *(column.name for column in _COUNTS)),
        [(name, *(getattr(counts, field) for field in COUNTS)) for name, counts in people],
    )
    for table in TABLES:
        if table.is_brief and (rows := table.rows(audit)):
            yield from _part(table, rows)


def _part(table: Section, rows: list[list[Cell]]) -> Iterator[str]:
    shown = [at for at, column in enumerate(table.columns) if column.short != ""]
    head = [table.columns[at].short or table.columns[at].name for at in shown]
    yield ""
    yield table.title
    yield from _table(head, [[row[at] for at in shown] for row in rows[:ROWS_MAX]])
    if len(rows) > ROWS_MAX:
        yield f"and {len(rows) - ROWS_MAX:,} more: --json, --html"


def _table(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
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


def _cell(value: Cell, most: int) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    line = readable(" ".join(str(value)[: 4 * most].split()))
    return line if len(line) <= most else line[: most - 1] + "…"
