"""Sums up logs: what was read, edited and searched, by whom, how often, and what was refused.

The logs are read from their files, one entry at a time; nothing is written. Memory use is bounded:
of a log with more files, searches or conversations than the limits, the further ones are only
counted.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cachetools import FIFOCache

from triseek import paths
from triseek.engine.roots import project
from triseek.errors import InvalidRequest
from triseek.memo.context import SOON_S
from triseek.model.session import SCHEMA_VERSION, Session, checked_id
from triseek.sessions import files, snapshot_files, wording, working_set
from triseek.sessions.action_log import ActionLog
from triseek.sessions.snapshot import Snapshots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from triseek.model.session import LogEntry

FILES_MAX, SEARCHES_MAX, CONVERSATIONS_MAX, LATEST_MAX = 10_000, 5_000, 1_000, 500
"""Most files, searches, conversations, and prompts and compactions (the latest) of an audit."""
_CONTENTS_MAX = 64
"""Contents remembered of a file, to detect an edit that was reverted."""
_KINDS_MAX = 200
_PROMPT_MAX = 2_000
_HARNESSES_MAX, _BY_MAX = 50, 20
_PATH_MAX, _KIND_MAX = 4_096, 40
_REFUSED_MAX = 1_000
_OF_FILES = ("read", "edit", "read_denied")

Row = TypeVar("Row")


@dataclass
class AuditCounts:
    """Counts of actions and tokens."""

    entries: int = 0
    reads: int = 0
    edits: int = 0
    searches: int = 0
    refused: int = 0
    """Reads that the memo refused because what they asked for was in view."""
    tokens_not_read: int = 0
    """As the refusals state, without files that were read soon after all."""
    prompts: int = 0
    compactions: int = 0

    def add(self, entry: LogEntry, spared: int) -> None:
        """Count an entry. spared: tokens that it spared; negative: that were read after all."""
        self.entries += 1
        name = _COUNTED.get(entry.kind)
        if name is not None:
            setattr(self, name, getattr(self, name) + 1)
        self.tokens_not_read += spared


_COUNTED = {
    "read": "reads", "edit": "edits", "search": "searches", "read_denied": "refused",
    "prompt": "prompts", "compact": "compactions",
}  # fmt: skip


@dataclass
class AuditTotals(AuditCounts):
    """Counts of everything that was done."""

    files_read: int = 0
    files_edited: int = 0


# A base class named last gives the first fields.


@dataclass
class _Agent:
    harness: str


@dataclass
class _Conversation(_Agent):
    conversation: str
    first_at: int = 0
    last_at: int = 0


@dataclass
class AgentCounts(AuditCounts, _Agent):
    """Counts of one agent."""


@dataclass
class ConversationCounts(AuditCounts, _Conversation):
    """Counts of one conversation."""


@dataclass(slots=True)
class AuditedSession:
    """A session, and how many of its entries were counted."""

    session_id: str
    goal: str
    status: str
    created_at: int
    updated_at: int
    entries: int


@dataclass(slots=True)
class FileUse:
    """What was done with a file, by which agents, and when."""

    path: str
    reads: int = 0
    edits: int = 0
    refused: int = 0
    tokens_not_read: int = 0
    taken_back: bool = False
    by: list[str] = field(default_factory=list)
    first_at: int = 0
    last_at: int = 0
    latest_entry: int = 0


@dataclass(slots=True)
class SearchUse:
    """A search, how often it ran, and what it found the last time."""

    query: str
    kind: str
    times: int = 0
    matches: int | None = None
    files: int = 0
    by: list[str] = field(default_factory=list)
    first_at: int = 0
    last_at: int = 0
    latest_entry: int = 0


@dataclass(slots=True)
class FruitlessSearch:
    """A search that found nothing."""

    what: str = field(default="search", init=False)
    query: str
    kind: str
    entry_id: int
    at: int
    by: list[str]

    def __str__(self) -> str:
        return f"{self.query} ({self.kind}) finds nothing"


@dataclass(slots=True)
class RevertedEdit:
    """An edit after which the file had an earlier content again."""

    what: str = field(default="edit", init=False)
    path: str
    entry_id: int
    at: int
    by: list[str]

    def __str__(self) -> str:
        return f"an edit of {self.path} was taken back"


@dataclass(slots=True)
class KindCount:
    """How many entries of a kind there are."""

    kind: str
    times: int = 0


@dataclass(slots=True)
class _Moment:
    entry_id: int
    session_id: str
    at: int
    harness: str


@dataclass(slots=True)
class Prompt(_Moment):
    """What an agent was asked."""

    prompt: str


@dataclass(slots=True)
class Compaction(_Moment):
    """A compaction of an agent's context; `source` is what caused it."""

    source: str


