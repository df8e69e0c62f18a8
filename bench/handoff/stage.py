"""A place in which a session takes place again, recorded and cut by the parts that do so at work.

The log is the recorder's, the snapshot that of `sessions.checkpoints`; nothing of them is imitated.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.handoff.branches import git
from bench.handoff.metrics import Asked, Needs, needs
from triseek.app import registry
from triseek.app.tool_context import ToolContext
from triseek.engine.tool_host import ToolHost
from triseek.kernels import cache
from triseek.model.call import Call
from triseek.search.requests import SearchContentRequest
from triseek.sessions.checkpoints import Checkpoints
from triseek.sessions.hydration import Drift, Stale
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.recording import Action, Recorder
from triseek.sessions.requests import SessionSnapshotRequest
from triseek.sessions.snapshot import Snapshots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from triseek.engine.service import Service
    from triseek.sessions.snapshot_files import Snapshot

SHARES = (0.3, 0.5, 0.7)
"""Where sessions are cut."""
_BEGUN = 1_700_000_000.0
"""The hour of all sessions: a text that tells it is the same in each run."""
_SET = ("TRISEEK_HOME", "TRISEEK_NO_DAEMON")
_SEARCH = next(tool for tool in registry.TOOLS if tool.name == "search_content")


@dataclass(frozen=True, slots=True)
class Cut:
    """A session, handed over at one point."""

    share: float
    snapshot: Snapshot
    since: Drift
    stale: tuple[Stale, ...]
    diff: str
    """What `git diff --stat` and `git diff` say then."""
    files: frozenset[str]
    """Paths that are there then."""
    needs: Needs
    opened: int = 0
    """Searches that whoever goes on begins with."""


@dataclass(frozen=True, slots=True)
class Played:
    """A session from its begin to its end."""

    name: str
    kind: str
    """workday: of a real agent; branch, branches: of commits."""
    group: str
    """The agent, or the project."""
    entries: int
    cuts: tuple[Cut, ...]


def half_of(name: str) -> str:
    """Which half a session is of, by its name: tuning or reported.

    Nobody looks at the latter before it is reported.
    """
    return ("tuning", "reported")[hashlib.sha256(name.encode()).digest()[0] % 2]


@contextlib.contextmanager
def state() -> Iterator[Path]:
    """A folder for all that is written, state of the service included."""
    kept = {name: os.environ.get(name) for name in _SET}
    cache.directory()  # found once, before the folder of state is another one: compiled once
    with tempfile.TemporaryDirectory(prefix="triseek-handoff-") as scratch:
        folder = Path(scratch).resolve()
        os.environ |= dict(zip(_SET, (str(folder / "state"), "1"), strict=True))
        try:
            yield folder
        finally:
            for name, value in kept.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


class Stage:
    """One session in one tree."""

    def __init__(self, service: Service, folder: Path, tree: Path, name: str, goal: str) -> None:
        """Open a session; what it leaves goes to `folder`."""
        self.tree = tree
        self._root = str(tree)
        self._sessions = Sessions(folder / "sessions", lambda: _BEGUN)
        self._snapshots = Snapshots(folder / "snapshots", lambda: _BEGUN)
        self._session = self._sessions.open(self._root, goal, name)
        self.recorder = Recorder(self._sessions, lambda *_: None)
        self._checkpoints = Checkpoints(service, self._sessions, self._snapshots)
        self._context = ToolContext(
            ToolHost(service=service, root=self._root), lambda _, action: self._take(action)
        )
        self._aside: list[Action] | None = None
        self._cuts: list[tuple[Cut, int, tuple[Asked, ...]]] = []

    def use(self, kind: str, path: str, first: int = 0, last: int = 0) -> None:
        """A file was read or edited, as a hook tells it."""
        payload: dict[str, object] = {"root": self._root, "path": str(self.tree / path)}
        if first:
            payload["lines"] = [first, last]
        self._take(Action(at_s=_BEGUN, kind=kind, conversation=None, payload=payload))

    def prompt(self, text: str) -> None:
        """Somebody says what is to be done."""
        payload = {"root": self._root, "prompt": text}
        self._take(Action(at_s=_BEGUN, kind="prompt", conversation=None, payload=payload))

    def search(self, query: str) -> None:
        """Search the tree as it is, by the tool that agents have."""
        call = Call()
        envelope = _SEARCH.answer(
            self._context.contexts[_SEARCH.toolset], SearchContentRequest(query=query), call
        )
        self._context.record(_SEARCH, {"query": query}, envelope, call)

    def would_search(self, queries: Sequence[str]) -> tuple[Asked, ...]:
        """What searches find, without their being done in the session."""
        self._aside = []
        try:
            for query in queries:
                self.search(query)
            told = [action.payload for action in self._aside]
        finally:
            self._aside = None
        return tuple(_asked(payload) for payload in told)

    def cut(
        self, share: float, diff: str, files: frozenset[str], openings: Sequence[str] = ()
    ) -> None:
        """Make a snapshot of how it stands."""
        manifest, _ = self._checkpoints.take(self._session.session_id, SessionSnapshotRequest())
        snapshot = self._snapshots.get(manifest.snapshot_id)
        state = snapshot.git
        since = Drift(state.commit, state.branch, state.dirty_files, 0)
        stale = tuple(_stale(self.tree, snapshot))
        last = max((entry.entry_id for entry in snapshot.entries), default=0)
        nothing = Needs(frozenset(), frozenset(), (), frozenset(), frozenset())
        cut = Cut(share, snapshot, since, stale, diff, files, nothing, len(openings))
        self._cuts.append((cut, last, self.would_search(openings)))

    def end(self) -> tuple[int, tuple[Cut, ...]]:
        """Close; how many entries there are, and each cut with what came after it."""
        entries = list(self._sessions.log(self._session.session_id))
        found = []
        for cut, last, opened in self._cuts:
            before = [entry for entry in entries if entry.entry_id <= last]
            after = [entry for entry in entries if entry.entry_id > last]
            wanted = needs(before, after, cut.files, opened)
            found.append(_with(cut, wanted))
        return len(entries), tuple(found)

    @property
    def length(self) -> int:
        """Entries so far."""
        return len(self._sessions.log(self._session.session_id))

    def _take(self, action: Action) -> None:
        if self._aside is not None:
            self._aside.append(action)
        else:
            self.recorder.record(self._root, self._session.session_id, action)


def diff_of(tree: Path, *between: str) -> str:
    """What git says has changed: the counts, then the lines."""
    words = ("--no-ext-diff", "--no-textconv", "--no-color", *between, "--")
    return git(tree, "diff", "--stat=200", *words) + "\n" + git(tree, "diff", *words)


def _with(cut: Cut, wanted: Needs) -> Cut:
    return Cut(
        cut.share, cut.snapshot, cut.since, cut.stale, cut.diff, cut.files, wanted, cut.opened
    )


def _asked(payload: Mapping[str, object]) -> Asked:
    arguments, paths = payload["arguments"], payload["result_paths"]
    assert isinstance(arguments, dict)
    assert isinstance(paths, list)
    return Asked(str(arguments["query"]), tuple(dict.fromkeys(paths)), not paths)


def _stale(tree: Path, snapshot: Snapshot) -> Iterator[Stale]:
    """Files that are not as the session saw them last."""
    for seen in snapshot.working_set.files_read:
        if not seen.sha:
            continue
        try:
            now = hashlib.sha256((tree / seen.path).read_bytes()).hexdigest()
        except OSError:
            yield Stale(seen.path, "missing")
            continue
        if now != seen.sha:
            yield Stale(seen.path, "changed")
