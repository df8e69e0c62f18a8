"""The watcher: notes file-system events of one root. `sync` waits for all events so far.

On Linux it uses inotify (`triseek.files.watch.reader`); on other systems it uses watchfiles, with
weaker guarantees: see `Foreign`. Nothing is ever written into the root.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Self

from triseek.errors import RepoNotDetected
from triseek.files import access
from triseek.files.watch.inotify import WatchLimit
from triseek.files.watch.pending import Cookies, EventBatch, PendingChanges, publish
from triseek.files.watch.watched import WATCHES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from watchfiles._rust_notify import RustNotify

    from triseek.files.watch.pending import Changes
    from triseek.files.watch.reader import InotifyReader

SYNC_S = 1.0
"""Longest wait for a cookie, in seconds; it takes less than 1 ms unless the machine is overloaded.
"""

UNHEARD_MAX = 3
"""Cookies in a row whose events do not arrive in time, after which the watcher counts as dead. One
may be late on a busy machine; a thread that hangs, or whose descriptor was closed, never answers.
"""

_LINUX = sys.platform.startswith("linux")


class Watcher:
    """Watches folders of one root; thread-safe; must be closed.

    To follow a tree, the caller watches a folder and then reads it, in this order. After each
    `take` it checks again what `Changes` names and watches the `trees` again; after `lost` it
    checks everything.

    Two kinds of writes make no event in the folder of a file that they change, so the caller must
    stat such files: a write through another name of the file (a hard link elsewhere), and a write
    through a mapping, whose event comes only when the mapped file is closed.
    """

    def __init__(
        self, root: bytes, cookies: str, *, budget: int = WATCHES_MAX, native: bool | None = None
    ) -> None:
        """Watch the root folder itself, and nothing below it yet.

        Args:
            root: An existing folder.
            cookies: A folder of the caller's, outside of the root, for the files of `sync`;
                created with mode 0700 if it does not exist. Watchers may share it.
            budget: The most watches of the process, over all its watchers; never more than a
                quarter of the user's limit. Applies to the native source only.
            native: Whether to use inotify; by default on Linux.

        Raises:
            RepoNotDetected: There is no such folder.
            StateUnwritable: The cookies' folder cannot be created.
            WatchLimit: No more can be watched.
        """
        self._root = os.path.realpath(root)
        self._identity = _identity(self._root)
        if self._identity is None:
            raise RepoNotDetected(f"cannot watch {os.fsdecode(root)!r}: no such folder")
        self._ended = False
        self._pending = PendingChanges()
        self._cookies = Cookies(cookies)
        self._source: InotifyReader | Foreign
        if _LINUX if native is None else native:
            from triseek.files.watch.reader import InotifyReader

            self._source = InotifyReader(self._root, self._cookies, self._pending, budget)
        else:
            self._source = Foreign(self._root, self._cookies, self._pending)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """Whether events are being read and the root's path still leads to the same folder."""
        if self._ended or self._pending.gone or not self._source.running():
            return False
        if _identity(self._root) != self._identity:  # moving a folder above makes no event
            self._end(gone=True)
            return False
        return True

    @property
    def failure(self) -> str:
        """Why the watcher is dead or the last `sync` failed, in one line; empty if neither."""
        if self._pending.gone:
            return "the folder is not where it was"
        return self._source.failure or self._cookies.failure

    def watch(self, folders: Iterable[bytes]) -> None:
        """Watch these folders (relative to the root, which is empty), not what is below them.

        The folders above them are watched too. Folders already watched are left as they are. A
        folder that is gone or may not be read is skipped: the folder above it gets the event.

        Raises:
            WatchLimit: The budget or a kernel limit is reached. Folders before it are watched.
        """
        self._source.watch(folders)

    def is_watched(self, folder: bytes) -> bool:
        """Return whether changes in this folder will be noted."""
        return self._source.is_watched(folder)

    def sync(self, timeout_s: float = SYNC_S) -> bool:
        """Wait until everything before this call is noted; `False` if that cannot be promised.

        This covers only folders that were watched at the time of the change.
        """
        if not self.alive:
            return False
        done = self._cookies.round_trip(self._source.hurry, timeout_s)
        if self._cookies.unheard >= UNHEARD_MAX:
            self._end(gone=False)
        return done

    def _end(self, *, gone: bool) -> None:
        self._ended = True
        self._pending.end(gone=gone)
        self._cookies.close()

    def take(self) -> Changes:
        """Return the changes noted since the last call."""
        return self._pending.take()

    def wait(self, timeout_s: float) -> bool:
        """Wait for changes to take; return whether there are any. Returns at once if dead."""
        return self._pending.wait(timeout_s)

    def close(self) -> None:
        """End the thread, the watches and their descriptors. The watcher is dead afterwards."""
        self._source.close()


