"""session_snapshot, session_snapshot_list, _get and _diff: checkpoints of sessions."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import itertools
import json
import os
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

from triseek import __version__, private
from triseek.errors import InvalidRequest, StateUnwritable
from triseek.files import containment
from triseek.model.plain_text import encodable
from triseek.model.session import checked_id, is_id
from triseek.model.snapshot import GitState, Pin, SnapshotManifest, WorkingSet, inner_path
from triseek.redaction import redact
from triseek.sessions import brief, snapshot_files
from triseek.sessions.requests import PinnedLines
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from triseek.model.session import Session
    from triseek.model.snapshot import Trigger
    from triseek.sessions.action_log import Newest
    from triseek.sessions.pack import Unpacked
    from triseek.sessions.results import DamagedSnapshot, SnapshotListAnswer
    from triseek.sessions.snapshot_files import Snapshot

LOG_MAX = 4 << 20
"""Bytes of the session's log that a snapshot includes, from its end."""
PIN_LINES_MAX = 2_000
PIN_BYTES_MAX = 256 << 10
PINS_MAX = 200
DIRTY_MAX = 2_000
SWEPT_AFTER_S = 60.0
"""Minimum age of an unfinished build that is removed; building a snapshot takes a second."""
_PARTS_MAX = 2 << 20
"""Bytes, as JSON, of a list in a document; a document has at most three, and its own limit."""
_PARTIAL = ".partial"
_ID_MAX = 120
"""Characters of an id that is made here: it leaves room for a number."""
_ATTEMPTS = 100
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY)

_Part = TypeVar("_Part")


def read_pins(body: object) -> list[PinnedLines]:
    """Read lines to pin from JSON: a list of `{path, line_start, line_end}`, or None for none.

    Raises:
        InvalidRequest: `body` is something else, or has more than `PINS_MAX`.
    """
    if body is None:
        return []
    if not isinstance(body, list) or len(body) > PINS_MAX:
        raise pins_refused()
    pins = []
    for item in body:
        match item:
            case {"path": str(path), "line_start": int(first), "line_end": int(last)}:
                pins.append(PinnedLines(path=path, line_start=first, line_end=last))
            case _:
                raise InvalidRequest(
                    "a pinned snippet has to have path, line_start and line_end",
                    next_step='For example {"path": "src/a.py", "line_start": 1, "line_end": 9}.',
                )
    return pins


def pins_refused() -> InvalidRequest:
    """Return the error for lines to pin that are not a list of at most `PINS_MAX`."""
    return InvalidRequest(
        f"pinned_snippet_paths has to be a list of at most {PINS_MAX}",
        next_step="Pin fewer lines, or longer stretches of them.",
    )


class Circumstances(NamedTuple):
    """What a snapshot records besides the session itself."""

    git: GitState
    identity: str
    generation: int
    epoch: int
    harness: str | None
    model: str | None
    trigger: Trigger = "asked"


