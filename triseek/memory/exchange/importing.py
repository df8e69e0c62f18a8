"""Writes what an import reads into the memory, in batches. Doing it again changes nothing.

A drawer that is there already, by its UUID, is left as it is, and so is a fact that was written
at the same time. A record that is not valid is left out and named; the others are imported.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.memory import drawers, names, palaces
from triseek.memory.exchange.records import DrawerRecord, FactRecord, PalaceRecord
from triseek.model.conversation import Unreadable
from triseek.model.index import no_progress

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from triseek.memory.exchange.records import Record
    from triseek.model.index import Progress
    from triseek.store.sqlite import Database

BATCH = 500
"""Records of one transaction: other writers wait for no more."""
SKIPPED_MAX = 100
"""Records that a report names."""


@dataclass(slots=True)
class ImportReport:
    """What an import did, or would do."""

    palaces: list[str] = field(default_factory=list)
    drawers: int = 0
    facts: int = 0
    known: int = 0
    """Drawers and facts that were there already."""
    left_out: int = 0
    """Records that are not valid."""
    skipped: list[str] = field(default_factory=list)
    """A line for each of the first `SKIPPED_MAX` of them."""


class _DryRun(Exception):
    """Ends a transaction whose changes are not wanted."""


def run(
    database: Database,
    records: Iterable[Record],
    now_ms: int,
    *,
    palace: str = "",
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> ImportReport:
    """Import records.

    Args:
        database: The memory database.
        records: Each palace before what belongs to it.
        now_ms: Unix milliseconds.
        palace: The palace into which everything goes; "" for those that the records name.
        dry_run: Write nothing, and report what would be written.
        progress: Called after each batch.

    Raises:
        TriseekError: As `Database.write`. Earlier batches are kept; importing again goes on.
    """
    writer = _Writer(now_ms, palace)
    rest = iter(records)
    if dry_run:
        with contextlib.suppress(_DryRun), database.write() as connection:
            while writer.batch(connection, itertools.islice(rest, BATCH)):
                progress("import", writer.done, 0)
            raise _DryRun
        return writer.report
    is_more = True
    while is_more:
        # A batch is read before its transaction begins: reading may take long.
        batch = list(itertools.islice(rest, BATCH))
        with database.write() as connection:
            is_more = writer.batch(connection, batch)
        progress("import", writer.done, 0)
    return writer.report


class _Writer:
    """Writes records, and remembers to which palace the next one belongs."""

    def __init__(self, now_ms: int, palace: str) -> None:
        self.report = ImportReport()
        self.done = 0
        self._now_ms = now_ms
        self._only = palace
        self._palace = 0
        self._superseded: dict[str, list[int]] = {}
        """UUID of a drawer that is not there yet → the ids of those that it supersedes."""
        self._instants: Counter[tuple[object, ...]] = Counter()
        """Facts that ended when they began: of these a file may have several that are equal."""

    def batch(self, connection: sqlite3.Connection, records: Iterable[Record]) -> bool:
        """Write some records; return whether there were any."""
        count = 0
        for count, record in enumerate(records, 1):  # noqa: B007 - read behind the loop
            if isinstance(record, Unreadable):
                self._skip(record.where, record.reason)
                continue
            try:
                self._write(connection, record)
            except InvalidRequest as error:
                self._skip(record.where, str(error))
        self.done += count
        return count > 0

    def _write(self, connection: sqlite3.Connection, record: Record) -> None:
        match record:
            case PalaceRecord():
                self._palace = 0  # what belongs to a palace that is not valid is left out
                self._palace = self._open(connection, record)
                self._instants.clear()
            case DrawerRecord() if self._palace:
                self._drawer(connection, record)
            case FactRecord() if self._palace:
                self._fact(connection, record)
            case _:
                raise InvalidRequest("it belongs to a palace that was left out")

    def _open(self, connection: sqlite3.Connection, record: PalaceRecord) -> int:
        """Return the id of a palace. It is made if need be; what it has already, it keeps."""
        name = names.palace(self._only or record.name)
        created = self._now_ms if record.created_ms is None else record.created_ms
        number, is_new = palaces.create(connection, name, "", created)
        if name not in self.report.palaces:
            self.report.palaces.append(name)
        info = palaces.info(connection, name)
        if record.description and not info.description:
            palaces.create(connection, name, record.description, created)
        if record.identity and not info.identity:
            palaces.set_identity(connection, name, record.identity)
        if record.root and is_new and not palaces.of_root(connection, record.root):
            palaces.use(connection, name, record.root)
        return number

    def _drawer(self, connection: sqlite3.Connection, record: DrawerRecord) -> None:
        uuid = names.drawer(record.uuid)
        superseded_by = names.drawer(record.superseded_by) if record.superseded_by else ""
        earlier = [(names.text(text), until) for text, until in record.earlier]
        if superseded_by == uuid:
            raise InvalidRequest("it supersedes itself")
        newer = _number(connection, superseded_by)
        if (known := _number(connection, uuid)) is not None:
            self.report.known += 1
            if superseded_by and newer is None:  # the import was interrupted between the two
                self._superseded.setdefault(superseded_by, []).append(known)
            return
        draft = drawers.Draft(
            text=record.text, room=record.room, tags=record.tags, importance=record.importance,
            source=record.source, uuid=uuid, created_ms=record.created_ms,
        )  # fmt: skip
        drawer = drawers.add(connection, self._palace, draft, self._now_ms)
        updated = drawer.updated_ms if record.updated_ms is None else record.updated_ms
        connection.execute(
            "UPDATE drawers SET updated_at_epoch = ?, deleted_at_epoch = ?, superseded_by = ?"
            " WHERE id = ?",
            (updated, record.deleted_ms, newer, drawer.id),
        )
        connection.executemany(
            "INSERT INTO drawer_changes (drawer_id, text, changed_at_epoch) VALUES (?, ?, ?)",
            [(drawer.id, text, until) for text, until in earlier],
        )
        connection.executemany(
            "UPDATE drawers SET superseded_by = ? WHERE id = ?",
            [(drawer.id, older) for older in self._superseded.pop(uuid, ())],
        )
        if superseded_by and newer is None:
            self._superseded.setdefault(superseded_by, []).append(drawer.id)
        self.report.drawers += 1

    def _fact(self, connection: sqlite3.Connection, record: FactRecord) -> None:
        key = (
            self._palace, names.node("subject", record.subject),
            names.node("predicate", record.predicate), names.node("object", record.object),
        )  # fmt: skip
        provenance = names.node("provenance", record.provenance) if record.provenance else None
        begin, end = record.valid_from, record.valid_to
        if begin is not None and end is not None and end < begin:
            raise InvalidRequest("the fact ends before it begins")
        if self._is_known(connection, key, begin, end):
            self.report.known += 1
            return
        begin = self._now_ms if begin is None else begin
        if end is None and not record.multi:
            end = _close_others(connection, key, begin)
        connection.execute(
            "INSERT INTO triples (palace_id, subject, predicate, object, valid_from, valid_to,"
            " confidence, provenance, is_multi) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*key, begin, end, names.share("confidence", record.confidence), provenance,
             int(record.multi)),
        )  # fmt: skip
        self.report.facts += 1

    def _is_known(
        self,
        connection: sqlite3.Connection,
        key: tuple[object, ...],
        begin: int | None,
        end: int | None,
    ) -> bool:
        """Return whether a fact is there. It may have ended since it was exported.

        If it has ended since it was written here, it ends here, too.
        """
        when, values = ("", key) if begin is None else (" AND valid_from = ?", (*key, begin))
        rows = connection.execute(
            "SELECT id, valid_from, valid_to FROM triples"  # noqa: S608 - ours
            f" WHERE palace_id = ? AND subject = ? AND predicate = ? AND object = ?{when}",
            values,
        ).fetchall()
        if begin is not None and begin == end:
            self._instants[*key, begin] += 1
            return [row[2] for row in rows].count(end) >= self._instants[*key, begin]
        lasting = [row for row in rows if row[2] is None or row[2] > row[1]]
        if end is not None:
            connection.executemany(
                "UPDATE triples SET valid_to = ? WHERE id = ?",
                [(end, number) for number, _, ended in lasting if ended is None],
            )
        return bool(lasting)

    def _skip(self, where: str, reason: str) -> None:
        self.report.left_out += 1
        if len(self.report.skipped) < SKIPPED_MAX:
            self.report.skipped.append(f"{where}: {reason}")


def _number(connection: sqlite3.Connection, uuid: str) -> int | None:
    """Return the id of the drawer with a UUID; None if there is none."""
    row = connection.execute("SELECT id FROM drawers WHERE uuid = ?", (uuid,)).fetchone()
    return None if row is None else int(row[0])


def _close_others(
    connection: sqlite3.Connection, key: tuple[object, ...], begin: int
) -> int | None:
    """End what holds of the same subject and predicate; return when the new fact ends itself.

    The one that began last holds.
    """
    where = "palace_id = ? AND subject = ? AND predicate = ? AND valid_to IS NULL AND NOT is_multi"
    (later,) = connection.execute(
        f"SELECT min(valid_from) FROM triples WHERE {where} AND valid_from > ?",  # noqa: S608
        (*key[:3], begin),
    ).fetchone()
    if later is None:
        connection.execute(
            f"UPDATE triples SET valid_to = ? WHERE {where}",  # noqa: S608
            (begin, *key[:3]),
        )
    return None if later is None else int(later)
