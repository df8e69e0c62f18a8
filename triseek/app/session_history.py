"""Gives the history what triseek's sessions have recorded: logs, snapshots and packs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from triseek import paths
from triseek.agents import jsonl
from triseek.agents.base import Agent, TranscriptReader
from triseek.app.session_records import SessionRecords
from triseek.history.importing import precedence
from triseek.model.conversation import Mark, Unreadable
from triseek.model.session import LogEntry, is_id
from triseek.sessions import pack
from triseek.sessions.action_log import NAME as LOG

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from triseek.agents.base import InstallPlace
    from triseek.history.own_sessions import Removed
    from triseek.model.conversation import Record
    from triseek.sessions.lifecycle import Sessions
    from triseek.sessions.pack import Unpacked
    from triseek.sessions.snapshot import Snapshots


class LogReader(TranscriptReader):
    """Reads the logs of triseek's own sessions."""

    retention = "triseek deletes sessions that nobody opened 30 days after their last use"

    def sources(self, here: InstallPlace) -> Iterator[str]:  # noqa: ARG002 - one state folder
        """Yield the logs."""
        folder = Path(paths.sessions())
        for session in sorted(folder.iterdir()) if folder.is_dir() else ():
            log = session / LOG
            if is_id(session.name) and log.is_file():
                yield str(log)

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of a log from a mark on."""
        records = SessionRecords(Path(path).parent.name, mark.state)
        for row in jsonl.rows(path, mark.offset):
            if isinstance(row.value, Unreadable):
                yield row.value
            else:
                try:
                    entry = LogEntry.read(row.value)
                except ValueError as error:
                    yield Unreadable(where=f"byte {row.start}", reason=str(error))
                else:
                    yield from records.of(entry)
            mark = Mark(offset=row.end, state=records.state)
            yield mark
        yield mark


class PackReader(TranscriptReader):
    """Reads the conversations of a pack, which has been checked."""

    appends = False

    def __init__(self, path: str, unpacked: Unpacked) -> None:
        """Read the content of the pack at `path`."""
        self._path = path
        self._snapshot = unpacked.snapshot

    def sources(self, here: InstallPlace) -> Iterator[str]:  # noqa: ARG002 - the file is named
        """Yield the pack."""
        yield self._path

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:  # noqa: ARG002 - read before
        """Yield the records of its log; a pack is read as a whole."""
        manifest = self._snapshot.manifest
        records = SessionRecords(manifest.session_id, {"root": manifest.repo_root})
        for entry in self._snapshot.entries:
            yield from records.of(entry)
        yield Mark(offset=len(self._snapshot.entries))


class _Source(Agent):
    """A source of conversations that is none of the agents which the registry lists."""

    def __init__(self, name: str, reader: TranscriptReader) -> None:
        self.name = name  # type: ignore[misc]  # declared once for each agent's class
        self.title = name  # type: ignore[misc]
        self.transcripts = reader  # type: ignore[misc]


class SessionHistory:
    """Triseek's own session logs, snapshots and packs, as the history uses them."""

    def __init__(
        self,
        sessions: Sessions | None = None,
        snapshots: Snapshots | None = None,
        finish_snapshot: Callable[[float], None] = lambda _within_s: None,
    ) -> None:
        """Use the sessions and snapshots of the state folder.

        Args:
            sessions: Those that this process owns; None outside of the daemon.
            snapshots: As `sessions`.
            finish_snapshot: Waits for a snapshot that is being made, at most so many seconds.
        """
        self._sessions = sessions
        self._snapshots = snapshots
        self._finish_snapshot = finish_snapshot

    def agent(self) -> Agent:
        """Return the source of the session logs."""
        return _Source(precedence.OWN, LogReader())

    def pack(self, path: str) -> Agent:
        """Return the source of a pack. Raises as `sessions.pack.unpack`."""
        return _Source(precedence.PACK, PackReader(path, pack.unpack(path)))

    def forget(self, conversations: Collection[tuple[str, str]], *, dry_run: bool) -> Removed:
        """Remove everything that is recorded of some conversations.

        Raises: as `OwnSessions.forget`.
        """
        from triseek.app import session_forgetting

        return session_forgetting.forget(
            conversations,
            self._sessions,
            self._snapshots,
            self._finish_snapshot,
            dry_run=dry_run,
        )