class Foreign:
    """The event source on other systems: watchfiles, which watches all of the root at once.

    Unlike the native source, it cannot leave ignored folders out, keep a budget, report that its
    queue overflowed or that a mount appeared, or tell folders from files (a path that may be
    either is added to both sets). On Linux it watches a new folder only some time after its event,
    so writes there in between may go unreported. On Windows the events of two folders have no
    order, so `sync` promises less there. macOS and Windows are untested.
    """

    def __init__(self, root: bytes, cookies: Cookies, pending: PendingChanges) -> None:
        """Watch everything below the root, and start the thread.

        Raises:
            WatchLimit: watchfiles fails, or no thread can be started; the message says why.
        """
        self.failure = ""
        self._pending = pending
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
        """Do nothing: everything is watched already."""

    def is_watched(self, folder: bytes) -> bool:  # noqa: ARG002
        """Return whether events are being read: then every folder is watched."""
        return self.running()

    def running(self) -> bool:
        """Return whether events are being read."""
        return not self._stop.is_set() and self._thread.is_alive()

    def hurry(self) -> None:
        """Do nothing: this source never rests."""

    def close(self) -> None:
        """End the thread and its watches."""
        self._stop.set()
        self._thread.join()
        self._notify.close()

    def _begin(self) -> RustNotify:
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

        paths = [os.fsdecode(self._root), os.fsdecode(self._jar)]
        try:
            # No debugging, no polling; recursive; unreadable folders are ignored.
            return RustNotify(paths, False, False, 0, True, True)
        except (OSError, UnicodeError, WatchfilesRustInternalError) as error:
            reason = str(error).partition("\n")[0]
            raise WatchLimit(f"cannot watch {paths[0]!r}: {reason}") from error

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                publish(self._next(), self._pending, self._cookies)
        finally:
            self._stop.set()
            self._pending.end(gone=False)
            self._cookies.close()

    def _next(self) -> EventBatch:
        from watchfiles._rust_notify import WatchfilesRustInternalError

        batch = EventBatch()
        try:
            events = self._notify.watch(DEBOUNCE_MS, STEP_MS, TURN_MS, self._stop)
        except WatchfilesRustInternalError:  # a name that is not UTF-8: every later call fails too
            self._notify.close()
            try:
                self._notify = self._begin()
            except WatchLimit as error:
                self.failure = str(error)
                self._stop.set()
            batch.lost = True
            return batch
        if isinstance(events, set):
            for kind, path in events:
                self._note(kind, os.fsencode(path), batch)
        return batch

    def _note(self, kind: int, path: bytes, batch: EventBatch) -> None:
        name = access.relative_to(self._jar, path)
        if name:
            batch.cookies.append(name)
            return
        relative = access.relative_to(self._root, path)
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
"""The value of `watchfiles.Change.modified`; 1 is added, 3 is deleted."""
DEBOUNCE_MS, STEP_MS, TURN_MS = 10, 2, 1000
"""How long watchfiles gathers events, how often it checks, and how long it waits without any."""


def _identity(path: bytes) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        status = os.stat(path)  # noqa: PTH116 - bytes
        return status.st_dev, status.st_ino
    return None


def _is_folder(path: bytes) -> bool | None:
    """Return whether a path is a folder; `None` if it does not exist."""
    with contextlib.suppress(OSError):
        return (os.lstat(path).st_mode & 0o170000) == 0o040000
    return None
