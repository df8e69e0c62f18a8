"""Pending changes: those that a watcher noted and nobody has taken yet; and its cookies.

A cookie is a file with a unique name, created in a folder that the same watcher watches. Events
arrive in the order in which things happened, so when the event of the cookie has arrived, those of
everything before it have. The idea is Watchman's, which creates its cookies in the watched tree;
ours are in a folder of our own.
"""

from __future__ import annotations

import itertools
import os
import secrets
import threading
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from triseek import private
from triseek.errors import StateUnwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

NAMES_MAX = 50_000
"""The most names that are noted. Beyond it, checking the whole tree is cheaper than each name."""
NAMES_BYTES_MAX = 16 << 20
"""The most bytes of names: it bounds the memory however long they are."""


@dataclass(slots=True)
class Changes:
    """The changes noted between two `take`s. Paths are relative to the root; the root is empty."""

    files: set[bytes] = field(default_factory=set)
    """Files (not folders) of events: written, created, deleted, moved or changed attributes."""
    folders: set[bytes] = field(default_factory=set)
    """Folders in which names appeared or vanished."""
    trees: set[bytes] = field(default_factory=set)
    """Folders that appeared, vanished, moved or changed attributes. Each must be checked again
    with everything below it, and watched again, because watches there may have ended."""
    lost: bool = False
    """Whether events were lost: anything may have changed; watch every folder again."""
    gone: bool = False
    """Whether the root is no longer at its path; the watcher is dead."""

    def __len__(self) -> int:
        """The number of names."""
        return len(self.files) + len(self.folders) + len(self.trees)


@dataclass(slots=True)
class EventBatch(Changes):
    """The changes from one read of events; used by one thread."""

    cookies: list[bytes] = field(default_factory=list)


class PendingChanges:
    """The changes since the last `take`; thread-safe, bounded."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.gone = False
        self._ended = False
        self._clear()

    def add(self, batch: EventBatch) -> None:
        """Add the changes of a batch."""
        with self._changed:
            changes = self._changes
            if not changes.lost:
                self._keep(changes.files, batch.files)
                self._keep(changes.folders, batch.folders)
                self._keep(changes.trees, batch.trees)
            if batch.lost or self._names_bytes > NAMES_BYTES_MAX or len(changes) > NAMES_MAX:
                self._lose()
            if self._fresh():
                self._changed.notify_all()

    def end(self, *, gone: bool) -> None:
        """Record that there will be no more changes, and whether the root is gone."""
        with self._changed:
            self._lose()
            self._ended = True
            self.gone = self.gone or gone
            self._changed.notify_all()

    def take(self) -> Changes:
        """Return the changes noted since the last call."""
        with self._changed:
            changes = self._changes
            changes.gone = self.gone
            self._clear()
            return changes

    def wait(self, timeout_s: float) -> bool:
        """Wait for changes to take; return whether there are any. Returns at once after `end`."""
        with self._changed:
            self._changed.wait_for(lambda: self._fresh() or self._ended, timeout_s)
            return self._fresh()

    def _keep(self, kept: set[bytes], names: set[bytes]) -> None:
        self._names_bytes += sum(map(len, names - kept))
        kept |= names

    def _lose(self) -> None:
        self._clear()
        self._changes.lost = True

    def _clear(self) -> None:
        self._changes = Changes()
        self._names_bytes = 0

    def _fresh(self) -> bool:
        return self._changes.lost or len(self._changes) > 0


class Cookies:
    """The cookies whose events are awaited; thread-safe."""

    def __init__(self, folder: str) -> None:
        """Use `folder` for cookies; it is created for this user alone if it does not exist.

        Raises:
            StateUnwritable: It cannot be created.
        """
        try:
            private.make(folder)
        except OSError as error:
            raise StateUnwritable(f"cannot make {folder!r}: {error.strerror}") from error
        self.folder = os.fsencode(folder)
        self.unheard = 0
        """The number of cookies in a row whose events did not arrive in time."""
        self.failure = ""
        """Why the event of the last cookie did not arrive, in one line; empty if it did."""
        self._prefix = f"{os.getpid()}-{secrets.token_hex(6)}-".encode()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._waiting: dict[bytes, SimpleQueue[bool]] = {}
        """A queue for each caller, which gets whether the event of its cookie has arrived."""
        self._closed = False

    def awaited(self) -> bool:
        """Return whether any caller is waiting for a cookie's event."""
        return bool(self._waiting)

    def round_trip(self, hurry: Callable[[], None], timeout_s: float) -> bool:
        """Create a cookie and wait for its event; `False` if creation fails or no event arrives.

        Args:
            hurry: Called after the cookie was created, to end a rest of the reader.
            timeout_s: Seconds to wait for the event.
        """
        name = self._prefix + b"%d" % next(self._numbers)
        waiter: SimpleQueue[bool] = SimpleQueue()
        with self._lock:
            if self._closed:
                return False
            self._waiting[name] = waiter
        try:
            # The event is queued when `open` returns, so the file can be removed at once.
            path = self.folder + b"/" + name
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            os.unlink(path)  # noqa: PTH108 - bytes
            hurry()
            arrived = waiter.get(timeout=timeout_s)
            self.unheard = 0
        except Empty:
            arrived = False
            self.unheard += 1
        except OSError as error:
            self.failure = f"cannot make a file in {os.fsdecode(self.folder)!r}: {error.strerror}"
            return False
        finally:
            with self._lock:
                self._waiting.pop(name, None)
        self.failure = "" if arrived else f"no event of a new file within {timeout_s:g} s"
        return arrived

    def seen(self, names: Collection[bytes]) -> None:
        """Wake the callers waiting for these cookies; cookies of other processes are ignored."""
        with self._lock:
            for name in names:
                if name in self._waiting:
                    self._waiting[name].put(True)

    def seen_all(self) -> None:
        """Wake all waiting callers: everything that has happened so far is noted."""
        with self._lock:
            for waiter in self._waiting.values():
                waiter.put(True)

    def close(self) -> None:
        """Fail all waiting callers and refuse new cookies: no event will arrive any more."""
        with self._lock:
            self._closed = True
            for waiter in self._waiting.values():
                waiter.put(False)


def publish(batch: EventBatch, pending: PendingChanges, cookies: Cookies) -> None:
    """Add the changes of a batch, then wake the callers whose cookies it answers."""
    pending.add(batch)
    if batch.lost:
        cookies.seen_all()
    cookies.seen(batch.cookies)
