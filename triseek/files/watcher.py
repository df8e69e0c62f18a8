"""File-system events of one root, and `sync`: everything that happened before a call is noted.

On Linux inotify is spoken to directly (`triseek.files.reader`); elsewhere the events are those of
watchfiles, and less is promised: see `Foreign`. Nothing is ever written into the root.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Protocol, Self

from triseek.errors import RepoNotDetected
from triseek.files.inotify import WatchLimit
from triseek.files.mounts import obstacle
from triseek.files.noted import Batch, Changes, Cookies, Noted
from triseek.files.watched import WATCHES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from watchfiles._rust_notify import RustNotify

__all__ = ["SYNC_S", "WATCHES_MAX", "Changes", "WatchLimit", "Watcher", "obstacle"]

SYNC_S = 1.0
"""Longest wait for a cookie; it takes less than a millisecond unless the machine is drowning."""

UNHEARD_MAX = 3
"""Cookies in a row whose events do not come in time; then the watcher counts as dead. One may be
late on a busy machine; a thread that hangs, or whose descriptor was closed, never answers."""

_LINUX = sys.platform.startswith("linux")


class Watcher:
    """Watches folders of one root; thread-safe, to be closed.

    Who follows a tree with it: watches a folder, then looks at it, in this order; after each
    `take` looks again at what it names, watching the `trees` again; after `lost`, at everything.

    Two writes make no event in the folder of a file that they change, so that who follows must ask
    the file system: one through another name of the file (a hard link elsewhere), and
    one through a mapping, which is told only when the mapped file is closed.
    """

    def __init__(
        self, root: bytes, cookies: str, *, budget: int = WATCHES_MAX, native: bool | None = None
    ) -> None:
        """Watch the root folder itself, and nothing below it yet.

        Args:
            root: An existing folder.
            cookies: A folder of the caller's, outside of the root, for the files of `sync`;
                made with mode 0700 if it is not there. Watchers may share it.
            budget: Most watches of the process, over all its watchers; a quarter of what the
                user may have is the limit in any case. Counts on the native road only.
            native: Whether to speak inotify; by default where there is one.

        Raises:
            RepoNotDetected: There is no such folder.
            StateUnwritable: The cookies' folder cannot be made.
            WatchLimit: No more can be watched.
        """
        self._root = os.path.realpath(root)
        self._identity = _identity(self._root)
        if self._identity is None:
            raise RepoNotDetected(f"cannot watch {os.fsdecode(root)!r}: no such folder")
        self._ended = False
        self._noted = Noted()
        self._cookies = Cookies(cookies)
        self._road = self._open_road(budget, native=_LINUX if native is None else native)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """Whether events are read, and the root is still the folder it was."""
        return not self._ended and self._road.running() and not self._noted.gone and self._there()

    @property
    def failure(self) -> str:
        """Why it is dead, or why the last `sync` failed, in one line; empty if neither is so."""
        if self._noted.gone:
            return "the folder is not where it was"
        return self._road.failure or self._cookies.failure

    def watch(self, folders: Iterable[bytes]) -> None:
        """Watch these folders, relative to the root, which is empty; not what is below them.

        Those above them are watched along. What is watched is left as it is; what is gone by
        now, or may not be read, is passed over: an event of the folder above tells of it.

        Raises:
            WatchLimit: The budget or a limit of the kernel is met. Folders before it are watched.
        """
        self._road.watch(folders)

    def is_watched(self, folder: bytes) -> bool:
        """Whether changes in this folder will be noted."""
        return self._road.is_watched(folder)

    def sync(self, timeout_s: float = SYNC_S) -> bool:
        """Note everything that happened before this call; `False` if that cannot be promised.

        A folder that was not watched when it happened does not count, of course.
        """
        if not self.alive:
            return False
        done = self._cookies.round_trip(self._road.hurry, timeout_s)
        if self._cookies.unheard >= UNHEARD_MAX:
            self._end(gone=False)
        return done

    def _end(self, *, gone: bool) -> None:
        self._ended = True
        self._noted.end(gone=gone)
        self._cookies.close()

    def take(self) -> Changes:
        """What was noted since the last call."""
        return self._noted.take()

    def wait(self, timeout_s: float) -> bool:
        """Whether, within this time, there is something to take; at once once it is dead."""
        return self._noted.wait(timeout_s)

    def close(self) -> None:
        """End the thread, the watches and their descriptors; calls after it find it dead."""
        self._road.close()

    def _open_road(self, budget: int, *, native: bool) -> Road:
        if not native:
            return Foreign(self._root, self._cookies, self._noted)
        from triseek.files.reader import Reader

        return Reader(self._root, self._cookies, self._noted, budget)

    def _there(self) -> bool:
        """Whether the root's path still leads to it: one above it may have moved, untold."""
        if _identity(self._root) == self._identity:
            return True
        self._end(gone=True)
        return False


