"""`triseek memory remember|update|forget|restore`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from triseek.memory import names
from triseek.memory.commands.calling import (
    Drawer,
    Palace,
    Text,
    drawer_named,
    only_here,
    opened,
    palace_to_change,
    palace_to_write,
    share,
    text_of,
)
from triseek.memory.commands.showing import SHORT
from triseek.memory.drawers import Draft
from triseek.memory.limits import IMPORTANCE
from triseek.model.plain_text import visible_line
from triseek.terminal import report_text, status
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from triseek.terminal.command_context import CommandContext

Drawers = Annotated[list[str], Argument("ID…", "Ids of drawers, or the beginnings of them.")]


def remember(
    context: CommandContext,
    text: Text,
    room: Annotated[str, Option("NAME", "Its room; General if none.")] = "",
    tag: Annotated[list[str] | None, Option("NAME", "A tag; may be given several times.")] = None,
    importance: Annotated[str, Option("SHARE", "From 0 to 1; 0.5 if none.")] = "",
    source: Annotated[str, Option("TEXT", "Where it comes from, as a path.")] = "",
    palace: Palace = "",
    json: Json = False,
) -> int:
    """Keep a fact, a decision or a trap for later sessions.

    Examples: triseek memory remember 'Staging is reset every night' --room Backend --tag ops ·
    git log -1 --format=%B | triseek memory remember -
    """
    only_here(context)
    draft = Draft(
        text=text_of(context, text), room=room, tags=tag or (), source=source,
        importance=share(importance, "importance", IMPORTANCE),
    )  # fmt: skip
    names.text(draft.text)  # before a palace is made for it
    with opened(context) as memory:
        name = palace_to_write(memory, context, palace)
        drawer = memory.remember(name, draft)
    if json:
        document = {
            "drawer_id": drawer.uuid, "palace": name, "status": "stored", "room": drawer.room,
            "tags": list(drawer.tags),
        }  # fmt: skip
        context.print(report_text.as_json(document))
    else:
        place = f"palace {name}, room {visible_line(drawer.room)}"
        context.print(f"remembered {drawer.uuid[:SHORT]} in {place}")
    return status.FOUND


def update(
    context: CommandContext, drawer: Drawer, text: Text, palace: Palace = "", json: Json = False
) -> int:
    """Replace the text of a drawer; the text before is kept with it.

    Example: triseek memory update 0f9c2d1a 'Staging is reset every Monday'
    """
    only_here(context)
    words = text_of(context, text)
    with opened(context) as memory:
        name = palace_to_change(memory, context, palace)
        entry = memory.update(name, drawer_named(memory, name, drawer), words)
    document = {"drawer_id": entry.uuid, "palace": name, "status": "updated"}
    context.print(report_text.as_json(document) if json else f"updated {entry.uuid[:SHORT]}")
    return status.FOUND


def forget(
    context: CommandContext,
    drawers: Drawers,
    purge: Annotated[bool, Option("", "Delete at once, so that nothing can be restored.")] = False,
    palace: Palace = "",
    json: Json = False,
) -> int:
    """Forget drawers. They can be restored for 30 days, and are deleted then.

    Exit status 1: one of them was forgotten already.

    Examples: triseek memory forget 0f9c2d1a · triseek memory forget 0f9c2d1a --purge
    """
    return _each(context, drawers, palace, "purge" if purge else "forget", json=json)


def restore(
    context: CommandContext, drawers: Drawers, palace: Palace = "", json: Json = False
) -> int:
    """Bring back drawers that were forgotten.

    Exit status 1: one of them was not forgotten. `triseek memory list --forgotten` lists them.

    Example: triseek memory restore 0f9c2d1a
    """
    return _each(context, drawers, palace, "restore", json=json)


_DONE = {"forget": "deleted", "purge": "purged", "restore": "restored"}
_SAID = {
    "deleted": "forgot {0}; triseek memory restore {0} brings it back",
    "purged": "deleted {0}",
    "restored": "restored {0}",
    "not_found": "{0} was forgotten already",
    "not_forgotten": "{0} was not forgotten",
}


def _each(
    context: CommandContext, drawers: list[str], palace: str, action: str, *, json: bool
) -> int:
    """Forget, delete or restore drawers; nothing is done if one of the ids is wrong."""
    only_here(context)
    outcomes = {}
    with opened(context) as memory:
        name = palace_to_change(memory, context, palace)
        for drawer in [drawer_named(memory, name, beginning) for beginning in drawers]:
            if action == "restore":
                is_done = memory.restore(name, drawer)
            else:
                is_done = memory.forget(name, drawer, purges=action == "purge")
            missing = "not_forgotten" if action == "restore" else "not_found"
            outcomes[drawer] = _DONE[action] if is_done else missing
    if json:
        documents = [{"drawer_id": drawer, "status": said} for drawer, said in outcomes.items()]
        context.print(report_text.as_json({"palace": name, "drawers": documents}))
    else:
        for drawer, outcome in outcomes.items():
            context.print(_SAID[outcome].format(drawer[:SHORT]))
    is_all_done = set(outcomes.values()) == {_DONE[action]}
    return status.FOUND if is_all_done else status.NOTHING
