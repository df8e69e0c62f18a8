"""An audit as one page of HTML: no script, nothing fetched, light and dark, and fit to print."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from triseek import __version__
from triseek.cli.render.audit_text import COUNTS
from triseek.terminal.report_text import local_time, readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from triseek.app.audit import AuditCounts, AuditReport

_STYLE = """\
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --back: #fff;
  --head: #f6f8fa; --bar: #b6d4fe; --mark: #9a3412 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --back: #0d1117; --head: #161b22; --bar: #1f4a7a; --mark: #ffb88a } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 72rem; color: var(--ink);
  background: var(--back); font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 1.35rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.05rem; margin: 2.2rem 0 .6rem }
p { margin: .25rem 0; color: var(--soft) }
ul.sums { list-style: none; display: flex; flex-wrap: wrap; gap: .75rem; padding: 0;
  margin: 1.4rem 0 }
ul.sums li { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem;
  min-width: 7rem }
ul.sums b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums }
ul.sums span { color: var(--soft); font-size: .85rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem;
  border-bottom: 1px solid var(--line) }
th { background: var(--head); font-weight: 600; white-space: nowrap }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td.t { white-space: nowrap; color: var(--soft) }
td.c { font-family: ui-monospace, monospace; font-size: .85rem; overflow-wrap: anywhere;
  min-width: 14rem }
td.p { white-space: pre-wrap; overflow-wrap: anywhere }
.mark { color: var(--mark); font-family: system-ui, sans-serif }
.bar { background: linear-gradient(to left, var(--bar) var(--share), transparent var(--share))
  no-repeat bottom / 100% 4px }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem }
