"""How drawers and facts are printed, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.model.moment import rfc3339
from triseek.model.plain_text import clipped, visible_line
from triseek.terminal import report_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.memory.drawers import Drawer
    from triseek.memory.graph import Triple

SHORT = 8
"""Characters of an id that are shown; `calling.drawer_named` takes them."""
LINES = 8
"""Lines of a drawer that `recall` prints; `show` prints all."""
ROOM_MAX = 16
"""Columns of a room's name in a list."""


def document(drawer: Drawer) -> dict[str, Any]:
    """Return a drawer for JSON, under the names that the tools use."""
    return {
        "drawer_id": drawer.uuid,
        "content": drawer.text,
        "room": drawer.room,
        "tags": list(drawer.tags),
        "importance": drawer.importance,
        "source": drawer.source or None,
        "created_at": rfc3339(drawer.created_ms),
        "updated_at": rfc3339(drawer.updated_ms),
    }


def listing(drawers: Sequence[Drawer], width: int) -> Iterator[str]:
    """Yield a line of each drawer, aligned and cut to the width."""
    rooms = [clipped(visible_line(drawer.room), ROOM_MAX) for drawer in drawers]
    column = max(map(len, rooms), default=0)
    for drawer, room in zip(drawers, rooms, strict=True):
        line = f"{drawer.uuid[:SHORT]}  {day(drawer.created_ms)}  {room:{column}}  "
        yield line + clipped(
            visible_line(" ".join(drawer.text.split())), max(20, width - len(line))
        )


def head(drawer: Drawer) -> str:
    """Return the line above a drawer's text: when it was written, where it is, its tags."""
    tags = "".join(f" #{visible_line(tag)}" for tag in drawer.tags)
    when = report_text.local_time(drawer.created_ms / 1000)
    return f"{when}  {visible_line(drawer.room)}  {drawer.uuid[:SHORT]} {tags}".rstrip()


def body(drawer: Drawer, most: int = LINES) -> Iterator[str]:
    """Yield the lines of a drawer's text, indented; at most so many."""
    lines = drawer.text.splitlines()
    yield from (f"    {line}" for line in lines[:most])
    if len(lines) > most:
        left = len(lines) - most
        yield f"    … {left:,} more lines: triseek memory show {drawer.uuid[:SHORT]}"


def facts(triples: Sequence[Triple]) -> Iterator[str]:
    """Yield a line of each fact."""
    for triple in triples:
        names = (triple.subject, triple.predicate, triple.object)
        end = "" if triple.valid_to is None else f" until {_minute(triple.valid_to)}"
        more = "" if triple.confidence == 1 else f", confidence {triple.confidence:g}"
        more += f", from {visible_line(triple.provenance)}" if triple.provenance else ""
        fact = "  ".join(map(visible_line, names))
        yield f"{fact}  (since {_minute(triple.valid_from)}{end}{more})"


def day(time_ms: int) -> str:
    """Return the local day of a time."""
    return report_text.local_time(time_ms / 1000)[:10]


def _minute(time_ms: int) -> str:
    return report_text.local_time(time_ms / 1000)