class Snapshots:
    """The snapshots of one machine; threads and processes may share it."""

    def __init__(
        self, folder: str | os.PathLike[str], clock: Callable[[], float] = time.time
    ) -> None:
        """Use the snapshots in `folder`, which is created with the first."""
        self._folder = Path(folder)
        self._clock = clock
        self._lock = Lock()

    def create(
        self,
        session: Session,
        newest: Newest,
        working_set: WorkingSet,
        wanted: Sequence[PinnedLines],
        about: Circumstances,
    ) -> tuple[SnapshotManifest, Path]:
        """Write a snapshot of a session, complete or not at all.

        Args:
            session: The session.
            newest: The newest entries of its log, at most `LOG_MAX` bytes.
            working_set: The working set of these entries.
            wanted: Lines to quote, besides those that earlier snapshots of the session have quoted.
            about: Everything else to record.

        Returns:
            Its manifest and its folder.

        Raises:
            InvalidRequest: Lines to pin cannot be quoted; `PathRefused` if their file may not be
                read.
            StateUnwritable: It cannot be written.
        """
        snippets: dict[str, bytes] = {}
        pins = [_pinned(session.repo_root, pin, snippets) for pin in wanted]
        places = {(pin.path, pin.line_start, pin.line_end) for pin in pins}
        for pin, text in self._pinned_before(session.session_id):
            place = (pin.path, pin.line_start, pin.line_end)
            if place not in places and len(pins) < PINS_MAX:
                places.add(place)
                pins.append(pin)
                snippets[pin.sha] = text
        now = int(self._clock())
        git = _bounded_git(about.git)
        manifest = SnapshotManifest(
            snapshot_id=f"snap_{now}_{session.session_id}"[:_ID_MAX],
            session_id=session.session_id,
            created_at=now,
            repo_root=session.repo_root,
            repo_commit=git.commit,
            repo_dirty_files=git.dirty_files,
            source_harness=about.harness,
            source_model=about.model,
            generation=about.generation,
            context_epoch=about.epoch,
            goal=encodable(session.goal),
            session_status=session.status,
            repo_branch=git.branch,
            repo_identity=about.identity,
            triseek_version=__version__,
            action_log_omitted=newest.omitted,
            trigger=about.trigger,
        )
        work = _bounded_work(working_set)

        files = snapshot_files.encoded(manifest, work, newest.lines, pins, git, snippets)
        named = self._publish(manifest, files)
        return named, self._folder / named.snapshot_id

    def _pinned_before(self, session_id: str) -> Iterator[tuple[Pin, bytes]]:
        """Yield what earlier snapshots of a session have pinned, newest first."""
        for manifest in self.all(session_id=session_id):
            with contextlib.suppress(OSError, ValueError, InvalidRequest):
                yield from snapshot_files.read_pins(self.folder(manifest.snapshot_id)).items()

    def take_in(self, unpacked: Unpacked) -> SnapshotManifest:
        """Store the content of a pack, under its own id, or with a number added if that is taken.

        Secrets are removed: the pack may be of an earlier version, or made by somebody else.

        Raises:
            StateUnwritable: It cannot be written.
        """
        files = snapshot_files.redacted(unpacked.files)
        return self._publish(unpacked.snapshot.manifest, files)

    def all(self, root: str = "", session_id: str = "") -> list[SnapshotManifest]:
        """Return the manifests of a repository's snapshots, newest first; see also `damaged`."""
        return sorted(
            (
                manifest
                for _, manifest in self._listed()
                if isinstance(manifest, SnapshotManifest)
                and root in ("", manifest.repo_root)
                and session_id in ("", manifest.session_id)
            ),
            key=lambda manifest: (manifest.created_at, manifest.snapshot_id),
            reverse=True,
        )

    def damaged(self) -> list[DamagedSnapshot]:
        """Return those with an unreadable manifest, of all repositories: it alone names one."""
        return [
            {"snapshot_id": name, "reason": reason}
            for name, reason in self._listed()
            if isinstance(reason, str)
        ]

    def _listed(self) -> Iterator[tuple[str, SnapshotManifest | str]]:
        """Yield the name and manifest of each snapshot, or one phrase why it cannot be read."""
        try:
            folders = sorted(self._folder.iterdir())
        except OSError:
            return
        for folder in folders:
            if not is_id(folder.name) or not folder.is_dir():
                continue
            manifest: SnapshotManifest | str
            try:
                manifest = snapshot_files.read_manifest(folder)
                if manifest.snapshot_id != folder.name:  # no other id could be requested
                    manifest = f"{snapshot_files.MANIFEST}: another snapshot_id"
            except FileNotFoundError:
                manifest = f"{snapshot_files.MANIFEST} is missing"
            except OSError as error:
                manifest = f"{snapshot_files.MANIFEST}: {error.strerror}"
            except ValueError as error:
                manifest = str(error)
            yield folder.name, manifest

    def get(self, snapshot_id: str) -> Snapshot:
        """Return all of a snapshot.

        Raises:
            InvalidRequest: There is none with that id, or it is damaged.
        """
        try:
            return snapshot_files.read_folder(self.folder(snapshot_id))
        except (OSError, ValueError) as error:
            raise InvalidRequest(
                f"snapshot {snapshot_id} cannot be read: {error}",
                next_step="See `triseek snapshot list` for others.",
                tool_step="session_snapshot_list has the others.",
            ) from error

    def write_briefing(self, snapshot_id: str, text: str | None = None) -> Path:
        """Write the briefing of a snapshot, in place of an existing one.

        Args:
            snapshot_id: The snapshot.
            text: The briefing; None makes one from the log alone.

        Returns:
            The file.

        Raises:
            InvalidRequest: There is no such snapshot, or the briefing is not valid; nothing is
                written.
            StateUnwritable: It cannot be written.
        """
        snapshot = self.get(snapshot_id)
        text = brief.template(snapshot) if text is None else text
        text = redact(text)
        brief.validate(text, (entry.entry_id for entry in snapshot.entries))
        path = self.folder(snapshot_id) / snapshot_files.BRIEFING
        with self._writing():
            atomic.write(path, text.encode())
        return path

    def remove(self, snapshot_id: str) -> None:
        """Delete a snapshot; a partial one is never left under its name.

        Raises:
            InvalidRequest: There is none with that id.
            StateUnwritable: It cannot be removed.
        """
        folder = self.folder(snapshot_id)
        with self._writing():
            aside = self._aside(snapshot_id)
            folder.rename(aside)
            shutil.rmtree(aside)

    def folder(self, snapshot_id: str) -> Path:
        """Return the folder of a snapshot.

        Raises:
            InvalidRequest: There is none with that id.
        """
        folder = self._folder / checked_id(snapshot_id, "snapshot_id")
        if not (folder / snapshot_files.MANIFEST).is_file():
            raise InvalidRequest(
                f"unknown snapshot_id `{snapshot_id}`",
                next_step="See `triseek snapshot list`.",
                tool_step="session_snapshot_list has the ids.",
            )
        return folder

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._lock:
                private.make(self._folder)
                yield
        except OSError as error:
            raise StateUnwritable(f"cannot write {self._folder}: {error.strerror}") from error

    def _publish(self, manifest: SnapshotManifest, files: Mapping[str, bytes]) -> SnapshotManifest:
        """Write a folder under a temporary name, rename it to a free one; remove it on failure.

        Returns:
            The manifest under the id that was free.
        """
        name = manifest.snapshot_id
        with self._writing():
            self._sweep()
            for attempt in itertools.count():
                free = self._free(name)
                aside = self._aside(free)
                try:
                    snapshot_files.write(
                        aside, files if free == name else snapshot_files.renamed(files, free)
                    )
                    atomic.sync(aside / snapshot_files.SNIPPETS)
                    atomic.publish(aside, self._folder / free)
                except BaseException as error:
                    shutil.rmtree(aside, ignore_errors=True)
                    # Another process may have taken the name meanwhile.
                    taken = isinstance(error, OSError) and error.errno in _TAKEN
                    if not taken or attempt >= _ATTEMPTS:
                        raise
                else:
                    return dataclasses.replace(manifest, snapshot_id=free)
            raise AssertionError("counting does not end")

    def _aside(self, name: str) -> Path:
        """Return the path of a folder to build in, or to remove from."""
        return self._folder / f"{name}.{os.getpid()}{_PARTIAL}"

    def _sweep(self) -> None:
        """Remove unfinished builds of killed processes.

        Not at once: a process in another container, with the same folder, has a pid unknown here.
        """
        for folder in self._folder.glob(f"*{_PARTIAL}"):
            pid = folder.name.removesuffix(_PARTIAL).rpartition(".")[2]
            with contextlib.suppress(OSError):
                is_old = time.time() - folder.lstat().st_mtime > SWEPT_AFTER_S
                if is_old and not (pid.isdecimal() and _lives(int(pid))):
                    shutil.rmtree(folder, ignore_errors=True)

    def _free(self, name: str) -> str:
        """Return the name, with a number added if it is taken."""
        tried, number = name, 1
        while os.path.lexists(self._folder / tried):
            tried, number = f"{name[:_ID_MAX]}-{number}", number + 1
        return tried


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _bounded_git(git: GitState) -> GitState:
    """Limit the git state to its first files, for a tree in which everything has changed."""
    files = _fitting(git.dirty_files[:DIRTY_MAX])
    lines = {path: git.hunk_summary[path] for path in files if path in git.hunk_summary}
    return dataclasses.replace(git, dirty_files=files, hunk_summary=lines)