@media print { :root { color-scheme: light; --ink: #000; --soft: #333; --line: #999; --back: #fff;
  --head: #eee; --bar: #ddd; --mark: #000 }
  body { max-width: none; padding: 0; font-size: 10pt } .wide { overflow: visible }
  table { font-size: 8pt } th, td.t { white-space: normal } td.c { min-width: 0; font-size: 8pt }
  th, td { padding: .2rem .35rem; overflow-wrap: anywhere }
  td:first-child:not(.n) { min-width: 7em }
  thead { display: table-header-group } tr { break-inside: avoid } h2 { break-after: avoid } }
"""


def page(audit: AuditReport) -> str:
    """Return the whole page."""
    title = f"triseek audit: {_plain(audit.root)}"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        # Whatever a log contains: nothing runs, nothing is fetched, nothing is sent.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_escaped(title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(_body(audit))
        + f"\n<footer>triseek {_escaped(__version__)}. Times are this machine’s.</footer>\n"
        "</body>\n</html>\n"
    )


def _body(audit: AuditReport) -> Iterator[str]:
    totals = audit.totals
    yield f"<h1>{_escaped(_plain(audit.root))}</h1>"
    if totals.entries:
        span = f"{local_time(audit.first_at or 0)} to {local_time(audit.last_at or 0)}"
        yield f"<p>{totals.entries:,} entries, {span}</p>"
    else:
        yield "<p>Nothing was done.</p>"
    if audit.omitted["entries"]:
        yield f"<p>{audit.omitted['entries']:,} older entries are not in the snapshot.</p>"
    yield '<ul class="sums">'
    sums = (*COUNTS, ("files_read", "files read"), ("files_edited", "files edited"))
    yield from (f"<li><b>{getattr(totals, n):,}</b><span>{title}</span></li>" for n, title in sums)
    yield "</ul>"
    yield from _people(audit)
    yield from _sessions(audit)
    yield from _files(audit)
    yield from _searches(audit)
    yield from _rest(audit)


def _people(audit: AuditReport) -> Iterator[str]:
    heads = [(title, "n") for _, title in COUNTS]
    rows = [[_td(group.harness), *_counts(group)] for group in audit.harnesses]
    yield from _table("Agents", [("agent", ""), *heads], rows)
    rows = [
        [_td(group.harness), _td(group.conversation, "c"), *_counts(group)]
        for group in audit.conversations
    ]
    yield from _table("Conversations", [("agent", ""), ("conversation", ""), *heads], rows)


def _sessions(audit: AuditReport) -> Iterator[str]:
    rows = [
        [_td(local_time(item.created_at), "t"), _td(item.session_id, "c"),
         _td(item.status), _td(item.entries), _td(item.goal, "p")]
        for item in audit.sessions
    ]  # fmt: skip
    heads = [("begun", ""), ("session", ""), ("status", ""), ("entries", "n"), ("goal", "")]
    yield from _table("Sessions", heads, rows)


def _files(audit: AuditReport) -> Iterator[str]:
    most = max((file.reads for file in audit.files), default=0) or 1
    rows = []
    for file in audit.files:
        note = ' <span class="mark">taken back</span>' if file.taken_back else ""
        share = f' style="--share: {100 * file.reads // most}%"'
        rows.append(
            [f'<td class="n bar"{share}>{file.reads:,}</td>', _td(file.edits),
             _td(file.refused), _td(file.tokens_not_read), _td(", ".join(file.by)),
             f'<td class="c">{_escaped(_plain(file.path))}{note}</td>',
             _td(local_time(file.last_at), "t")]
        )  # fmt: skip
    heads = [("reads", "n"), ("edits", "n"), ("refused", "n"), ("tokens not read", "n"),
             ("by", ""), ("file", ""), ("last", "")]  # fmt: skip
    yield from _table("Files", heads, rows)


def _searches(audit: AuditReport) -> Iterator[str]:
    rows = [
        [_td(search.times), _td("?" if search.matches is None else search.matches, "n"),
         _td(", ".join(search.by)), _td(search.kind), _td(search.query, "c"),
         _td(local_time(search.last_at), "t")]
        for search in audit.searches
    ]  # fmt: skip
    heads = [("times", "n"), ("matches", "n"), ("by", ""), ("kind", ""), ("query", ""),
             ("last", "")]  # fmt: skip
    yield from _table("Searches", heads, rows)


def _rest(audit: AuditReport) -> Iterator[str]:
    rows = [
        [_td(item.entry_id), _td(local_time(item.at), "t"), _td(", ".join(item.by)),
         _td(str(item), "c")]
        for item in audit.dead_ends
    ]  # fmt: skip
    heads = [("entry", "n"), ("last", ""), ("by", ""), ("what led nowhere", "")]
    yield from _table("Dead ends", heads, rows)
    for title, name, field in (("Prompts", "prompts", "prompt"),
                              ("Compactions", "compactions", "source")):  # fmt: skip
        rows = [
            [_td(item.entry_id), _td(local_time(item.at), "t"), _td(item.harness),
             _td(getattr(item, field), "p")]
            for item in reversed(getattr(audit, name))
        ]  # fmt: skip
        yield from _table(title, [("entry", "n"), ("when", ""), ("by", ""), (field, "")], rows)
    rows = [[_td(item.times), _td(item.kind, "c")] for item in audit.kinds]
    yield from _table("Kinds of entries", [("times", "n"), ("kind", "")], rows)


def _table(
    title: str, heads: Sequence[tuple[str, str]], rows: Sequence[Iterable[str]]
) -> Iterator[str]:
    if not rows:
        return
    yield f"<h2>{title} <small>({len(rows):,})</small></h2>"
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(f'<th scope="col"{_class(kind)}>{_escaped(name)}</th>' for name, kind in heads)
    yield "</tr></thead><tbody>"
    yield from (f"<tr>{''.join(row)}</tr>" for row in rows)
    yield "</tbody></table></div>"


def _counts(group: AuditCounts) -> Iterator[str]:
    return (_td(getattr(group, name)) for name, _ in COUNTS)


def _td(value: object, kind: str = "") -> str:
    if isinstance(value, int):
        return f'<td class="n">{value:,}</td>'
    return f"<td{_class(kind)}>{_escaped(_plain(str(value)))}</td>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _plain(text: str) -> str:
    """Escape control characters, which HTML cannot represent, and those that reverse a line."""
    return readable(text.replace("\t", " "))


def _escaped(text: str) -> str:
    return html.escape(text, quote=True)
