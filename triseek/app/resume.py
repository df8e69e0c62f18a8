"""session_resume: restores what a snapshot holds, so that its work can go on.

The memo learns which files are unchanged, the scores of files are restored, the searches are made
known to the servers that will be asked them again, and the session is opened again. The repository
may be at another place or on another machine: it is recognized by its first commits.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from triseek import paths, private
from triseek.agents.registry import recorded_name
from triseek.engine.roots import is_indexed, project
from triseek.errors import InvalidRequest, StateUnwritable, TriseekError
from triseek.files import access, containment
from triseek.files.tree import git
from triseek.memo.primed import Primed, PrimedFile
from triseek.memo.resolve_context import Asked
from triseek.model import spans, token_estimate
from triseek.model.project_memory import nothing
from triseek.sessions import hydration, snapshot_files
from triseek.sessions.hydration import Drift, HydrationReport, Resumed, Stale
from triseek.sessions.snapshot import quote
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from triseek.engine.service import Service
    from triseek.files.access import Content
    from triseek.memo.memo import Memo
    from triseek.model.project_memory import Remembering
    from triseek.model.session import Session
    from triseek.model.snapshot import FileSeen, Pin, SearchRun
    from triseek.model.spans import Spans
    from triseek.sessions.checkpoints import Checkpoints
    from triseek.sessions.hydration import Payload
    from triseek.sessions.lifecycle import Sessions
    from triseek.sessions.snapshot import Snapshots
    from triseek.sessions.snapshot_files import Snapshot

HYDRATED = "hydrated.json"
"""Which snapshot was resumed last in each root; beside the folder of sessions."""
HYDRATED_S = 7 * 86_400.0
"""How long a resume is remembered."""
ROOTS_MAX = 100
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_INDEX_MAX = 1 << 20


class Hydrated(NamedTuple):
    """The last resume in a root, and the searches of its snapshot."""

    serial: int = 0
    """Rises with each resume; 0 for none."""
    snapshot_id: str | None = None
    searches: Sequence[SearchRun] = ()


@dataclass(eq=False)
class Resuming:
    """Resumes snapshots. Thread-safe."""

    _service: Service
    _sessions: Sessions
    _snapshots: Snapshots
    _checkpoints: Checkpoints
    _memo: Memo
    _clock: Callable[[], float] = time.time
    remembering: Remembering = nothing

    def __post_init__(self) -> None:
        self._hydrated = NewestResumes(Path(paths.daemon()) / HYDRATED, self._clock)

    def resume(
        self,
        snapshot_id: str,
        folder: str,
        who: Mapping[str, object],
        budget_tokens: int = hydration.BUDGET,
        payload_file: str = "",
        *,
        memory: bool = False,
    ) -> Resumed:
        """Prepare this machine for going on with a snapshot's work.

        Args:
            snapshot_id: The snapshot.
            folder: Where the work goes on, absolute.
            who: Who receives the payload, as far as that is known: fields of `Asked`, unchecked.
            budget_tokens: Most tokens of the payload.
            payload_file: Where the payload is going to be written, absolute. The payload does not
                report this change of the file: the same work gives the same bytes again.
            memory: Whether the payload draws on what is remembered of the project.

        Raises:
            InvalidRequest: There is no such snapshot, it is damaged, or `who` is not valid.
            StateUnwritable: The session cannot be written.
        """
        receiver = Asked.read(who)
        snapshot = self._snapshots.get(snapshot_id)
        root = project(folder)
        looks = _Looks(root)
        stale = [
            stale_file
            for seen in snapshot.working_set.files_read
            if (stale_file := looks.stale(seen))
        ]
        since, differs = self._drift(snapshot, root)
        output = stale
        if payload_file:
            own = os.path.relpath(os.path.realpath(payload_file), root)
            output = [file for file in stale if file.path != own]
            since = since._replace(dirty=_as_written(own, since, snapshot))
        remembered = None
        if memory:
            share = hydration.memory_tokens(budget_tokens)
            remembered = self.remembering(root, hydration.subject(snapshot), share)
        payload = hydration.payload(snapshot, since, output, budget_tokens, remembered)
        session = self._session(snapshot, root, receiver)
        primed = self._prime(snapshot, looks, stale, payload, receiver)
        restored = self._restore(snapshot, root)
        self._hydrated.put(root, snapshot_id)
        searches = snapshot.working_set.searches_run
        report = HydrationReport(primed, len(searches), restored, stale, root, differs)
        return Resumed(session.session_id, payload.text, report, searches)

    def hydrated(self, root: str) -> Hydrated:
        """Return the last resume in a root, unless its snapshot was removed."""
        serial, snapshot_id = self._hydrated.get(root)
        if not serial:
            return Hydrated()
        try:
            snapshot = self._snapshots.get(snapshot_id)
        except InvalidRequest:
            return Hydrated()
        return Hydrated(serial, snapshot_id, snapshot.working_set.searches_run)

    def serial(self, root: str) -> int:
        """Return a number that rises with each resume in a root; 0 for none."""
        return self._hydrated.get(root)[0]

    def _drift(self, snapshot: Snapshot, here: str) -> tuple[Drift, list[str]]:
        """Return how a repository differs from what it was, and that in words."""
        manifest = snapshot.manifest
        same = git.is_same(self._checkpoints.identity(here), manifest.repo_identity)
        differs = []
        if same is False:
            differs.append(f"{here} is another repository: its history is not the snapshot's")
        elif same is None and here != manifest.repo_root:
            differs.append("whether this is the same repository cannot be told from its history")
        if moved := here != manifest.repo_root:
            differs.append(f"the repository was at {manifest.repo_root}, and is at {here}")
        commit = (git.head(here) or git.Head("", "")).commit
        if commit != (manifest.repo_commit or ""):
            before, now = (manifest.repo_commit or "none")[:12], (commit or "none")[:12]
            differs.append(f"the commit was {before}, and is {now}")
        state = self._checkpoints.git(here)
        commits, changed = _between(here, manifest.repo_commit, state.commit)
        place = here if moved else ""
        drift = Drift(state.commit, state.branch, state.dirty_files, commits, place, same, changed)
        return drift, differs

    def _session(self, snapshot: Snapshot, root: str, receiver: Asked) -> Session:
        """Open the snapshot's session here, for the receiver's conversation.

        It has another id if its own is taken.
        """
        manifest = snapshot.manifest
        agent = recorded_name(receiver.harness)
        note = {"snapshot_id": manifest.snapshot_id, "harness": agent}
        opened = partial(
            self._sessions.open, root, manifest.goal, awaits=agent or "*", resumed=note
        )
        try:
            return opened(manifest.session_id)
        except InvalidRequest:
            return opened(f"{manifest.session_id[:110]}-{int(self._clock())}")

    def _prime(
        self,
        snapshot: Snapshot,
        looks: _Looks,
        stale: Sequence[Stale],
        payload: Payload,
        who: Asked,
    ) -> int:
        """Register the unchanged files with the memo; return how many."""
        gone = {file.path for file in stale}
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
        """Restore the scores of files and return how many; only an indexed root keeps scores."""
        scores = {os.fsencode(path): score for path, score in snapshot.working_set.frecency_top_n}
        if not scores or not is_indexed(root):
            return 0
        frecency = self._service.engine(root, exact=True).frecency
        if frecency is None or not frecency.claim():
            return 0
        restored = frecency.restore(scores)
        with contextlib.suppress(TriseekError):  # unsaved scores last until the daemon ends
            frecency.save()
        return restored


class NewestResumes:
    """Which snapshot was resumed last in each root; outlives the daemon."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self._path = path
        self._clock = clock
        self._lock = Lock()
        self._known = _kept(path)

    def get(self, root: str) -> tuple[int, str]:
        """Return the serial and the snapshot id of a root; 0 and "" for none."""
        with self._lock:
            serial, snapshot_id = self._known.get(root, (0, ""))
        return (serial, snapshot_id) if self._clock() - serial / 1e3 < HYDRATED_S else (0, "")

    def put(self, root: str, snapshot_id: str) -> None:
        """Remember a resume.

        Raises:
            StateUnwritable: it cannot be saved.
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
    """The present contents of a root's files; each file is read once."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.now = functools.cache(self._look)
        """Returns the content of a file below the root, or why there is none."""

    def stale(self, seen: FileSeen) -> Stale | None:
        """Return the file with the reason if it is not what it was; else None."""
        now = self.now(seen.path)
        if isinstance(now, str):
            return Stale(seen.path, now)
        if not seen.sha:
            return Stale(seen.path, "unverified")
        return None if now.sha == seen.sha else Stale(seen.path, "changed")

    def quoted(self, pins: Iterable[Pin]) -> dict[str, Spans]:
        """Return the lines that are still as they were pinned, by file.

        A file may be unchanged while a pin of it is older, or holds somebody else's words.
        """
        quoted_lines: dict[str, Spans] = {}
        for pin in pins:
            if isinstance(self.now(pin.path), str):
                continue
            with contextlib.suppress(InvalidRequest):
                text = quote(self.root, pin.path, pin.line_start, pin.line_end)
                if snapshot_files.sha(text) == pin.sha:
                    lines = (*quoted_lines.get(pin.path, ()), (pin.line_start, pin.line_end))
                    quoted_lines[pin.path] = spans.joined(lines)
        return quoted_lines

    def real(self, path: str) -> str:
        """Return a file's absolute path, links resolved."""
        return os.path.realpath(os.path.join(self.root, path))  # noqa: PTH118

    def tokens(self, path: str) -> int:
        """Return the estimated tokens of a whole file; 0 if it cannot be read."""
        now = self.now(path)
        return 0 if isinstance(now, str) else token_estimate.of_source(now.size)

    def _look(self, path: str) -> Content | str:
        try:
            if containment.locate(self.root, path).kind == "missing":
                return "missing"
            return access.fingerprint(containment.open_file(self.root, path)) or "unreadable"
        except containment.PathOutside:
            return "missing"  # a link that leads out is not one of the repository's files
        except (OSError, TriseekError):
            return "unreadable"


