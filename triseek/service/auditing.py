"""What was read, edited and searched, by whom, how often, and what was refused: of logs.

The logs are read from their files, one entry at a time, and nothing is written. How much is kept
of them is bounded: of a log with more files, searches or conversations than the most there may be
the further ones are only counted.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cachetools import FIFOCache

from triseek import paths
from triseek.errors import InvalidRequest
from triseek.model.session import SCHEMA_VERSION, Session, checked_id
from triseek.service.roots import project
from triseek.sessions import files, snapshot_files, wording, working_set
from triseek.sessions.action_log import ActionLog
from triseek.sessions.memo.context import SOON_S
from triseek.sessions.snapshot import Snapshots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.model.session import Entry

FILES_MAX, SEARCHES_MAX, CONVERSATIONS_MAX, LATEST_MAX = 10_000, 5_000, 1_000, 500
"""Most files, searches, conversations, and prompts and compactions (the latest) of an audit."""
_CONTENTS_MAX = 64
"""Contents of a file that are remembered, to know an edit that was taken back."""
_KINDS_MAX = 200
_PROMPT_MAX = 2_000
_HARNESSES_MAX, _BY_MAX = 50, 20
_PATH_MAX, _KIND_MAX = 4_096, 40
_REFUSED_MAX = 1_000
_OF_FILES = ("read", "edit", "read_denied")


@dataclass(slots=True)
class Counts:
    """How much was done."""

    entries: int = 0
    reads: int = 0
    edits: int = 0
    searches: int = 0
    refused: int = 0
    """Reads that the memo refused, because what was asked for was in view."""
    tokens_not_read: int = 0
    """As the refusals say, but for files that were read soon after all."""
    prompts: int = 0
    compactions: int = 0

    def add(self, entry: Entry, spared: int) -> None:
        """Count an entry. spared: tokens that were not read by it; less than 0: that were."""
        self.entries += 1
        name = _COUNTED.get(entry.kind)
        if name is not None:
            setattr(self, name, getattr(self, name) + 1)
        self.tokens_not_read += spared


_COUNTED = {
    "read": "reads", "edit": "edits", "search": "searches", "read_denied": "refused",
    "prompt": "prompts", "compact": "compactions",
}  # fmt: skip


@dataclass(slots=True)
class _Used:
    """A file or a search: by whom, and when."""

    by: set[str] = field(default_factory=set)
    first_at: int = 0
    last_at: int = 0
    counts: Counts = field(default_factory=Counts)
    kind: str = ""
    matches: int | None = None
    files: int = 0
    entry_id: int = 0

    def add(self, entry: Entry, spared: int) -> None:
        if len(self.by) < _BY_MAX:
            self.by.add(wording.harness(entry))
        self.first_at = self.first_at or entry.ts
        self.last_at = entry.ts
        self.entry_id = entry.entry_id
        self.counts.add(entry, spared)


class _Refused:
    """Reads that were refused a moment ago: some are done after all."""

    def __init__(self) -> None:
        self._latest: FIFOCache[tuple[str, str, str], tuple[int, int]] = FIFOCache(_REFUSED_MAX)

    def spared(self, entry: Entry) -> int:
        """Tokens that were not read by an entry; less than 0: that were, though they counted."""
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


class Audit:
    """Takes in entries, oldest first, and tells the sum of them."""

    def __init__(self, root: str, since: int = 0) -> None:
        """An empty one.

        root: What it is about, absolute.
        since: Unix seconds; older entries are passed over.
        """
        self.root = root
        self._since = since
        self._sessions: list[dict[str, Any]] = []
        self._totals = Counts()
        self._first_at = self._last_at = 0
        self._harnesses: dict[str, Counts] = {}
        self._conversations: dict[tuple[str, str], _Used] = {}
        self._refused = _Refused()
        self._files: dict[str, _Used] = {}
        self._trails: dict[str, working_set.Trail] = {}
        self._searches: dict[tuple[str, str], _Used] = {}
        self._kinds: Counter[str] = Counter()
        self._prompts: deque[dict[str, Any]] = deque(maxlen=LATEST_MAX)
        self._compactions: deque[dict[str, Any]] = deque(maxlen=LATEST_MAX)
        self._omitted: Counter[str] = Counter()

    def take(self, session: Session, log: Iterable[Entry], *, older: int = 0) -> None:
        """Take in a session's log.

        older: Entries that were left out of it.
        """
        before = self._totals.entries
        for entry in log:
            if entry.ts >= self._since:
                self._add(entry)
        self._omitted["entries"] += older
        self._sessions.append(
            {
                "session_id": session.session_id,
                "goal": session.goal,
                "status": session.status,
                "created_at": session.created_at,
                "updated_at": session.updated_at,
                "entries": self._totals.entries - before,
            }
        )

    def document(self) -> dict[str, Any]:
        """All of it, as `triseek audit --json` tells it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "root": self.root,
            "since": self._since or None,
            "first_at": self._first_at or None,
            "last_at": self._last_at or None,
            "sessions": [one for one in self._sessions if one["entries"]],
            "totals": {
                **asdict(self._totals),
                "files_read": sum(bool(one.counts.reads) for one in self._files.values()),
                "files_edited": sum(bool(one.counts.edits) for one in self._files.values()),
            },
            "harnesses": [
                {"harness": name, **asdict(counts)} for name, counts in self._harnesses.items()
            ],
            "conversations": [
                {"harness": name, "conversation": talk, **_when(one), **asdict(one.counts)}
                for (name, talk), one in self._conversations.items()
            ],
            "files": [_file(*each, self._trails.get(each[0])) for each in self._most_used()],
            "searches": [
                _search(query, one)
                for (query, _), one in sorted(
                    self._searches.items(), key=lambda each: -each[1].last_at
                )
            ],
            "dead_ends": list(self._dead_ends()),
            "kinds": [{"kind": kind, "times": n} for kind, n in self._kinds.most_common()],
            "prompts": list(self._prompts),
            "compactions": list(self._compactions),
            "omitted": {
                name: self._omitted[name]
                for name in ("entries", "files", "searches", "prompts", "compactions",
                             "conversations", "harnesses", "kinds")
            },
        }  # fmt: skip

    def _add(self, entry: Entry) -> None:
        spared = self._refused.spared(entry)
        self._totals.add(entry, spared)
        self._first_at = min(self._first_at or entry.ts, entry.ts)
        self._last_at = max(self._last_at, entry.ts)
        self._person(entry, spared)
        if entry.kind in self._kinds or self._room("kinds", self._kinds, _KINDS_MAX):
            self._kinds[entry.kind] += 1
        if entry.kind in _OF_FILES:
            self._file(entry, spared)
        elif entry.kind == "search":
            self._search(entry)
        elif entry.kind == "prompt":
            self._latest("prompts", self._prompts, entry, "prompt")
        elif entry.kind == "compact":
            self._latest("compactions", self._compactions, entry, "source")

    def _person(self, entry: Entry, spared: int) -> None:
        name, talk = wording.harness(entry), wording.conversation(entry)
        if entry.kind in (files.OPENED, files.CLOSED):
            return  # the daemon itself wrote it
        if name in self._harnesses or self._room("harnesses", self._harnesses, _HARNESSES_MAX):
            self._harnesses.setdefault(name, Counts()).add(entry, spared)
        who = (name, talk)
        if talk and (
            who in self._conversations
            or self._room("conversations", self._conversations, CONVERSATIONS_MAX)
        ):
            self._conversations.setdefault(who, _Used()).add(entry, spared)

    def _file(self, entry: Entry, spared: int) -> None:
        path = entry.payload.get("path")
        if not isinstance(path, str) or len(path) > _PATH_MAX:
            return
        if path in self._files or self._room("files", self._files, FILES_MAX):
            self._files.setdefault(path, _Used()).add(entry, spared)
            working_set.used(self._trails, entry)
            trail = self._trails.get(path)
            if trail is not None:
                del trail.contents[:-_CONTENTS_MAX]

    def _search(self, entry: Entry) -> None:
        run = working_set.search_of(entry)
        if run is None:
            return
        kind = run.kind[:_KIND_MAX]
        asked = (run.query, kind)
        if asked in self._searches or self._room("searches", self._searches, SEARCHES_MAX):
            one = self._searches.setdefault(asked, _Used())
            one.add(entry, spared=0)
            one.kind, one.matches, one.files = kind, run.matches, len(run.result_paths)

    def _latest(self, name: str, kept: deque[dict[str, Any]], entry: Entry, told: str) -> None:
        self._omitted[name] += len(kept) == kept.maxlen
        text = entry.payload.get(told)
        kept.append(
            {
                "entry_id": entry.entry_id,
                "session_id": entry.session_id,
                "at": entry.ts,
                "harness": wording.harness(entry),
                told: text[:_PROMPT_MAX] if isinstance(text, str) else "",
            }
        )

    def _room(self, name: str, held: dict[Any, Any], most: int) -> bool:
        """Whether there is room for one more; if not, it is counted."""
        if len(held) < most:
            return True
        self._omitted[name] += 1
        return False

    def _most_used(self) -> list[tuple[str, _Used]]:
        def use(each: tuple[str, _Used]) -> tuple[int, int]:
            counts = each[1].counts
            return -(counts.reads + counts.edits + counts.refused), -each[1].last_at

        return sorted(self._files.items(), key=use)

    def _dead_ends(self) -> Iterator[dict[str, Any]]:
        """Searches that found nothing, and edits that were taken back."""
        for (query, _), one in self._searches.items():
            if one.matches == 0:
                yield {"what": "search", "query": query, "kind": one.kind, **_last(one)}
        for path, trail in self._trails.items():
            if trail.reverted:
                yield {"what": "edit", "path": path, **_last(self._files[path])}


