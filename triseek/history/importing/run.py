"""Runs an import: reads what is new in the sources of some agents, and writes it.

Each transaction ends at a mark of the reader and stores it, so an import that is killed goes on
where it was, and a second one changes nothing. One process imports at a time.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from triseek.errors import Busy
from triseek.history.importing import cleaning, hidden_sources, precedence, sources
from triseek.history.importing.routing import RoutingWriter
from triseek.history.importing.writing import Writer
from triseek.history.tombstones import Tombstones, import_key, load_key
from triseek.model import budget
from triseek.model.conversation import Mark, Unreadable
from triseek.model.index import no_progress
from triseek.store import lock

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from triseek.agents.base import Agent, InstallPlace
    from triseek.history.importing.sources import Source
    from triseek.model.conversation import Record
    from triseek.model.index import Progress
    from triseek.store.sqlite import Database

RECORDS_MAX = 2_000
"""Records after which a transaction ends at the next mark."""
SKIPPED_MAX = 20
"""Reasons that are kept of what was skipped in one source."""
SKIPPED_CHARACTERS = 500
"""Characters of such a reason."""
LOCK = "import.lock"
_ALL: Mapping[str, int] = {}


@dataclass(slots=True)
class AgentReport:
    """What an import did with one agent."""

    sources: int = 0
    """Files and databases that there are."""
    read: int = 0
    """Those of them that were new or had changed."""
    bytes: int = 0
    """What was to be read of them."""
    messages: int = 0
    events: int = 0
    conversations: int = 0
    """Conversations in which something was new."""
    forgotten: int = 0
    """Records that were left out because somebody has forgotten them."""
    skipped: list[str] = field(default_factory=list)
    """What could not be read, a line each."""


@dataclass(slots=True)
class ImportReport:
    """What an import did, by agent."""

    agents: dict[str, AgentReport] = field(default_factory=dict)
    sessions: set[int] = field(default_factory=set)
    """The ids of sessions that have changed."""


@dataclass(slots=True)
class _Skipped:
    """What could not be read of one source."""

    lines: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, line: str) -> None:
        if len(self.lines) < SKIPPED_MAX:
            self.lines.append(cleaning.clean(line, SKIPPED_CHARACTERS))
        else:
            self.more += 1

    def shown(self) -> list[str]:
        return [*self.lines, f"{self.more:,} more"] if self.more else self.lines


def listed(agents: Sequence[Agent], here: InstallPlace) -> ImportReport:
    """Return what a first import would read, without reading it. Arguments as `run`."""
    report = ImportReport({agent.name: AgentReport() for agent in agents})
    for source in sources.find(agents, here):
        counts = report.agents[source.agent]
        counts.sources += 1
        counts.read += 1
        counts.bytes += source.size
    return report


def plan(
    database: Database,
    agents: Sequence[Agent],
    here: InstallPlace,
    since: Mapping[str, int] = _ALL,
) -> ImportReport:
    """Return what an import would read, without reading it. Arguments as `run`."""
    report = ImportReport({agent.name: AgentReport() for agent in agents})
    with database.read() as connection:
        for source in _found(connection, agents, here):
            counts = report.agents[source.agent]
            counts.sources += 1
            before = sources.known(connection, source)
            if _is_due(source, since) and not sources.is_unchanged(source, before):
                counts.read += 1
                counts.bytes += _unread(source, before.mark.offset if before else 0)
    return report


def run(
    database: Database,
    agents: Sequence[Agent],
    here: InstallPlace,
    *,
    folder: str,
    since: Mapping[str, int] = _ALL,
    progress: Progress = no_progress,
    is_all: bool = True,
    wait_s: float = 0.0,
) -> ImportReport:
    """Import what is new.

    Args:
        database: The history database.
        agents: Whose conversations to import.
        here: Where agents keep their files.
        folder: The folder of the history, for the lock.
        since: Agent → only its sources that have changed since then; Unix milliseconds.
        progress: Called with the stage `import` and the bytes read so far.
        is_all: Whether what the agents do not list any more is gone.
        wait_s: Seconds to wait for an import that is running.

    Raises:
        Busy: Another process imports or forgets.
        TriseekError: As `Database` and `tombstones.import_key`. What was imported before stays.
    """
    total = sum(counts.bytes for counts in plan(database, agents, here, since).agents.values())
    report = ImportReport({agent.name: AgentReport() for agent in agents})
    present: set[tuple[str, str]] = set()
    done = 0
    with alone(folder, wait_s):
        key = import_key(database)
        with database.read() as connection:
            present_sources = list(_found(connection, agents, here))
        for source in present_sources:
            present.add((source.agent, source.name))
            report.agents[source.agent].sources += 1
            if not _is_due(source, since):
                continue

            def note(read: int, done: int = done) -> None:
                progress("import", min(done + read, total), total)

            read = _import(database, source, key, report, note)
            note(read)
            done += read
        if is_all:
            with database.write() as connection:
                sources.note_gone(connection, agents, present)
    return report


@contextlib.contextmanager
def alone(folder: str, wait_s: float = 0.0) -> Iterator[None]:
    """Run a block while nothing is imported or forgotten elsewhere.

    Args:
        folder: The folder of the history.
        wait_s: Seconds to wait for an import that is running.

    Raises:
        Busy: An import is still running.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lock.writer(folder, LOCK, wait_s=wait_s))
        except Busy as error:
            raise Busy("another import is running", next_step="Wait until it is done.") from error
        yield


