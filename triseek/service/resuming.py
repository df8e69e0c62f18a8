"""session_resume: what a snapshot knows, given to whoever goes on with its work.

The memo learns which files are still as they were, the scores of files are taken over, the searches
are known to the servers that will be asked them again, and the session goes on. The repository may
be elsewhere than it was, or on another machine: it is recognised by its first commits.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek import paths, private
from triseek.errors import InvalidRequest, StateUnwritable, TriseekError
from triseek.files import containment, content, git, git_state
from triseek.service.roots import is_indexed, project
from triseek.sessions import hydration, snapshot_files
from triseek.sessions.hydration import Since, Stale
from triseek.sessions.memo import look, spans
from triseek.sessions.memo.primed import Primed, PrimedFile
from triseek.sessions.snapshot import quote
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from triseek.files.content import Content
    from triseek.model.session import Session
    from triseek.model.snapshot import FileSeen, Pin
    from triseek.service.checkpoints import Checkpoints
    from triseek.service.service import Service
    from triseek.sessions.hydration import Payload
    from triseek.sessions.lifecycle import Sessions
    from triseek.sessions.memo.choosing import Asked
    from triseek.sessions.memo.memo import Memo
    from triseek.sessions.memo.spans import Spans
    from triseek.sessions.snapshot import Snapshots
    from triseek.sessions.snapshot_files import Snapshot

HYDRATED = "hydrated.json"
"""Which snapshot was resumed last in each root; beside the sessions."""
HYDRATED_S = 7 * 86_400.0
"""How long a resume is remembered."""
ROOTS_MAX = 100
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_INDEX_MAX = 1 << 20


class Place(NamedTuple):
    """Where a snapshot's repository is now, and how that differs from where it was."""

    root: str
    other_place: str
    same_history: bool | None
    differs: list[str]