def _bounded_work(work: WorkingSet) -> WorkingSet:
    """Limit the working set to what its file may hold; what was used last comes first."""
    return dataclasses.replace(
        work,
        files_read=_fitting(work.files_read),
        searches_run=_fitting(work.searches_run),
        frecency_top_n=_fitting(work.frecency_top_n),
    )


def _fitting(parts: list[_Part]) -> list[_Part]:
    """Return the first parts, as long as they fit into `_PARTS_MAX` as JSON."""
    room = _PARTS_MAX
    for number, part in enumerate(parts):
        # Indented as in the file, two levels deep.
        room -= len(json.dumps([[part]], indent=1, default=asdict)) + 2
        if room < 0:
            return parts[:number]
    return parts


def list_answer(
    manifests: Iterable[SnapshotManifest], damaged: list[DamagedSnapshot]
) -> SnapshotListAnswer:
    """Return the answer that lists snapshots."""
    answer: SnapshotListAnswer = {"snapshots": [manifest.document() for manifest in manifests]}
    if damaged:
        answer["damaged"] = damaged
    return answer


def diff(a: Snapshot, b: Snapshot) -> dict[str, list[str]]:
    """Return what the second has that the first has not, and the other way round.

    Files are compared by path and hash. Searches are compared by kind and query, and listed by id,
    with their queries in the same order.
    """
    before = {seen.path: seen.sha for seen in a.working_set.files_read}
    after = {seen.path: seen.sha for seen in b.working_set.files_read}
    earlier = {(run.kind, run.query): run.search_id for run in a.working_set.searches_run}
    later = {(run.kind, run.query): run.search_id for run in b.working_set.searches_run}
    return {
        "added_files": sorted(after.keys() - before.keys()),
        "removed_files": sorted(before.keys() - after.keys()),
        "changed_files": sorted(
            path for path in before.keys() & after.keys() if before[path] != after[path]
        ),
        "added_searches": [name for what, name in later.items() if what not in earlier],
        "removed_searches": [name for what, name in earlier.items() if what not in later],
        "added_queries": [query for kind, query in later if (kind, query) not in earlier],
        "removed_queries": [query for kind, query in earlier if (kind, query) not in later],
    }


