"""Reads the store of the MCP reference server, `@modelcontextprotocol/server-memory`.

It is one file of JSON lines: entities with a type and observations, and relations between them. It
has no times and no ids. An observation becomes a drawer, with its entity in front: alone it often
does not say what it is about. An entity's type and relations become facts.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from triseek.memory.exchange.records import DrawerRecord, FactRecord
from triseek.model.conversation import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.agents.payloads.fields import Fields
    from triseek.memory.exchange.records import Record

SOURCE = "mcp-server-memory"
IS_A = "is_a"
"""The predicate of an entity's type."""
_NAMESPACE = uuid.UUID("5a6b1f0e-8a44-4c39-9d6e-2f4f0b1f7c11")
"""Of the UUIDs that observations get: the same each time, so that nothing is imported twice."""


def is_store(first: Fields) -> bool:
    """Return whether an object is a line of such a store."""
    match first.get("type"):
        case "entity":
            return "name" in first
        case "relation":
            return "from" in first and "to" in first
        case _:
            return False


def records(lines: Iterable[tuple[str, Fields | Unreadable]], palace: str) -> Iterator[Record]:
    """Yield the records of the lines. palace: The name of the palace into which they go."""
    for where, fields in lines:
        if isinstance(fields, Unreadable):
            yield fields
        elif fields.get("type") == "entity":
            yield from _entity(where, fields, palace)
        elif fields.get("type") == "relation":
            yield _fact(where, fields.text("from"), fields.text("relationType"), fields.text("to"))
        else:
            yield Unreadable(where=where, reason="neither an entity nor a relation")


def _entity(where: str, fields: Fields, palace: str) -> Iterator[Record]:
    name, kind = fields.text("name"), fields.text("entityType")
    if not name:
        yield Unreadable(where=where, reason="the entity has no name")
        return
    if kind:
        yield _fact(where, name, IS_A, kind)
    observations = fields.get("observations")
    for number, text in enumerate(observations if isinstance(observations, list) else [], 1):
        place = f"{where}, observation {number:,}"
        if not isinstance(text, str):
            yield Unreadable(where=place, reason="not a text")
            continue
        key = f"{palace}\0{name}\0{text}".encode("utf-8", "replace").decode()
        yield DrawerRecord(
            where=place, uuid=str(uuid.uuid5(_NAMESPACE, key)), text=f"{name}: {text}",
            tags=(kind,) if kind else (), source=SOURCE,
        )  # fmt: skip


def _fact(where: str, subject: str, predicate: str, target: str) -> FactRecord:
    return FactRecord(
        where=where, subject=subject, predicate=predicate, object=target, provenance=SOURCE,
        multi=True,
    )  # fmt: skip