class Road(Protocol):
    """Where events come from. A road adds them to `Noted`, and tells `Cookies` of theirs."""

    failure: str

    def watch(self, folders: Iterable[bytes]) -> None: ...
    def is_watched(self, folder: bytes) -> bool: ...
    def running(self) -> bool: ...
    def hurry(self) -> None: ...
    def close(self) -> None: ...


class Foreign:
    """The road of other systems: watchfiles, which watches all of the root from the beginning.

    What it cannot do, and the native one can: leave ignored folders out, keep a budget, tell that
    its queue overflowed or that a mount appeared, and name folders apart from files (both
    sets get what may be either). On Linux a folder that appeared is watched by it only some time
    after its event, so what is written there meanwhile may go untold. On Windows the
    events of two folders have no order, so that `sync` promises less there. macOS and Windows
    are untested.
    """

    def __init__(self, root: bytes, cookies: Cookies, noted: Noted) -> None:
        """Watch everything below the root, and start to read.

        Raises:
            WatchLimit: watchfiles refuses, or there is no thread for it; the message says why.
        """
        self.failure = ""
        self._noted = noted
        self._cookies = cookies
        self._root = root
        self._jar = os.path.realpath(cookies.folder)
        self._stop = threading.Event()
        self._notify = self._begin()
        name = f"watch {os.fsdecode(root)}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._notify.close()
            raise WatchLimit(f"cannot watch {os.fsdecode(root)!r}: {error}") from error

    def watch(self, folders: Iterable[bytes]) -> None:
        """Nothing is left to do."""

    def is_watched(self, folder: bytes) -> bool:  # noqa: ARG002
        """Every folder is."""
        return self.running()

    def running(self) -> bool:
        """Whether events are read."""
        return not self._stop.is_set() and self._thread.is_alive()

    def hurry(self) -> None:
        """It is never at rest."""

    def close(self) -> None:
        """End the thread and its watches."""
        self._stop.set()
        self._thread.join()
        self._notify.close()

    def _begin(self) -> RustNotify:
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

        paths = [os.fsdecode(self._root), os.fsdecode(self._jar)]
        try:
            # Neither debugging nor polling; recursively; unreadable folders are passed over.
            return RustNotify(paths, False, False, 0, True, True)
        except (OSError, UnicodeError, WatchfilesRustInternalError) as error:
            reason = str(error).partition("\n")[0]
            raise WatchLimit(f"cannot watch {paths[0]!r}: {reason}") from error

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._settle(self._next())
        finally:
            self._stop.set()
            self._noted.end(gone=False)
            self._cookies.close()

    def _next(self) -> Batch:
        from watchfiles._rust_notify import WatchfilesRustInternalError

        batch = Batch()
        try:
            found = self._notify.watch(DEBOUNCE_MS, STEP_MS, TURN_MS, self._stop)
        except WatchfilesRustInternalError:  # a name that is not UTF-8; it would say so for ever
            self._renew()
            batch.lost = True
            return batch
        if isinstance(found, set):
            for kind, path in found:
                self._note(kind, os.fsencode(path), batch)
        return batch

    def _renew(self) -> None:
        self._notify.close()
        try:
            self._notify = self._begin()
        except WatchLimit as error:
            self.failure = str(error)
            self._stop.set()

    def _settle(self, batch: Batch) -> None:
        self._noted.add(batch)
        if batch.lost:
            self._cookies.seen_all()
        self._cookies.seen(batch.cookies)

    def _note(self, kind: int, path: bytes, batch: Batch) -> None:
        name = _below(path, self._jar)
        if name:
            batch.cookies.append(name)
            return
        relative = _below(path, self._root)
        if relative is None:
            return
        is_folder = _is_folder(path)
        if kind != MODIFIED or is_folder is None:
            batch.folders.add(relative.rpartition(b"/")[0])
        if kind != MODIFIED or is_folder is not False:
            batch.trees.add(relative)
        if kind != MODIFIED or is_folder is not True:
            batch.files.add(relative)


MODIFIED = 2
"""As in `watchfiles.Change`; 1 is for added, 3 for deleted."""
DEBOUNCE_MS, STEP_MS, TURN_MS = 10, 2, 1000
"""How long it gathers, how often it looks, how long it looks in vain."""


def _identity(path: bytes) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        status = os.stat(path)  # noqa: PTH116 - bytes
        return status.st_dev, status.st_ino
    return None


def _below(path: bytes, folder: bytes) -> bytes | None:
    """What is left of a path below a folder; empty for the folder, `None` elsewhere."""
    if path == folder:
        return b""
    separator = os.fsencode(os.sep)
    prefix = folder.rstrip(separator) + separator
    return path[len(prefix) :].replace(separator, b"/") if path.startswith(prefix) else None


def _is_folder(path: bytes) -> bool | None:
    """`None` when it is not there."""
    with contextlib.suppress(OSError):
        return (os.lstat(path).st_mode & 0o170000) == 0o040000
    return None
