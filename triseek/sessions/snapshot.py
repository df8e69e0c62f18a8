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
from dataclasses import asdict, is_dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

from triseek import __version__, private
from triseek.errors import InvalidRequest, StateUnwritable
from triseek.files import containment
from triseek.model.plain_text import encodable
from triseek.model.session import checked_id, is_id
from triseek.model.snapshot import GitState, Manifest, Pin, WorkingSet, inner_path
from triseek.sessions import brief, pack, snapshot_files
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from triseek.model.session import Session
    from triseek.model.snapshot import Trigger
    from triseek.sessions.action_log import Newest
    from triseek.sessions.pack import Unpacked
    from triseek.sessions.snapshot_files import Snapshot

LOG_MAX = 4 << 20
"""Bytes of the session's log that a snapshot takes along, the newest."""
PIN_LINES_MAX = 2_000
PIN_BYTES_MAX = 256 << 10
PINS_MAX = 200
DIRTY_MAX = 2_000
SWEPT_AFTER_S = 60.0
"""How old what is half built has to be; to build a snapshot takes a second."""
_PARTS_MAX = 2 << 20
"""Bytes, as JSON, of a list in a document: a document has at most three, and its own bounds."""
_PARTIAL = ".partial"
_ID_MAX = 120
"""Characters of an id of ours: there is room for a number."""
_ATTEMPTS = 100
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY)

_Part = TypeVar("_Part")


class Wanted(NamedTuple):
    """Lines to pin, as somebody asked for them; nothing of it has been checked."""

    path: str
    """Relative to the root, or absolute by any name of the root."""
    line_start: int
    line_end: int


def read_wanted(body: object) -> list[Wanted]:
    """Read lines to pin from JSON: a list of `{path, line_start, line_end}`, or None for none.

    Raises:
        InvalidRequest: It is something else, or there are more than `PINS_MAX`.
    """
    if body is None:
        return []
    if not isinstance(body, list) or len(body) > PINS_MAX:
        raise InvalidRequest(
            f"pinned_snippet_paths has to be a list of at most {PINS_MAX}",
            next_step="Pin fewer lines, or longer stretches of them.",
        )
    pins = []
    for each in body:
        match each:
            case {"path": str(path), "line_start": int(first), "line_end": int(last)}:
                pins.append(Wanted(path, first, last))
            case _:
                raise InvalidRequest(
                    "a pinned snippet has to have path, line_start and line_end",
                    next_step='For example {"path": "src/a.py", "line_start": 1, "line_end": 9}.',
                )
    return pins


class Circumstances(NamedTuple):
    """What a snapshot records besides the session itself."""

    git: GitState
    identity: str
    generation: int
    epoch: int
    harness: str | None
    model: str | None
    trigger: Trigger = "asked"


class Damaged(NamedTuple):
    """A snapshot that is kept here and cannot be read."""

    snapshot_id: str
    reason: str
    """One phrase."""