def _lines(seen: FileSeen) -> tuple[tuple[int, int], ...]:
    """Return the lines that had been read; empty for all."""
    first, last = seen.line_start, seen.line_end
    return ((first, last),) if first is not None and last is not None else ()


def _as_written(own: str, since: Drift, snapshot: Snapshot) -> list[str]:
    """Return the uncommitted files; `own`, about to be written, only if the snapshot has it."""
    others = [path for path in since.dirty if path != own]
    return [*others, own] if own in snapshot.manifest.repo_dirty_files else others


def _between(root: str, before: str | None, now: str | None) -> tuple[int | None, list[str]]:
    """Return how many commits lie between two, and the files below a root in which they differ.

    None and no files if that is unknown.
    """
    if not (before and now and _COMMIT.fullmatch(before)):
        return None, []
    count = git.ask(root, "rev-list", "--count", f"{before}..HEAD", "--")
    names = git.ask(
        root, "diff", "--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff",
        "--ignore-submodules=all", before, now, "--",
    )  # fmt: skip
    changed = [path.decode("utf-8", "replace") for path in (names or b"").split(b"\0") if path]
    return int(count) if count and count.strip().isdigit() else None, changed


def _kept(path: Path) -> dict[str, tuple[int, str]]:
    """Return what an earlier daemon saved; empty if it is invalid."""
    try:
        with path.open("rb") as file:
            roots = json.loads(file.read(_INDEX_MAX))["roots"]
        return {str(root): (int(serial), str(name)) for root, (serial, name) in roots.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
