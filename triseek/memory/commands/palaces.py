"""`triseek memory palaces|identity|stats`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

from triseek.errors import InvalidRequest
from triseek.memory import inventory
from triseek.memory.commands.calling import (
    NOTHING_KEPT,
    Palace,
    only_here,
    opened,
    palace_to_change,
    palace_to_read,
    palace_to_write,
    root_of,
    text_of,
)
from triseek.model.moment import rfc3339
from triseek.model.plain_text import counted, visible_line
from triseek.terminal import report_text, status
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.memory.inventory import Counts
    from triseek.memory.service import Memory
    from triseek.terminal.command_context import CommandContext


def palaces(
    context: CommandContext,
    create: Annotated[str, Option("NAME", "Make a palace.")] = "",
    description: Annotated[str, Option("TEXT", "What the new palace is for.")] = "",
    use: Annotated[str, Option("NAME", "Make it the palace of this folder's repository.")] = "",
    delete: Annotated[str, Option("NAME", "Delete a palace with everything in it.")] = "",
    yes: Annotated[bool, Option("", "Do not ask back before --delete.")] = False,
    json: Json = False,
) -> int:
    """List the palaces, or make, choose or delete one. * marks that of this folder's repository.

    A repository's palace is made when something is remembered in it.

    Examples: triseek memory palaces · triseek memory palaces --create team-notes ·
    triseek memory palaces --use team-notes · triseek memory palaces --delete team-notes --yes
    """
    if sum(map(bool, (create, use, delete))) > 1:
        raise InvalidRequest("--create, --use and --delete do not go together")
    if not (create or use or delete):
        return _list(context, json=json)
    only_here(context)
    with opened(context) as memory:
        if create:
            document = _created(memory, create, description)
        elif use:
            memory.use(use, root_of(context))
            document = {"palace": use, "status": "used", "root": root_of(context)}
        else:
            document = _deleted(memory, delete, is_sure=yes)
    line = " ".join(visible_line(str(document[key])) for key in ("palace", "status"))
    context.print(report_text.as_json(document) if json else line)
    return status.FOUND


def identity(
    context: CommandContext,
    text: Annotated[
        list[str] | None, Argument("TEXT", "What is said of the project; - reads it from stdin.")
    ] = None,
    clear: Annotated[bool, Option("", "Remove it.")] = False,
    palace: Palace = "",
    json: Json = False,
) -> int:
    """Print or write what agents are told of a project before everything else.

    Exit status 1: there is none.

    Examples: triseek memory identity · triseek memory identity 'A web shop: Flask, PostgreSQL' ·
    triseek memory identity - < docs/summary.txt
    """
    if text and clear:
        raise InvalidRequest("pass a text or --clear, not both")
    if text or clear:
        only_here(context)
        written = text_of(context, text) if text else ""
        with opened(context) as memory:
            name = palace_to_write(memory, context, palace)
            memory.set_identity(name, written)
            kept = memory.info(name).identity
    else:
        with opened(context) as memory:
            name = palace_to_read(memory, context, palace)
            kept = memory.info(name).identity if name else ""
    document = {"palace": name or None, "identity": kept}
    line = kept or ("There is no identity." if name else NOTHING_KEPT)
    context.print(report_text.as_json(document) if json else report_text.readable(line))
    return status.FOUND if kept or clear else status.NOTHING


def stats(context: CommandContext, palace: Palace = "", json: Json = False) -> int:
    """Count what is kept: drawers, rooms, facts, what was forgotten, and the size on disk.

    Examples: triseek memory stats · triseek memory stats --palace shop --json
    """
    with opened(context) as memory:
        entries: Sequence[Counts] = ()
        if memory.exists():
            if palace:
                palace_to_change(memory, context, palace)
                memory.info(palace)
            with memory.database.read() as connection:
                entries = inventory.counts(connection)
        size = inventory.size(memory)
    entries = [entry for entry in entries if palace in ("", entry.palace)]
    if json:
        counts = [dataclasses.asdict(entry) for entry in entries]
        context.print(report_text.as_json({"bytes": size, "palaces": counts}))
    else:
        lines = [*_counts(entries), f"{report_text.human_size(size)} on disk"]
        context.print(report_text.readable("\n".join(lines) if entries else NOTHING_KEPT))
    return status.FOUND


def _list(context: CommandContext, *, json: bool) -> int:
    with opened(context) as memory:
        infos = [memory.info(name) for name in memory.palaces()] if memory.exists() else []
        here = palace_to_read(memory, context, "")
    if json:
        documents = [
            {
                "name": info.name, "description": info.description, "drawers": info.drawers,
                "facts": info.triples, "created_at": rfc3339(info.created_ms),
                "is_here": info.name == here,
            }
            for info in infos
        ]  # fmt: skip
        context.print(report_text.as_json({"palaces": documents}))
        return status.FOUND if infos else status.NOTHING
    column = max((len(info.name) for info in infos), default=0)
    lines = []
    for info in infos:
        mark = "*" if info.name == here else " "
        sizes = f"{counted(info.drawers, 'drawer'):>14}  {counted(info.triples, 'fact'):>12}"
        line = f"{mark} {info.name:{column}}  {sizes}  {visible_line(info.description)}"
        lines.append(line.rstrip())
    context.print(report_text.readable("\n".join(lines) or NOTHING_KEPT))
    return status.FOUND if infos else status.NOTHING


def _created(memory: Memory, name: str, description: str) -> dict[str, Any]:
    is_new = memory.create(name, description)
    return {"palace": name, "status": "created" if is_new else "exists"}


def _deleted(memory: Memory, name: str, *, is_sure: bool) -> dict[str, Any]:
    info = memory.info(name)
    if not is_sure:
        content = f"{counted(info.drawers, 'drawer')} and {counted(info.triples, 'fact')}"
        raise InvalidRequest(
            f"palace {name!r} holds {content}, which cannot be brought back",
            next_step=f"Export it first: `triseek memory export --palace {name!r} FILE`; then say"
            " --yes.",
        )
    return {"palace": name, "status": "deleted", "drawers": memory.delete_palace(name)}


def _counts(entries: Sequence[Counts]) -> Iterator[str]:
    for entry in entries:
        parts = [counted(entry.drawers, "drawer"), counted(entry.facts, "fact")]
        for count, name in (
            (entry.ended_facts, "ended"), (entry.superseded, "superseded"),
            (entry.forgotten, "forgotten"), (entry.embedded, "embedded"),
        ):  # fmt: skip
            if count:
                parts.append(f"{count:,} {name}")
        yield f"{entry.palace}: {', '.join(parts)}"
        if entry.root:
            yield f"  {visible_line(entry.root)}"
        if entry.rooms:
            rooms = [f"{visible_line(room)} {count:,}" for room, count in entry.rooms.items()]
            yield f"  {', '.join(rooms[:12])}"