def of_root(path: str, since: int = 0) -> Audit:
    """The audit of all sessions of the project around a folder."""
    root = project(path)
    audit = Audit(root, since)
    found = [one for one in files.peek(paths.sessions()).values() if one.repo_root == root]
    for session in sorted(found, key=lambda one: (one.created_at, one.session_id)):
        audit.take(session, ActionLog(Path(paths.sessions(), session.session_id)))
    return audit


def of_session(session_id: str, since: int = 0) -> Audit:
    """The audit of one session.

    Raises:
        InvalidRequest: There is none of that id.
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
    """The audit of what a snapshot's log tells.

    Raises:
        InvalidRequest: There is none of that id, or its manifest is damaged.
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


def _when(one: _Used) -> dict[str, Any]:
    return {"first_at": one.first_at, "last_at": one.last_at}


def _last(one: _Used) -> dict[str, Any]:
    return {"entry_id": one.entry_id, "at": one.last_at, "by": sorted(one.by)}


def _file(path: str, one: _Used, trail: working_set.Trail | None) -> dict[str, Any]:
    counts = one.counts
    return {
        "path": path,
        "reads": counts.reads,
        "edits": counts.edits,
        "refused": counts.refused,
        "tokens_not_read": counts.tokens_not_read,
        "taken_back": trail is not None and trail.reverted,
        "by": sorted(one.by),
        **_when(one),
    }


def _search(query: str, one: _Used) -> dict[str, Any]:
    return {
        "query": query,
        "kind": one.kind,
        "times": one.counts.searches,
        "matches": one.matches,
        "files": one.files,
        "by": sorted(one.by),
        **_when(one),
    }