def _found(
    connection: sqlite3.Connection, agents: Sequence[Agent], here: InstallPlace
) -> Iterator[Source]:
    """Yield the sources of some agents, by the names that the database has for them."""
    hidden = hidden_sources.hidden_names(connection)
    tombstones = Tombstones(connection, load_key())
    for source in sources.find(agents, here):
        name = hidden_sources.hidden_name(tombstones, source.agent, source.name) if hidden else ""
        yield replace(source, name=name) if name in hidden else source


def _unread(source: Source, offset: int) -> int:
    """Return how many bytes of a source are to be read; all of it unless it only grows."""
    return max(0, source.size - offset) if source.reader.appends else source.size


def _is_due(source: Source, since: Mapping[str, int]) -> bool:
    return source.mtime_ns >= since.get(source.agent, 0) * 1_000_000


def _import(
    database: Database,
    source: Source,
    key: bytes,
    report: ImportReport,
    note: Callable[[int], None],
) -> int:
    """Import what is new in one source; return the bytes that it had to read.

    note: Called with the bytes that were read so far.
    """
    counts = report.agents[source.agent]
    with database.read() as connection:
        before = sources.known(connection, source)
    if sources.is_unchanged(source, before):
        return 0
    counts.read += 1
    start = sources.begin(source, before)
    with database.write() as connection:
        number = sources.add(connection, source)
        tombstones = Tombstones(connection, key)
    kind = RoutingWriter if source.agent in precedence.LESSER else Writer
    writer = kind(source.agent, number, tombstones)
    skipped = _Skipped()
    mark, is_whole = start, True
    try:
        for records, end in _batches(source.reader.read(source.path, start), start):
            budget.check()
            with database.write() as connection:
                for record in records:
                    if isinstance(record, Unreadable):
                        skipped.add(f"{record.where}: {record.reason}")
                    else:
                        writer.write(connection, record)
                writer.finish(connection)
                sources.note_mark(connection, source, end)
                mark = end
            if source.reader.appends:
                note(mark.offset - start.offset)
    except OSError as error:
        skipped.add(error.strerror or str(error))
        is_whole = False  # it is tried again, although it may not change
    is_noted = not is_whole and mark == start and sources.has_failed(before)
    with database.write() as connection:
        if writer.written.sessions:
            source = sources.show(connection, source)
        if not is_noted:  # the daemon tries often
            sources.note(connection, source, mark, skipped.shown(), is_whole=is_whole)
        if writer.written.forgotten:
            hidden_sources.hide_unused(connection, tombstones, number)
    unread = _unread(source, start.offset)
    counts.bytes += unread
    counts.messages += writer.written.messages
    counts.events += writer.written.events
    counts.forgotten += writer.written.forgotten
    counts.conversations += len(writer.written.sessions)
    counts.skipped += [f"{source.name}: {line}" for line in skipped.shown()]
    report.sessions |= writer.written.sessions
    return unread


def _batches(items: Iterator[Record | Mark], start: Mark) -> Iterator[tuple[list[Record], Mark]]:
    """Yield records in batches that end at a mark, each with that mark."""
    records: list[Record] = []
    complete, mark = 0, start
    for item in items:
        if not isinstance(item, Mark):
            records.append(item)
            continue
        complete, mark = len(records), item
        if complete >= RECORDS_MAX:
            yield records, mark
            records, complete = [], 0
    if complete or mark != start:
        yield records[:complete], mark
