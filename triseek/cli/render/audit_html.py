"""An audit as one page of HTML: no script, nothing fetched, light and dark, and fit to print."""

from __future__ import annotations

import html
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from triseek import __version__
from triseek.cli.render.audit_text import COUNTS, TABLES, Noted
from triseek.terminal.report_text import local_time, readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.app.audit import AuditReport
    from triseek.cli.render.audit_text import Cell, Section


def page(audit: AuditReport) -> str:
    """Return the whole page."""
    title = f"triseek audit: {audit.root}"
    style = Path(__file__).with_name("audit.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        # Whatever a log contains: nothing runs, nothing is fetched, nothing is sent.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(_body(audit))
        + f"\n<footer>triseek {__version__}. Times are this machine’s.</footer>\n"
        "</body>\n</html>\n"
    )


def _body(audit: AuditReport) -> Iterator[str]:
    totals = audit.totals
    yield f"<h1>{_text(audit.root)}</h1>"
    if totals.entries:
        span = f"{local_time(audit.first_at or 0)} to {local_time(audit.last_at or 0)}"
        yield f"<p>{totals.entries:,} entries, {span}</p>"
    else:
        yield "<p>Nothing was done.</p>"
    if audit.omitted["entries"]:
        yield f"<p>{audit.omitted['entries']:,} older entries are not in the snapshot.</p>"
    yield '<ul class="sums">'
    sums = ((name, name.replace("_", " ")) for name in (*COUNTS, "files_read", "files_edited"))
    yield from (f"<li><b>{getattr(totals, n):,}</b><span>{title}</span></li>" for n, title in sums)
    yield "</ul>"
    for table in TABLES:
        if rows := table.rows(audit):
            yield from _table(table, rows)


def _table(table: Section, rows: list[list[Cell]]) -> Iterator[str]:
    kinds = [column.kind for column in table.columns]
    most = max((value for value, *_ in rows if isinstance(value, int)), default=0) or 1
    yield f"<h2>{table.title} <small>({len(rows):,})</small></h2>"
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(
        f'<th scope="col"{_class("n" if kind in ("n", "bar") else "")}>{column.name}</th>'
        for column, kind in zip(table.columns, kinds, strict=True)
    )
    yield "</tr></thead><tbody>"
    yield from (f"<tr>{''.join(map(_td, row, kinds, repeat(most)))}</tr>" for row in rows)
    yield "</tbody></table></div>"


def _td(value: Cell, kind: str, most: int) -> str:
    """Return a cell. most: the longest bar."""
    if isinstance(value, int):
        if kind == "bar":
            return f'<td class="n bar" style="--share: {100 * value // most}%">{value:,}</td>'
        return f'<td class="n">{value:,}</td>'
    note = f' <span class="mark">{value.note}</span>' if isinstance(value, Noted) else ""
    text = value.text if isinstance(value, Noted) else str(value)
    return f"<td{_class(kind)}>{_text(text)}{note}</td>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _text(text: str) -> str:
    """Return a text as HTML, its control characters and those that reverse a line escaped."""
    return html.escape(readable(text.replace("\t", " ")))
