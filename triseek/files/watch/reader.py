"""The event source on Linux: a thread that reads inotify and maps watches to folders.

It follows three rules.

- Whenever a watch ends, its folder or one above it is noted in `trees`, or `lost` is set. A caller
  that checks and watches again what was noted misses nothing.
- A path is separated from its watch by the event that says they no longer belong together, before
  any later event is handled: an event of a moved folder is never reported under the old path.
  Events still queued for a removed watch are dropped.
- After a loss of events the instance is replaced by a new one. The map of watches cannot be trusted
  past a gap, and removing the watches one by one would flood the queue again.

If the thread meets an unexpected error, the reader ends and reports it. The code that follows the
tree then sweeps it and creates another reader. A running reader is never repaired.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import threading
from typing import TYPE_CHECKING

from triseek.errors import RepoNotDetected
from triseek.files import mounts
from triseek.files.watch import inotify
from triseek.files.watch.inotify import Inotify, WatchLimit
from triseek.files.watch.pending import EventBatch, publish
from triseek.files.watch.watched import PROCESS, Watched, above, allowance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.files.watch.inotify import Event
    from triseek.files.watch.pending import Cookies, PendingChanges

logger = logging.getLogger(__name__)

JOIN_S = 2.0
"""Longest wait for the thread to end; a thread that hangs is left with its descriptors."""
REST_MS = 5
"""How long the reader rests after events that no caller waits for: a busy tree then costs one read
per rest instead of one per event. The queue (16,384) takes longer than that to fill."""

_SELF = inotify.DELETE_SELF | inotify.MOVE_SELF
_VANISHED = inotify.DELETE | inotify.MOVED_FROM | inotify.MOVED_TO
_ENDED = _SELF | inotify.IGNORED | inotify.UNMOUNT


class InotifyReader:
    """Watches folders of one root with inotify; thread-safe."""

    def __init__(self, root: bytes, cookies: Cookies, pending: PendingChanges, budget: int) -> None:
        """Watch the root folder and the cookies' folder, and start the thread.

        Raises:
            RepoNotDetected: There is no such root, or it may not be read.
            WatchLimit: No more can be watched, or there is no descriptor or thread for it.
        """
        self.failure = ""
        """The error that ended the thread, in one line; empty if none did."""
        self._root = root
        self._prefix = root.rstrip(b"/") + b"/"
        self._cookies = cookies
        self._pending = pending
        self._most = allowance(budget)
        self._lock = threading.Lock()  # guards all below; held while a batch is processed
        self._watched = Watched()
        self._cookie_watch = -1
        self._over = False
        self._resting = False
        name = f"watch {os.fsdecode(root)}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._wake = -1
        self._guard = mounts.MountGuard(root)
        self._inotify = Inotify()
        try:
            self._open()
        except (OSError, RuntimeError) as error:
            self._release()
            raise WatchLimit(f"cannot watch {os.fsdecode(root)!r}: {error}") from error
        except BaseException:
            self._release()
            raise

    def watch(self, folders: Iterable[bytes]) -> None:
        """Watch these folders and those above them, whose events tell when these vanish."""
        for folder in folders:
            with self._lock:
                if self._over:
                    return
                self._watch(folder)

    def is_watched(self, folder: bytes) -> bool:
        """Return whether this folder itself is watched."""
        with self._lock:
            return not self._over and folder in self._watched

    def running(self) -> bool:
        """Return whether events are being read."""
        return not self._over and self._thread.is_alive()

    def hurry(self) -> None:
        """End a rest, because a caller waits for the queued events."""
        with self._lock:
            if self._resting and not self._over:
                os.eventfd_write(self._wake, 1)

    def close(self) -> None:
        """End the thread, the watches and their descriptors."""
        with self._lock:
            if self._wake < 0:
                return
            self._over = True
            with contextlib.suppress(OSError):
                os.eventfd_write(self._wake, 1)
        self._thread.join(JOIN_S)
        with self._lock:
            if self._wake >= 0 and not self._thread.is_alive():
                self._release()

    def _open(self) -> None:
        """Open the descriptors, watch the root and start the thread."""
        self._guard.open()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._begin()
        self._all, self._bell = select.poll(), select.poll()
        self._all.register(self._inotify.fd, select.POLLIN)
        if self._guard.fd >= 0:
            self._all.register(self._guard.fd, select.POLLPRI)
        for poll in (self._all, self._bell):
            poll.register(self._wake, select.POLLIN)
        self._thread.start()

    # Watches. The caller holds the lock.

    def _begin(self) -> None:
        """Watch the root and the cookies' folder with a new instance."""
        if not self._tie(b""):
            raise RepoNotDetected(f"cannot watch {os.fsdecode(self._root)!r}: no readable folder")
        watch = self._inotify.add(self._cookies.folder, inotify.CREATE | _SELF, follow=True)
        if watch is None:
            raise WatchLimit(f"cannot watch {os.fsdecode(self._cookies.folder)!r}: no such folder")
        self._cookie_watch = watch

    def _watch(self, folder: bytes) -> None:
        missing = []
        while folder not in self._watched:
            missing.append(folder)
            folder = above(folder)
        for folder in reversed(missing):
            if not self._tie(folder):
                return

    def _tie(self, folder: bytes) -> bool:
        """Watch one folder; return whether it exists and may be read."""
        # Checked before the watch is added, so that it need not be removed again.
        if PROCESS.used >= self._most:
            PROCESS.take(self._most)
        watch = self._inotify.add(self._prefix + folder, follow=not folder)
        if watch is None:
            return False
        if not self._watched.holds(watch):
            try:
                PROCESS.take(self._most)
            except WatchLimit:
                self._inotify.remove(watch)
                raise
        self._watched.add(folder, watch)
        return True

    def _drop(self, folder: bytes) -> None:
        unused = self._watched.drop(folder)
        PROCESS.give_back(len(unused))
        for watch in unused:
            if watch != self._cookie_watch:
                self._inotify.remove(watch)

    def _renew(self, batch: EventBatch) -> None:
        """Replace the instance, with all its watches and events, by a new one."""
        try:
            self._replace()
        except RepoNotDetected:
            batch.gone = True
        except WatchLimit as error:
            self._end(str(error))

    def _replace(self) -> None:
        self._all.unregister(self._inotify.fd)
        fresh = Inotify()
        with contextlib.suppress(OSError):  # already closed by other code
            self._inotify.close()
        self._inotify = fresh
        self._all.register(fresh.fd, select.POLLIN)
        PROCESS.give_back(len(self._watched))
        self._watched = Watched()
        self._begin()

    def _release(self) -> None:
        PROCESS.give_back(len(self._watched))
        self._watched = Watched()
        self._guard.close()
        for close in (self._inotify.close, lambda: os.close(self._wake)):
            with contextlib.suppress(OSError):  # already closed by other code
                close()
        self._wake = -1

    # The thread.

    def _run(self) -> None:
        gone = False
        try:
            while not (self._over or gone):
                gone = self._turn()
        except Exception as error:
            self.failure = f"reading events failed: {error!r}"
            expected = isinstance(error, OSError)
            logger.warning("watcher ended", extra={"reason": self.failure},
                           exc_info=None if expected else error)  # fmt: skip
        finally:
            self._over = True
            self._pending.end(gone=gone)
            self._cookies.close()

    def _turn(self) -> bool:
        """Wait for events and process them; return whether the root is gone."""
        ready = dict(self._all.poll())
        if self._wake in ready:
            os.eventfd_read(self._wake)
        data = self._inotify.read()
        # Polled again after the read, so that a mount older than a cookie is reported before it.
        stirred = self._guard.fd in ready or self._guard.fd in dict(self._all.poll(0))
        with self._lock:
            batch = self._batch(data, stirred=stirred)
            if batch.lost and not batch.gone:
                self._renew(batch)
            if batch.gone:  # no order of events can be promised any more, so wake no waiter
                self._pending.add(batch)
            else:
                publish(batch, self._pending, self._cookies)
        if data and not batch.gone:
            self._rest()
        return batch.gone

    def _rest(self) -> None:
        # Set the flag before the check: a later waiter is either seen here or ends the rest.
        self._resting = True
        if not self._cookies.awaited():
            self._bell.poll(REST_MS)
        self._resting = False

    def _batch(self, data: bytes, *, stirred: bool) -> EventBatch:
        batch = EventBatch()
        batch.lost = stirred and self._guard.changed()
        for event in inotify.events(data):
            if event.mask & inotify.OVERFLOW:
                batch.lost = True
            elif event.watch == self._cookie_watch:
                if event.name:
                    batch.cookies.append(event.name)
                elif event.mask & _ENDED:  # without cookies no order can be promised
                    self._end(f"the folder {os.fsdecode(self._cookies.folder)!r} is gone")
            else:
                for folder in self._watched.paths(event.watch):
                    self._note(folder, event, batch)
        return batch

    def _end(self, reason: str) -> None:
        self._over = True
        self.failure = reason

    def _note(self, folder: bytes, event: Event, batch: EventBatch) -> None:
        if not event.name:
            self._note_itself(folder, event.mask, batch)
            return
        path = folder + b"/" + event.name if folder else event.name
        if event.mask & inotify.NAMES:
            batch.folders.add(folder)
        if not event.mask & inotify.ISDIR:
            batch.files.add(path)
            return
        batch.trees.add(path)
        # A created folder is not dropped: if it is watched, then since its creation.
        if event.mask & _VANISHED:
            self._drop(path)

    def _note_itself(self, folder: bytes, mask: int, batch: EventBatch) -> None:
        batch.trees.add(folder)
        if mask & inotify.UNMOUNT:
            batch.lost = True
        if mask & _ENDED:
            if folder:
                self._drop(folder)
            else:
                batch.gone = True