class Snapshots:
    """The snapshots of one machine; safe to share by threads and processes."""

    def __init__(
        self, folder: str | os.PathLike[str], clock: Callable[[], float] = time.time
    ) -> None:
        """Those in `folder`, which is made with the first."""
        self._folder = Path(folder)
        self._clock = clock
        self._lock = Lock()

    def create(
        self,
        session: Session,
        newest: Newest,
        working_set: WorkingSet,
        wanted: Sequence[Wanted],
        about: Circumstances,
    ) -> tuple[Manifest, Path]:
        """Write down how a session stands; it is there whole or not at all.

        Args:
            session: Which.
            newest: Of its log, at most `LOG_MAX` bytes.
            working_set: What these entries worked with.
            wanted: Lines to quote.
            about: What else is to be known.

        Returns:
            Its manifest and its folder.

        Raises:
            InvalidRequest: Lines to pin cannot be quoted; `PathRefused` if their file may not be
                read.
            StateUnwritable: It cannot be kept.
        """
        snippets: dict[str, bytes] = {}
        pins = [_pinned(session.repo_root, each, snippets) for each in wanted]
        now = int(self._clock())
        git = _bounded_git(about.git)
        manifest = Manifest(
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

        def build(aside: Path, name: str) -> Manifest:
            named = dataclasses.replace(manifest, snapshot_id=name)
            snapshot_files.write(aside, named, work, newest.lines, pins, git, snippets)
            return named

        named = self._publish(manifest.snapshot_id, build)
        return named, self._folder / named.snapshot_id

    def take_in(self, unpacked: Unpacked) -> Manifest:
        """Keep what a pack holds, under its own id, or that with a number where it is taken.

        Raises:
            StateUnwritable: It cannot be kept.
        """
        own = unpacked.snapshot.manifest.snapshot_id

        def build(aside: Path, name: str) -> Manifest:
            held = unpacked if name == own else pack.renamed(unpacked, name)
            snapshot_files.write_files(aside, held.files)
            return held.snapshot.manifest

        return self._publish(own, build)

    def all(self, root: str = "", session_id: str = "") -> list[Manifest]:
        """The manifests of a repository's snapshots, newest first; `damaged` names the others."""
        return sorted(
            (
                one
                for one in self._listed()
                if isinstance(one, Manifest)
                and root in ("", one.repo_root)
                and session_id in ("", one.session_id)
            ),
            key=lambda one: (one.created_at, one.snapshot_id),
            reverse=True,
        )

    def damaged(self) -> list[Damaged]:
        """Those whose manifest cannot be read, of all repositories: which, it would have said."""
        return sorted(one for one in self._listed() if isinstance(one, Damaged))

    def _listed(self) -> Iterator[Manifest | Damaged]:
        """What each folder of a snapshot says of it."""
        try:
            folders = sorted(self._folder.iterdir())
        except OSError:
            return
        for folder in folders:
            if not is_id(folder.name) or not folder.is_dir():
                continue
            try:
                manifest = snapshot_files.read_manifest(folder)
            except FileNotFoundError:
                yield Damaged(folder.name, f"{snapshot_files.MANIFEST} is missing")
            except OSError as error:
                yield Damaged(folder.name, f"{snapshot_files.MANIFEST}: {error.strerror}")
            except ValueError as error:
                yield Damaged(folder.name, str(error))
            else:
                if manifest.snapshot_id == folder.name:  # no other can be asked for
                    yield manifest
                else:
                    yield Damaged(folder.name, f"{snapshot_files.MANIFEST}: another snapshot_id")

    def get(self, snapshot_id: str) -> Snapshot:
        """Everything a snapshot holds.

        Raises:
            InvalidRequest: There is none of that id, or it is damaged.
        """
        try:
            return snapshot_files.read_folder(self.folder(snapshot_id))
        except (OSError, ValueError) as error:
            raise InvalidRequest(
                f"snapshot {snapshot_id} cannot be read: {error}",
                next_step="See `triseek snapshot list` for others.",
            ) from error

    def write_briefing(self, snapshot_id: str, text: str | None = None) -> Path:
        """Put a briefing beside a snapshot, in place of one that is there.

        Args:
            snapshot_id: Whose.
            text: What it says; None has it made of the log alone.

        Returns:
            The file.

        Raises:
            InvalidRequest: There is no such snapshot, or the briefing is not what one must be;
                nothing is written.
            StateUnwritable: It cannot be kept.
        """
        snapshot = self.get(snapshot_id)
        text = brief.template(snapshot) if text is None else text
        brief.validate(text, (entry.entry_id for entry in snapshot.entries))
        path = self.folder(snapshot_id) / snapshot_files.BRIEFING
        with self._writing():
            atomic.write(path, text.encode())
        return path

    def remove(self, snapshot_id: str) -> None:
        """Delete a snapshot; half of one is never left under its name.

        Raises:
            InvalidRequest: There is none of that id.
            StateUnwritable: It cannot be removed.
        """
        folder = self.folder(snapshot_id)
        with self._writing():
            aside = self._aside(snapshot_id)
            folder.rename(aside)
            shutil.rmtree(aside)

    def folder(self, snapshot_id: str) -> Path:
        """Where a snapshot is kept.

        Raises:
            InvalidRequest: There is none of that id.
        """
        folder = self._folder / checked_id(snapshot_id, "snapshot_id")
        if not (folder / snapshot_files.MANIFEST).is_file():
            raise InvalidRequest(
                f"unknown snapshot_id `{snapshot_id}`", next_step="See `triseek snapshot list`."
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

    def _publish(self, name: str, build: Callable[[Path, str], Manifest]) -> Manifest:
        """Build a folder aside and give it a name that is free; nothing is left where it fails."""
        with self._writing():
            self._sweep()
            for attempt in itertools.count():
                free = self._free(name)
                aside = self._aside(free)
                try:
                    manifest = build(aside, free)
                    atomic.sync_folder(aside / snapshot_files.SNIPPETS)
                    atomic.publish(aside, self._folder / free)
                except BaseException as error:
                    shutil.rmtree(aside, ignore_errors=True)
                    # Another process may have taken the name meanwhile.
                    taken = isinstance(error, OSError) and error.errno in _TAKEN
                    if not taken or attempt >= _ATTEMPTS:
                        raise
                else:
                    return manifest
            raise AssertionError("counting does not end")

    def _aside(self, name: str) -> Path:
        """A folder to build in, or to remove from."""
        return self._folder / f"{name}.{os.getpid()}{_PARTIAL}"

    def _sweep(self) -> None:
        """Remove what killed processes were building.

        Not at once: of a process in another container, which has the same folder, no number tells.
        """
        for folder in self._folder.glob(f"*{_PARTIAL}"):
            pid = folder.name.removesuffix(_PARTIAL).rpartition(".")[2]
            with contextlib.suppress(OSError):
                is_old = time.time() - folder.lstat().st_mtime > SWEPT_AFTER_S
                if is_old and not (pid.isdecimal() and _lives(int(pid))):
                    shutil.rmtree(folder, ignore_errors=True)

    def _free(self, name: str) -> str:
        """The name, or with a number where there is one of it."""
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
    """Of a tree in which everything has changed, the first of the files."""
    files = list(_fitting(git.dirty_files[:DIRTY_MAX]))
    lines = {path: git.hunk_summary[path] for path in files if path in git.hunk_summary}
    return dataclasses.replace(git, dirty_files=files, hunk_summary=lines)


def _bounded_work(work: WorkingSet) -> WorkingSet:
    """As much of it as its file may hold; what was used last comes first."""
    return dataclasses.replace(
        work,
        files_read=list(_fitting(work.files_read)),
        searches_run=list(_fitting(work.searches_run)),
        frecency_top_n=list(_fitting(work.frecency_top_n)),
    )


def _fitting(parts: Sequence[_Part]) -> Iterator[_Part]:
    """The first of them, as long as they stay within bounds as JSON."""
    room = _PARTS_MAX
    for part in parts:
        told = asdict(part) if is_dataclass(part) and not isinstance(part, type) else part
        # Indented as it is written, below two others.
        room -= len(json.dumps([[told]], indent=1)) + 2
        if room < 0:
            return
        yield part


def diff(a: Snapshot, b: Snapshot) -> dict[str, list[str]]:
    """What the second has that the first has not, and the other way round.

    Files are compared by path and hash; searches by what was asked, and told by their ids.
    """
    before = {one.path: one.sha for one in a.working_set.files_read}
    after = {one.path: one.sha for one in b.working_set.files_read}
    asked = {(one.kind, one.query): one.search_id for one in a.working_set.searches_run}
    asks = {(one.kind, one.query): one.search_id for one in b.working_set.searches_run}
    return {
        "added_files": sorted(after.keys() - before.keys()),
        "removed_files": sorted(before.keys() - after.keys()),
        "changed_files": sorted(
            path for path in before.keys() & after.keys() if before[path] != after[path]
        ),
        "added_searches": [name for what, name in asks.items() if what not in asked],
        "removed_searches": [name for what, name in asked.items() if what not in asks],
    }


def _pinned(root: str, wanted: Wanted, snippets: dict[str, bytes]) -> Pin:
    """Quote lines of a file; the text goes into `snippets`."""
    if not 1 <= wanted.line_start <= wanted.line_end:
        raise InvalidRequest(
            f"cannot pin lines {wanted.line_start} to {wanted.line_end} of {wanted.path!r:.200}",
            next_step="Lines count from 1, and the last is not before the first.",
        )
    last = min(wanted.line_end, wanted.line_start + PIN_LINES_MAX - 1)
    text = quote(root, wanted.path, wanted.line_start, last)
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
    """Lines of a file, as they are pinned: without the end of the last.

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
    """Whole lines, as many as there is room for."""
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