def _pinned(root: str, wanted: PinnedLines, snippets: dict[str, bytes]) -> Pin:
    """Quote lines of a file; the text goes into `snippets`."""
    if not 1 <= wanted.line_start <= wanted.line_end:
        raise InvalidRequest(
            f"cannot pin lines {wanted.line_start} to {wanted.line_end} of {wanted.path!r:.200}",
            next_step="Lines count from 1, and the last is not before the first.",
        )
    last = min(wanted.line_end, wanted.line_start + PIN_LINES_MAX - 1)
    quoted = quote(root, wanted.path, wanted.line_start, last)
    text = redact(quoted.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    try:
        path = inner_path(containment.locate(root, wanted.path).named)
    except ValueError as error:
        raise InvalidRequest(
            f"cannot pin {wanted.path!r:.200}: {error}", next_step="Pin a file with a shorter path."
        ) from error
    snippets[snapshot_files.sha(text)] = text
    return Pin(
        path=path,
        line_start=wanted.line_start,
        line_end=wanted.line_start + text.count(b"\n"),
        sha=snapshot_files.sha(text),
    )


def quote(root: str, path: str, first: int, last: int) -> bytes:
    """Return lines of a file as they are pinned: without the end of the last.

    Raises:
        InvalidRequest: There are none, or they cannot be read; `PathOutside` if the path leads out
            of the root.
        RepoNotDetected: The root is gone.
    """
    try:
        with open(containment.open_file(root, path), "rb") as file:  # noqa: PTH123
            lines = _quoted(file, first, last)
    except OSError as error:
        raise InvalidRequest(
            f"cannot pin {path!r:.200}: {error.strerror}", next_step="Pin a file that can be read."
        ) from error
    if not lines:
        raise InvalidRequest(
            f"cannot pin {path!r:.200}: it has no line {first}, or one too long to quote",
            next_step="Look at the file again.",
        )
    return b"".join(lines).removesuffix(b"\n")


def _quoted(file: BinaryIO, first: int, last: int) -> list[bytes]:
    """Read whole lines, as many as there is room for."""
    lines: list[bytes] = []
    room, number = PIN_BYTES_MAX, 1
    while number <= last and (piece := file.readline(PIN_BYTES_MAX + 1)):
        if number >= first:
            room -= len(piece)
            if room < 0:
                break
            lines.append(piece)
        number += piece.endswith(b"\n")
    return lines