class Resuming:
    """Resumes snapshots; shared by threads."""

    def __init__(
        self,
        service: Service,
        sessions: Sessions,
        snapshots: Snapshots,
        checkpoints: Checkpoints,
        memo: Memo,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._service = service
        self._sessions = sessions
        self._snapshots = snapshots
        self._checkpoints = checkpoints
        self._memo = memo
        self._clock = clock
        self._hydrated = Hydrated(Path(paths.daemon()) / HYDRATED, clock)

    def resume(
        self,
        snapshot_id: str,
        folder: str,
        who: Asked,
        budget_tokens: int = hydration.BUDGET,
        payload_file: str = "",
    ) -> dict[str, Any]:
        """Prepare this machine for going on with a snapshot's work.

        Args:
            snapshot_id: Which.
            folder: Where it is gone on with, absolute.
            who: To whom the payload goes, as far as that is known.
            budget_tokens: Most tokens of the payload.
            payload_file: Where the payload is going to be written, absolute. That this changes the
                file is not told in the payload: the same work gives the same bytes again.

        Returns:
            The answer of `session_resume`.

        Raises:
            InvalidRequest: There is no such snapshot, or it is damaged.
            StateUnwritable: The session cannot be written.
        """
        snapshot = self._snapshots.get(snapshot_id)
        place = self._place(snapshot, project(folder))
        looks = _Looks(place.root)
        stale = [found for seen in snapshot.working_set.files_read if (found := looks.stale(seen))]
        since = self._since(snapshot, place)
        told = stale
        if payload_file:
            own = os.path.relpath(os.path.realpath(payload_file), place.root)
            told = [one for one in stale if one.path != own]
            since = since._replace(dirty=_as_written(own, since, snapshot))
        payload = hydration.payload(snapshot, since, told, budget_tokens)
        session = self._session(snapshot, place.root)
        primed = self._prime(snapshot, looks, stale, payload, who)
        restored = self._restore(snapshot, place.root)
        self._hydrated.put(place.root, snapshot_id)
        searches = [run.document() for run in snapshot.working_set.searches_run]
        self._sessions.record(
            session.session_id,
            "session_resume",
            {"snapshot_id": snapshot_id, "harness": who.harness or None},
        )
        return {
            "session_id": session.session_id,
            "payload_markdown": payload.text,
            "payload_token_estimate": hydration.tokens(payload.text),
            "hydration_report": {
                "files_primed": primed,
                "searches_warmed": len(searches),
                "frecency_entries_restored": restored,
                "stale_files": [one._asdict() for one in stale],
                "repo_root": place.root,
                "differs": place.differs,
            },
            "searches": searches,
        }

    def hydrated(self, root: str) -> dict[str, Any]:
        """What was resumed last in a root: serial (0: nothing), snapshot_id and searches."""
        serial, snapshot_id = self._hydrated.get(root)
        nothing: dict[str, Any] = {"serial": 0, "snapshot_id": None, "searches": []}
        if not serial:
            return nothing
        try:
            snapshot = self._snapshots.get(snapshot_id)
        except InvalidRequest:
            return nothing  # it was removed
        searches = [run.document() for run in snapshot.working_set.searches_run]
        return {"serial": serial, "snapshot_id": snapshot_id, "searches": searches}

    def serial(self, root: str) -> int:
        """Rises with each resume in a root; 0 for none."""
        return self._hydrated.get(root)[0]

    def _place(self, snapshot: Snapshot, here: str) -> Place:
        manifest = snapshot.manifest
        same = git_state.is_same(self._checkpoints.identity(here), manifest.repo_identity)
        differs = []
        if same is False:
            differs.append(f"{here} is another repository: its history is not the snapshot's")
        elif same is None and here != manifest.repo_root:
            differs.append("whether this is the same repository cannot be told from its history")
        moved = here != manifest.repo_root
        if moved:
            differs.append(f"the repository was at {manifest.repo_root}, and is at {here}")
        commit = (git.head(here) or git.Head("", "")).commit
        if commit != (manifest.repo_commit or ""):
            before, now = (manifest.repo_commit or "none")[:12], (commit or "none")[:12]
            differs.append(f"the commit was {before}, and is {now}")
        return Place(here, here if moved else "", same, differs)

    def _since(self, snapshot: Snapshot, place: Place) -> Since:
        state = self._checkpoints.git(place.root)
        return Since(
            state.commit,
            state.branch,
            state.dirty_files,
            _commits_between(place.root, snapshot.manifest.repo_commit, state.commit),
            place.other_place,
            place.same_history,
            _changed_between(place.root, snapshot.manifest.repo_commit, state.commit),
        )

    def _session(self, snapshot: Snapshot, root: str) -> Session:
        """The snapshot's session, open here; under another id where its own is taken."""
        manifest = snapshot.manifest
        try:
            return self._sessions.open(root, manifest.goal, manifest.session_id)
        except InvalidRequest:
            name = f"{manifest.session_id[:110]}-{int(self._clock())}"
            return self._sessions.open(root, manifest.goal, name)

    def _prime(
        self,
        snapshot: Snapshot,
        looks: _Looks,
        stale: Sequence[Stale],
        payload: Payload,
        who: Asked,
    ) -> int:
        """Tell the memo of the files that are as they were; how many."""
        gone = {one.path for one in stale}
        still = looks.quoted(snapshot.pins)
        files = tuple(
            PrimedFile(
                looks.real(seen.path), seen.sha, looks.tokens(seen.path), _lines(seen),
                spans.both(
                    payload.carried.get(seen.path, spans.NONE), still.get(seen.path, spans.NONE)
                ),
            )
            for seen in snapshot.working_set.files_read
            if seen.path not in gone
        )  # fmt: skip
        self._memo.prime(looks.root, Primed(snapshot.manifest.snapshot_id, who, files))
        return len(files)

    def _restore(self, snapshot: Snapshot, root: str) -> int:
        """Take over the scores of files; only of a root that has an index, which keeps them."""
        scores = {os.fsencode(path): score for path, score in snapshot.working_set.frecency_top_n}
        if not scores or not is_indexed(root):
            return 0
        frecency = self._service.engine(root, exact=True).frecency
        if frecency is None or not frecency.claim():
            return 0
        restored = frecency.restore(scores)
        with contextlib.suppress(TriseekError):  # what is not saved counts until the daemon ends
            frecency.save()
        return restored


class Hydrated:
    """Which snapshot was resumed last where; kept over the end of the daemon."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self._path = path
        self._clock = clock
        self._lock = Lock()
        self._known = _kept(path)

    def get(self, root: str) -> tuple[int, str]:
        """Its serial and the snapshot's id; 0 and "" for none."""
        with self._lock:
            serial, snapshot_id = self._known.get(root, (0, ""))
        return (serial, snapshot_id) if self._clock() - serial / 1e3 < HYDRATED_S else (0, "")

    def put(self, root: str, snapshot_id: str) -> None:
        """Remember a resume.

        Raises:
            StateUnwritable: it cannot be kept.
        """
        with self._lock:
            last = self._known.pop(root, (0, ""))[0]
            self._known[root] = (max(int(self._clock() * 1e3), last + 1), snapshot_id)
            while len(self._known) > ROOTS_MAX:
                del self._known[next(iter(self._known))]
            body = {"schema_version": 1, "roots": self._known}
            try:
                private.make(self._path.parent)
                atomic.write(self._path, json.dumps(body).encode("ascii"))
            except OSError as error:
                raise StateUnwritable(f"cannot write {self._path}: {error.strerror}") from error


class _Looks:
    """What files of a root hold now; each is read once."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._seen: dict[str, Content | str] = {}

    def now(self, path: str) -> Content | str:
        """The content of a file below the root; or why there is none."""
        if path not in self._seen:
            self._seen[path] = self._look(path)
        return self._seen[path]

    def stale(self, seen: FileSeen) -> Stale | None:
        """The file, if it is not what it was."""
        now = self.now(seen.path)
        if isinstance(now, str):
            return Stale(seen.path, now)
        if not seen.sha:
            return Stale(seen.path, "unverified")
        return None if now.sha == seen.sha else Stale(seen.path, "changed")

    def quoted(self, pins: Iterable[Pin]) -> dict[str, Spans]:
        """Lines that are what is pinned of them, by file.

        A file may be as the session saw it last, and a pin older; or somebody else's words.
        """
        found: dict[str, Spans] = {}
        for pin in pins:
            if isinstance(self.now(pin.path), str):
                continue
            with contextlib.suppress(InvalidRequest):
                text = quote(self.root, pin.path, pin.line_start, pin.line_end)
                if snapshot_files.sha(text) == pin.sha:
                    lines = spans.of(pin.line_start, pin.line_end)
                    found[pin.path] = spans.union(found.get(pin.path, spans.NONE), lines)
        return found

    def real(self, path: str) -> str:
        """A file's absolute path, links resolved."""
        return os.path.realpath(os.path.join(self.root, path))  # noqa: PTH118

    def tokens(self, path: str) -> int:
        """An estimate for all of a file."""
        now = self.now(path)
        return 0 if isinstance(now, str) else look.tokens(now.size)

    def _look(self, path: str) -> Content | str:
        try:
            if containment.locate(self.root, path).kind == "missing":
                return "missing"
            return content.look_at(containment.open_file(self.root, path)) or "unreadable"
        except containment.PathOutside:
            return "missing"  # a link that leads out is none of the repository's files
        except (OSError, TriseekError):
            return "unreadable"


def _lines(seen: FileSeen) -> tuple[tuple[int, int], ...]:
    """The lines that had been read; none for all."""
    first, last = seen.line_start, seen.line_end
    return ((first, last),) if first is not None and last is not None else ()


def _as_written(own: str, since: Since, snapshot: Snapshot) -> list[str]:
    """The uncommitted files; one of them will be `own`, so it is news only if it was not before."""
    others = [path for path in since.dirty if path != own]
    return [*others, own] if own in snapshot.manifest.repo_dirty_files else others


def _commits_between(root: str, before: str | None, now: str | None) -> int | None:
    """Commits since the snapshot's; None if that cannot be told."""
    if not (before and now and _COMMIT.fullmatch(before)):
        return None
    told = git.ask(root, "rev-list", "--count", f"{before}..HEAD", "--")
    return int(told) if told and told.strip().isdigit() else None


def _changed_between(root: str, before: str | None, now: str | None) -> list[str]:
    """The files below a root in which two commits differ, as far as that can be told."""
    if not (before and now and before != now and _COMMIT.fullmatch(before)):
        return []
    told = git.ask(
        root, "diff", "--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff",
        "--ignore-submodules=all", before, now, "--",
    )  # fmt: skip
    return [path.decode("utf-8", "replace") for path in (told or b"").split(b"\0") if path]


def _kept(path: Path) -> dict[str, tuple[int, str]]:
    """What an earlier daemon wrote down; nothing where it makes no sense."""
    try:
        with path.open("rb") as file:
            roots = json.loads(file.read(_INDEX_MAX))["roots"]
        return {str(root): (int(serial), str(name)) for root, (serial, name) in roots.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
