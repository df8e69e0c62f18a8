"""`triseek memory recall|list|show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from triseek.memory.commands import showing
from triseek.memory.commands.calling import (
    NOTHING_KEPT,
    Drawer,
    Palace,
    Room,
    Since,
    Tag,
    drawer_named,
    opened,
    palace_to_change,
    palace_to_read,
    since_ms,
)
from triseek.model.moment import rfc3339
from triseek.model.plain_text import visible_line
from triseek.terminal import report_text, status
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.memory.service import Recalled
    from triseek.terminal.command_context import CommandContext

NOT_FOUND = "Nothing was found."


def recall(
    context: CommandContext,
    query: Annotated[list[str], Argument("QUERY", "Words, or a question.")],
    palace: Palace = "",
    room: Room = "",
    tag: Tag = "",
    since: Since = "",
    limit: Annotated[int, Option("N", "Results, at most 100.", least=1, most=100)] = 10,
    deep: Annotated[bool, Option("", "Search superseded drawers, too.")] = False,
    essentials: Annotated[
        bool, Option("", "Print the identity and the most important drawers, too.")
    ] = False,
    json: Json = False,
) -> int:
    """Find what was remembered, the best answer first.

    Exit status 1: nothing was found.

    Examples: triseek memory recall how do we deploy · triseek memory recall staging --room Backend
    --since 30d · triseek memory recall token expiry --json
    """
    words = " ".join(query)
    with opened(context) as memory:
        name = palace_to_read(memory, context, palace)
        if not name:
            return _nothing(context, {"palace": None, "query": words, "results": []}, json=json)
        recalled = memory.recall(
            name, words, limit, room=room, tag=tag, since_ms=since_ms(since), deep=deep
        )
    if json:
        results = [{**showing.document(hit.drawer), "score": hit.score} for hit in recalled.hits]
        beside = {
            "identity": recalled.identity,
            "essentials": [showing.document(drawer) for drawer in recalled.essentials],
        }
        document = {
            "palace": name, "query": words, "lane": recalled.lane, "results": results,
            "context": beside,
        }  # fmt: skip
        context.print(report_text.as_json(document))
    else:
        lines = [*(_beside(recalled) if essentials else ()), *_hits(recalled)]
        context.print(report_text.readable("\n".join(lines)))
    return status.FOUND if recalled.hits else status.NOTHING


def list_(
    context: CommandContext,
    palace: Palace = "",
    room: Room = "",
    tag: Tag = "",
    since: Since = "",
    limit: Annotated[int, Option("N", "Drawers, at most 1,000.", least=1, most=1000)] = 50,
    forgotten: Annotated[bool, Option("", "Those that `restore` can bring back.")] = False,
    json: Json = False,
) -> int:
    """List what is remembered, the most important first.

    Exit status 1: there is nothing.

    Examples: triseek memory list · triseek memory list --tag auth --since 30d ·
    triseek memory list --forgotten
    """
    with opened(context) as memory:
        name = palace_to_read(memory, context, palace)
        if not name:
            return _nothing(context, {"palace": None, "drawers": []}, json=json)
        if forgotten:
            drawers = memory.forgotten(name, limit)
        else:
            drawers = memory.listed(name, room=room, tag=tag, since_ms=since_ms(since), limit=limit)
    if json:
        documents = [showing.document(drawer) for drawer in drawers]
        context.print(report_text.as_json({"palace": name, "drawers": documents}))
    else:
        lines = list(showing.listing(drawers, context.width if context.terminal else 120))
        context.print(report_text.readable("\n".join(lines) or NOT_FOUND))
    return status.FOUND if drawers else status.NOTHING


def show(context: CommandContext, drawer: Drawer, palace: Palace = "", json: Json = False) -> int:
    """Print a drawer whole: its text, when and where it was written, and its earlier texts.

    Examples: triseek memory show 0f9c2d1a · triseek memory show 0f9c2d1a --json
    """
    with opened(context) as memory:
        name = palace_to_change(memory, context, palace)
        entry = memory.drawer(name, drawer_named(memory, name, drawer))
        earlier = memory.earlier(entry)
    if json:
        texts = [{"content": text, "until": rfc3339(until)} for text, until in earlier]
        document = {"palace": name, **showing.document(entry), "earlier": texts}
        context.print(report_text.as_json(document))
        return status.FOUND
    lines = [
        f"{entry.uuid}  palace {name}, room {visible_line(entry.room)}",
        f"written {rfc3339(entry.created_ms)}, importance {entry.importance:g}",
        *([f"tags: {', '.join(map(visible_line, entry.tags))}"] if entry.tags else ()),
        *([f"source: {visible_line(entry.source)}"] if entry.source else ()),
        "",
        entry.text,
    ]
    for text, until in reversed(earlier):
        lines += ["", f"Until {rfc3339(until)}:", text]
    context.print(report_text.readable("\n".join(lines)))
    return status.FOUND


def _nothing(context: CommandContext, document: object, *, json: bool) -> int:
    context.print(report_text.as_json(document) if json else NOTHING_KEPT)
    return status.NOTHING


def _hits(recalled: Recalled) -> Iterator[str]:
    if not recalled.hits:
        yield NOT_FOUND
    for number, hit in enumerate(recalled.hits, 1):
        yield f"{number:2}. {showing.head(hit.drawer)}"
        yield from showing.body(hit.drawer)


def _beside(recalled: Recalled) -> Iterator[str]:
    if recalled.identity:
        yield from (recalled.identity, "")
    for drawer in recalled.essentials:
        yield f" *  {showing.head(drawer)}"
        yield from showing.body(drawer)
    if recalled.essentials:
        yield ""
