"""The text of a timeline: days, tables of observations, and sessions and prompts between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.history.formats.lists import remarks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ICONS = {
    "bugfix": "🔴", "feature": "🟣", "refactor": "🔄", "change": "✅", "discovery": "🔵",
    "decision": "🧠",
}  # fmt: skip
_LEGEND = " | ".join(("🎯 session-request", *(f"{icon} {name}" for name, icon in ICONS.items())))
_TABLE = ("**General**", "| ID | Time | T | Title | Tokens |", "|----|------|---|-------|--------|")
_ANCHOR = " ← **ANCHOR**"
_STALE = frozenset(("MOVED", "STALE", "GONE"))


def lines(arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a timeline."""
    before, after, items = answer["before"], answer["after"], answer["items"]
    window = f"{before} records before → {after} records after"
    if not items:
        around = f"{answer['date']} ({answer['timezone']})"
        yield f"No context found around {around} ({window.replace(' →', ',')})"
        return
    if "query" in answer:
        yield f'# Timeline for query: "{answer["query"]}"'
        yield f"**Anchor:** {answer['anchor']}"
    else:
        yield f"# Timeline around anchor: {answer['anchor']}"
    kinds = [item["kind"] for item in items]
    counts = ", ".join(
        f"{kinds.count(kind)} {name}"
        for kind, name in (("observation", "obs"), ("session", "sessions"), ("prompt", "prompts"))
    )
    yield f"**Window:** {window} | **Items:** {len(items)} ({counts})"
    yield from remarks(arguments, answer, 1)
    yield ""
    yield f"**Legend:** {_LEGEND}"
    yield from _days(items)


def _days(items: list[Mapping[str, Any]]) -> Iterator[str]:
    day, in_table, minute = None, False, ""
    for item in items:
        if item["day"] != day:
            day, in_table = item["day"], False
            yield ""
            yield f"### {day}"
        if item["kind"] != "observation":
            in_table = False
            yield ""
            yield from _heading(item)
            continue
        if not in_table:
            in_table, minute = True, ""
            yield ""
            yield from _TABLE
        yield _row(item, item["time"] == minute)
        minute = item["time"]


def _heading(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a session or a prompt."""
    when = f"{item['day']} {item['time']}".strip()
    anchor = _ANCHOR if item["is_anchor"] else ""
    if item["kind"] == "session":
        address = f"claude-mem://session-summary/{item['id']}"
        yield f"**🎯 #S{item['id']}** {item['title']} ({when}) [→]({address}){anchor}"
        return
    yield f"**💬 User Prompt #{item['number']}** ({when}){anchor}"
    yield f"> {item['title']}"


def _row(item: Mapping[str, Any], is_same_minute: bool) -> str:
    mark = item.get("freshness", "")
    icon = ICONS.get(item["type"], "•") + (f" {mark}" if mark in _STALE else "")
    title = cell(item["title"]) + (_ANCHOR if item["is_anchor"] else "")
    time = "″" if is_same_minute else item["time"]
    return f"| #{item['id']} | {time} | {icon} | {title} | ~{item['tokens']} |"


def cell(text: str) -> str:
    """Return a text as it stands for itself in a cell of a Markdown table."""
    line = " ".join(text.replace("\\", "\\\\").split())
    for character in "|`<":
        line = line.replace(character, f"\\{character}")
    return line
