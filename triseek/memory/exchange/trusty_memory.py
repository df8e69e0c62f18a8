"""Reads the stores of trusty-memory, as far as they are SQLite.

A palace is a folder with `palace.json`, `identity.txt` and `kg.db`, which has the drawers and the
facts. Later versions keep them in `kg.redb`, which only trusty-memory reads; there may be a
`kg.db` beside it with what was written before.

A drawer has no name of its room, but 16 bytes that are folded from it: each byte of the name, plus
its position, is xored into the byte at its position modulo 16. Names of up to 16 bytes can be
unfolded, which is all of the usual rooms and other names of up to 6 bytes. What cannot be unfolded
goes to the room General, with the id as a tag.
"""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING

from triseek.agents import jsonl, transcript_database
from triseek.agents.payloads.fields import Fields
from triseek.memory import names
from triseek.memory.exchange.records import DrawerRecord, FactRecord, PalaceRecord
from triseek.memory.exchange.times import milliseconds
from triseek.memory.limits import IMPORTANCE
from triseek.model.conversation import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.agents.transcript_database import TranscriptDatabase
    from triseek.memory.exchange.records import Record

PALACE, DATABASE, REDB = "palace.json", "kg.db", "kg.redb"
IDENTITY_BYTES = 1 << 20
DOCUMENT_BYTES = 1 << 20
PALACES_MAX = 10_000
_FIRST = -(1 << 63)
_CUSTOM = ('Custom("', '")')


def palaces_below(folder: Path) -> list[Path]:
    """Return the folders of the palaces in a store, or the folder itself if it is one palace.

    Raises:
        OSError: A folder cannot be listed.
    """
    if _is_palace(folder):
        return [folder]
    for parent in (folder / "palaces", folder):
        if parent.is_dir():
            palaces = sorted(filter(_is_palace, parent.iterdir()))
            if palaces:
                return palaces[:PALACES_MAX]
    return []


def records(folder: Path) -> Iterator[Record]:
    """Yield the records of the palace in a folder.

    Raises:
        OSError: Its database cannot be read, is damaged, or is none.
    """
    name = folder.name
    description = jsonl.document(str(folder / PALACE), DOCUMENT_BYTES)
    fields = Fields(description) if isinstance(description, dict) else Fields()
    identity, path = _identity(folder), folder / DATABASE
    if identity or path.exists():
        yield PalaceRecord(
            where=f"palace {name}", name=fields.text("id", "name") or name,
            description=fields.text("description"), identity=identity,
            created_ms=milliseconds(fields.get("created_at")),
        )  # fmt: skip
    if (folder / REDB).exists():
        yield Unreadable(
            where=f"palace {name}",
            reason=f"{REDB} can be read by trusty-memory only, which has no export: have an agent"
            " list the palace with its memory_list and store it here with memory_remember",
        )
    if path.exists():
        is_closed = transcript_database.has_no_log(str(path))
        with transcript_database.reading(str(path), is_closed=is_closed) as database:
            yield from _drawers(database, name)
            yield from _facts(database, name)


def room_of(room_id: str) -> tuple[str, tuple[str, ...]]:
    """Return the room that an id stands for, and the tags that keep the id if it is not known."""
    try:
        folded = uuid.UUID(room_id).bytes
    except ValueError:
        return "", ()
    bytes_ = bytes((byte - at) % 256 for at, byte in enumerate(folded) if byte)
    text = bytes_.decode("ascii", "replace")
    if text in names.ROOMS:
        return text, ()
    begin, end = _CUSTOM
    label = text.removeprefix(begin).removesuffix(end)
    is_whole = text == f"{begin}{label}{end}" and label.isprintable() and label.isascii()
    if is_whole and label and not set(label) & set('"\\') and fold(text) == folded:
        return label, ()
    return "", (f"room:{uuid.UUID(room_id)}",)


def fold(text: str) -> bytes:
    """Return the 16 bytes that trusty-memory folds from the name of a room."""
    folded = bytearray(16)
    for at, byte in enumerate(text.encode()):
        folded[at % 16] ^= (byte + at) % 256
    return bytes(folded)


def _drawers(database: TranscriptDatabase, palace: str) -> Iterator[Record]:
    selected = _selected(
        database, "drawers", "id", "room_id", "content", "importance", "tags", "source_file",
        "created_at",
    )  # fmt: skip
    for row, name, room_id, text, importance, tags, source, created in selected:
        where = f"palace {palace}, drawer {row}"
        if not isinstance(text, str) or not isinstance(name, str):
            yield Unreadable(where=where, reason="it has no text or no id")
            continue
        room, more = room_of(room_id) if isinstance(room_id, str) else ("", ())
        yield DrawerRecord(
            where=where, uuid=name, text=text, room=room, tags=(*_tags(tags), *more),
            importance=_share(importance, IMPORTANCE),
            source=source if isinstance(source, str) else "", created_ms=milliseconds(created),
        )  # fmt: skip


def _facts(database: TranscriptDatabase, palace: str) -> Iterator[Record]:
    selected = _selected(
        database, "triples", "subject", "predicate", "object", "valid_from", "valid_to",
        "confidence", "provenance",
    )  # fmt: skip
    for row, subject, predicate, target, begin, end, confidence, provenance in selected:
        where = f"palace {palace}, triple {row}"
        begin_ms, end_ms = milliseconds(begin), milliseconds(end)
        texts = [text for text in (subject, predicate, target) if isinstance(text, str)]
        if len(texts) < 3 or begin_ms is None or (end is not None and end_ms is None):
            yield Unreadable(where=where, reason="a name or a time is missing")
            continue
        yield FactRecord(
            where=where, subject=texts[0], predicate=texts[1], object=texts[2],
            valid_from=begin_ms, valid_to=end_ms,
            confidence=_share(confidence, 1.0),
            provenance=provenance if isinstance(provenance, str) else "",
        )  # fmt: skip


def _selected(
    database: TranscriptDatabase, table: str, *columns: str
) -> Iterator[tuple[object, ...]]:
    """Yield a table's rowids and columns; a missing column is NULL, a missing table has no rows."""
    present = database.columns(table)
    if not present:
        return
    expressions = [
        transcript_database.bounded(column) if column in present else "NULL" for column in columns
    ]
    yield from database.pages(
        f"SELECT rowid, {', '.join(expressions)} FROM {table} WHERE rowid > ?"  # noqa: S608 - ours
        " ORDER BY rowid LIMIT ?",
        _FIRST,
    )


def _share(value: object, default: float) -> float:
    """Return a number from 0 to 1, or the default for anything else."""
    return float(value) if isinstance(value, (int, float)) and 0 <= value <= 1 else default


def _tags(value: object) -> tuple[str, ...]:
    if not isinstance(value, str):
        return ()
    try:
        tags = json.loads(value)
    except (ValueError, RecursionError):
        return ()
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


def _identity(folder: Path) -> str:
    """Return what is said of the palace; "" if nothing is, or it cannot be read."""
    try:
        with jsonl.opened(str(folder / "identity.txt")) as file:
            return file.read(IDENTITY_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _is_palace(folder: Path) -> bool:
    return (folder / PALACE).is_file()
