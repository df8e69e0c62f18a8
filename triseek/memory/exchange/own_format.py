"""Reads an export of this memory. It comes from outside: every field may have any type."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from triseek.errors import FormatTooNew, InvalidRequest
from triseek.memory.exchange.exporting import FORMAT, VERSION
from triseek.memory.exchange.records import DrawerRecord, FactRecord, PalaceRecord
from triseek.memory.exchange.times import milliseconds
from triseek.memory.limits import IMPORTANCE
from triseek.model.conversation import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.agents.payloads.fields import Fields
    from triseek.memory.exchange.records import Record

PATH_MAX = 4_096
"""Characters of a path."""
EARLIER_MAX = 1_000
"""Earlier texts of a drawer that are read."""


def is_header(first: Fields) -> bool:
    """Return whether an object is the first line of an export."""
    return first.get("format") == FORMAT


def check_version(first: Fields) -> None:
    """Check the first line of an export.

    Raises:
        FormatTooNew: A later version of triseek has written it.
        InvalidRequest: It names no version.
    """
    version = first.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidRequest(
            "the export's first line names no version",
            next_step=f'It begins with {{"format":"{FORMAT}","version":{VERSION}}}.',
        )
    if version > VERSION:
        raise FormatTooNew(
            f"the export has version {version}, and this triseek knows {VERSION}",
            next_step="Upgrade triseek.",
        )


def records(lines: Iterable[tuple[str, Fields | Unreadable]]) -> Iterator[Record]:
    """Yield the records of the lines after the first."""
    for where, fields in lines:
        if isinstance(fields, Unreadable):
            yield fields
            continue
        try:
            yield _record(where, fields)
        except InvalidRequest as error:
            yield Unreadable(where=where, reason=str(error))


def _record(where: str, fields: Fields) -> Record:
    match fields.get("kind"):
        case "palace":
            return PalaceRecord(
                where=where, name=_text(fields, "name"), root=_root(fields),
                description=_text(fields, "description"), identity=_text(fields, "identity"),
                created_ms=_time(fields, "created_at"),
            )  # fmt: skip
        case "drawer":
            return DrawerRecord(
                where=where, uuid=_text(fields, "drawer_id"), text=_text(fields, "content"),
                room=_text(fields, "room"), tags=tuple(_texts(fields, "tags")),
                importance=_share(fields, "importance", IMPORTANCE),
                source=_text(fields, "source"), created_ms=_time(fields, "created_at"),
                updated_ms=_time(fields, "updated_at"), deleted_ms=_time(fields, "deleted_at"),
                superseded_by=_text(fields, "superseded_by"), earlier=_earlier(fields),
            )  # fmt: skip
        case "fact":
            return FactRecord(
                where=where, subject=_text(fields, "subject"),
                predicate=_text(fields, "predicate"), object=_text(fields, "object"),
                valid_from=_time(fields, "valid_from"), valid_to=_time(fields, "valid_to"),
                confidence=_share(fields, "confidence", 1.0),
                provenance=_text(fields, "provenance"), multi=fields.get("multi") is True,
            )  # fmt: skip
        case kind:
            raise InvalidRequest(f"its kind is {kind!r:.40}, not palace, drawer or fact")


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidRequest(f"{name} is {value!r:.40}, not a text")
    return value


def _root(fields: Fields) -> str:
    root = _text(fields, "root")
    if root and not (root.startswith("/") and root.isprintable() and len(root) <= PATH_MAX):
        raise InvalidRequest(f"root is {root!r:.40}, not an absolute path")
    return root


def _texts(fields: Fields, name: str) -> list[str]:
    values = fields.get(name)
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InvalidRequest(f"{name} is {values!r:.40}, not a list of texts")
    return values


def _time(fields: Fields, name: str) -> int | None:
    value = fields.get(name)
    time_ms = milliseconds(value)
    if value is not None and time_ms is None:
        raise InvalidRequest(f"{name} is {value!r:.40}, not a time such as 2026-10-01T12:30:00Z")
    return time_ms


def _share(fields: Fields, name: str, default: float) -> float:
    value = fields.get(name, default)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= 1:
        raise InvalidRequest(f"{name} is {value!r:.40}, not a number from 0 to 1")
    return float(value)


def _earlier(fields: Fields) -> tuple[tuple[str, int], ...]:
    values = fields.get("earlier")
    if values is None:
        return ()
    entries = fields.objects("earlier")
    if not isinstance(values, list) or len(entries) != len(values) or len(values) > EARLIER_MAX:
        raise InvalidRequest(f"earlier is not a list of at most {EARLIER_MAX:,} objects")
    texts = [(_text(entry, "content"), _time(entry, "until")) for entry in entries]
    if any(until is None for _, until in texts):
        raise InvalidRequest("an earlier text has no time")
    return tuple((text, until) for text, until in texts if until is not None)
