"""`triseek history stats`: how much is kept, and the year as a heat map."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from triseek.errors import StateUnwritable
from triseek.history.browsing.activity import today
from triseek.history.commands.calling import call
from triseek.history.consent import NOTHING_KEPT
from triseek.history.heat_map import text
from triseek.history.heat_map.layout import layout
from triseek.model.plain_text import visible_line
from triseek.terminal import report_text, status
from triseek.terminal.command_context import NeedsClient
from triseek.terminal.plain_words import Json, Option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from triseek.history.heat_map.layout import HeatMap
    from triseek.terminal.command_context import CommandContext

Plain = Annotated[bool, Option("", "Draw with ASCII, without colour.")]
Png = Annotated[str, Option("FILE", "Write a picture to this file.")]


def stats(context: CommandContext, json: Json = False, plain: Plain = False, png: Png = "") -> int:
    """Show how much is kept, by agent and project, and the year as a heat map.

    Examples: triseek history stats · triseek history stats --png year.png ·
    triseek history stats --json
    """
    if png and context.is_remote:
        raise NeedsClient("file")
    reply = call("stats", {}, context)
    heat = layout(reply["days"], today())
    if png:
        _write_png(png, reply, heat)
    if json:
        context.print(report_text.as_json(reply))
        return status.FOUND
    if png:
        context.print(report_text.readable(f"Wrote {png}"))
        return status.FOUND
    context.print(report_text.readable("\n".join(_lines(reply))))
    if heat.total:
        context.print("")
        context.print("\n".join(_heat_lines(context, heat, is_plain=plain)))
    return status.FOUND


def _write_png(target: str, reply: Mapping[str, Any], heat: HeatMap) -> None:
    from triseek.history.heat_map import poster
    from triseek.store import atomic

    agents = [poster.Bar(entry["agent"], entry["messages"]) for entry in reply["agents"]]
    projects = [poster.Bar(name or "(no project)", count) for name, count in reply["projects"]]
    picture = poster.draw(heat, sorted(agents, key=lambda bar: -bar.amount), projects)
    place = Path(os.path.abspath(target))
    try:
        if place.exists() and not place.is_file():  # a device would be replaced by a file
            raise StateUnwritable(f"cannot write {target}: it is no file")
        atomic.write(place, picture)
    except OSError as error:
        raise StateUnwritable(f"cannot write {target}: {error.strerror}") from error


def _heat_lines(context: CommandContext, heat: HeatMap, *, is_plain: bool) -> Iterator[str]:
    """Yield the heat map as this terminal can take it."""
    try:
        text.BLOCKS.encode(context.encoding)
    except (UnicodeEncodeError, LookupError):
        is_plain = True
    is_colored = not is_plain and context.terminal and not context.plain
    return text.lines(heat, width=context.width, is_plain=is_plain, is_colored=is_colored)


def _lines(reply: Mapping[str, Any]) -> Iterator[str]:
    if not reply["agents"]:
        yield NOTHING_KEPT
        return
    yield "agent        conversations    messages  tool uses  from        to"
    for entry in reply["agents"]:
        yield (
            f"{entry['agent']:12} {entry['conversations']:13,} {entry['messages']:11,}"
            f" {entry['events']:10,}  {_day(entry['first_ms']):10}  {_day(entry['last_ms'])}"
        )
    yield from ("", "conversations by project")
    for name, count in reply["projects"]:
        yield f"{count:7,}  {visible_line(name) or '(no project)'}"
    if reply["sources_gone"]:
        yield ""
        yield f"{reply['sources_gone']:,} files are kept here that the agents have deleted"


def _day(time_ms: int) -> str:
    return report_text.local_time(time_ms / 1000)[:10] if time_ms else "(no time)"