@dataclass(slots=True)
class AuditReport:
    """A finished audit; times are Unix seconds."""

    root: str
    since: int | None
    first_at: int | None = None
    last_at: int | None = None
    sessions: list[AuditedSession] = field(default_factory=list)
    totals: AuditTotals = field(default_factory=AuditTotals)
    harnesses: list[AgentCounts] = field(default_factory=list)
    conversations: list[ConversationCounts] = field(default_factory=list)
    files: list[FileUse] = field(default_factory=list)
    """Most used first."""
    searches: list[SearchUse] = field(default_factory=list)
    """Latest first."""
    dead_ends: list[FruitlessSearch | RevertedEdit] = field(default_factory=list)
    kinds: list[KindCount] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)
    omitted: dict[str, int] = field(default_factory=dict)
    """How many entries are in the totals but not in each list."""

    def document(self) -> dict[str, Any]:
        """Return the audit as `triseek audit --json` prints it."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self, dict_factory=_without_latest)}


def _without_latest(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in fields if name != "latest_entry"}


class _Refused:
    """Recent refusals of reads: some of the reads happen after all."""

    def __init__(self) -> None:
        self._latest: FIFOCache[tuple[str, str, str], tuple[int, int]] = FIFOCache(_REFUSED_MAX)

    def spared(self, entry: LogEntry) -> int:
        """Return the tokens that an entry spared; negative if a refused read happened after all."""
        path = entry.payload.get("path")
        if entry.kind not in ("read", "read_denied") or not isinstance(path, str):
            return 0
        read = (wording.harness(entry), wording.conversation(entry), path)
        at, tokens = self._latest.pop(read, (0, 0))
        if entry.kind == "read":
            return -tokens if entry.ts - at <= SOON_S else 0
        tokens = wording.tokens_of(entry)
        self._latest[read] = (entry.ts, tokens)
        return tokens


class _Rows(dict[tuple[str, ...], Row]):
    """Rows by their first fields, as many as there is room for."""

    def __init__(self, most: int, make: Callable[..., Row]) -> None:
        super().__init__()
        self._most = most
        self._make = make
        self.omitted = 0
        """Entries whose key has no row."""

    def row(self, *key: str) -> Row | None:
        """Return the row of a key, made if there is room for it; else count it as omitted."""
        if key not in self:
            if len(self) >= self._most:
                self.omitted += 1
                return None
            self[key] = self._make(*key)
        return self[key]


class Audit:
    """Sums up log entries, which it takes oldest first."""

    def __init__(self, root: str, since: int = 0) -> None:
        """Create an empty audit.

        root: The project's root, absolute.
        since: Unix seconds; older entries are skipped.
        """
        self._since = since
        self._older = 0
        self._report = AuditReport(root, since or None)
        self._totals = self._report.totals
        self._harnesses = _Rows(_HARNESSES_MAX, AgentCounts)
        self._conversations = _Rows(CONVERSATIONS_MAX, ConversationCounts)
        self._refused = _Refused()
        self._files = _Rows(FILES_MAX, FileUse)
        self._trails: dict[str, working_set.Trail] = {}
        self._searches = _Rows(SEARCHES_MAX, SearchUse)
        self._kinds = _Rows(_KINDS_MAX, KindCount)
        self._prompts: deque[Prompt] = deque(maxlen=LATEST_MAX)
        self._compactions: deque[Compaction] = deque(maxlen=LATEST_MAX)

    def take(self, session: Session, log: Iterable[LogEntry], *, older: int = 0) -> None:
        """Add a session's log.

        older: Number of entries that were left out of it.
        """
        before = self._totals.entries
        for entry in log:
            if entry.ts >= self._since:
                self._add(entry)
        self._older += older
        counted = self._totals.entries - before
        if counted:
            self._report.sessions.append(
                AuditedSession(
                    session.session_id,
                    session.goal,
                    session.status,
                    session.created_at,
                    session.updated_at,
                    counted,
                )
            )

    def report(self) -> AuditReport:
        """Return the whole audit."""
        report, totals, uses = self._report, self._totals, self._files.values()
        for path, trail in self._trails.items():
            self._files[path,].taken_back = trail.reverted
        totals.files_read = sum(bool(use.reads) for use in uses)
        totals.files_edited = sum(bool(use.edits) for use in uses)
        report.harnesses = list(self._harnesses.values())
        report.conversations = list(self._conversations.values())
        report.files = sorted(uses, key=_use_order)
        report.searches = sorted(self._searches.values(), key=lambda use: -use.last_at)
        report.dead_ends = list(self._dead_ends())
        report.kinds = sorted(self._kinds.values(), key=lambda kind: -kind.times)
        report.prompts, report.compactions = list(self._prompts), list(self._compactions)
        report.omitted = {
            "entries": self._older,
            "files": self._files.omitted,
            "searches": self._searches.omitted,
            "prompts": totals.prompts - len(self._prompts),
            "compactions": totals.compactions - len(self._compactions),
            "conversations": self._conversations.omitted,
            "harnesses": self._harnesses.omitted,
            "kinds": self._kinds.omitted,
        }
        return report

    def _add(self, entry: LogEntry) -> None:
        spared = self._refused.spared(entry)
        self._totals.add(entry, spared)
        report = self._report
        report.first_at = min(report.first_at or entry.ts, entry.ts)
        report.last_at = max(report.last_at or 0, entry.ts)
        if kind := self._kinds.row(entry.kind):
            kind.times += 1
        if entry.kind not in (files.OPENED, files.CLOSED):  # which the daemon itself writes
            self._count_agent(entry, spared)
        if entry.kind in _OF_FILES:
            self._file(entry, spared)
        elif entry.kind == "search":
            self._search(entry)
        elif entry.kind == "prompt":
            self._prompts.append(Prompt(*_moment(entry), _text(entry, "prompt")))
        elif entry.kind == "compact":
            self._compactions.append(Compaction(*_moment(entry), _text(entry, "source")))

    def _count_agent(self, entry: LogEntry, spared: int) -> None:
        harness, conversation = wording.harness(entry), wording.conversation(entry)
        if agent := self._harnesses.row(harness):
            agent.add(entry, spared)
        if conversation and (part := self._conversations.row(harness, conversation)):
            part.add(entry, spared)
            part.first_at, part.last_at = part.first_at or entry.ts, entry.ts

    def _file(self, entry: LogEntry, spared: int) -> None:
        path = entry.payload.get("path")
        if not isinstance(path, str) or len(path) > _PATH_MAX:
            return
        if use := self._files.row(path):
            count = _COUNTED[entry.kind]
            setattr(use, count, getattr(use, count) + 1)
            use.tokens_not_read += spared
            _note(use, entry)
            working_set.used(self._trails, entry)
            trail = self._trails.get(path)
            if trail is not None:
                del trail.contents[:-_CONTENTS_MAX]

    def _search(self, entry: LogEntry) -> None:
        run = working_set.search_of(entry)
        if run and (use := self._searches.row(run.query, run.kind[:_KIND_MAX])):
            use.times += 1
            use.matches, use.files = run.matches, len(run.result_paths)
            _note(use, entry)

    def _dead_ends(self) -> Iterator[FruitlessSearch | RevertedEdit]:
        for use in self._searches.values():
            if use.matches == 0:
                yield FruitlessSearch(use.query, use.kind, use.latest_entry, use.last_at, use.by)
        for path in self._trails:
            file = self._files[path,]
            if file.taken_back:
                yield RevertedEdit(path, file.latest_entry, file.last_at, file.by)


def _use_order(use: FileUse) -> tuple[int, int]:
    return -(use.reads + use.edits + use.refused), -use.last_at


def _note(use: FileUse | SearchUse, entry: LogEntry) -> None:
    """Note who used something, and when."""
    agent = wording.harness(entry)
    if agent not in use.by and len(use.by) < _BY_MAX:
        insort(use.by, agent)
    use.first_at = use.first_at or entry.ts
    use.last_at, use.latest_entry = entry.ts, entry.entry_id


def _moment(entry: LogEntry) -> tuple[int, str, int, str]:
    return entry.entry_id, entry.session_id, entry.ts, wording.harness(entry)


def _text(entry: LogEntry, name: str) -> str:
    text = entry.payload.get(name)
    return text[:_PROMPT_MAX] if isinstance(text, str) else ""


def of_root(path: str, since: int = 0) -> Audit:
    """Return the audit of all sessions of the project around a folder."""
    root = project(path)
    audit = Audit(root, since)
    sessions = files.peek(paths.sessions()).values()
    for session in sorted(sessions, key=lambda session: (session.created_at, session.session_id)):
        if session.repo_root == root:
            audit.take(session, ActionLog(Path(paths.sessions(), session.session_id)))
    return audit


def of_session(session_id: str, since: int = 0) -> Audit:
    """Return the audit of one session.

    Raises:
        InvalidRequest: There is no session of that id.
    """
    session = files.peek(paths.sessions()).get(checked_id(session_id))
    if session is None:
        raise InvalidRequest(
            f"unknown session_id `{session_id}`", next_step="See `triseek session list`."
        )
    audit = Audit(session.repo_root, since)
    audit.take(session, ActionLog(Path(paths.sessions(), session_id)))
    return audit


def of_snapshot(snapshot_id: str, since: int = 0) -> Audit:
    """Return the audit of a snapshot's log.

    Raises:
        InvalidRequest: There is no snapshot of that id, or its manifest is damaged.
    """
    folder = Path(Snapshots(paths.snapshots()).folder(snapshot_id))
    try:
        manifest = snapshot_files.read_manifest(folder)
    except (OSError, ValueError) as error:
        raise InvalidRequest(
            f"snapshot {snapshot_id} cannot be read: {error}",
            next_step="See `triseek snapshot list` for others.",
        ) from error
    session = Session(
        session_id=manifest.session_id,
        goal=manifest.goal,
        repo_root=manifest.repo_root,
        created_at=manifest.created_at,
        updated_at=manifest.created_at,
    )
    audit = Audit(manifest.repo_root, since)
    audit.take(session, ActionLog(folder), older=manifest.action_log_omitted)
    return audit
