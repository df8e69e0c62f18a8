"""What a watcher has noted and nobody has taken yet, and the cookies that put it in order.

A cookie is a file with a name nobody else uses, made in a folder that the same watcher watches.
Events come in the order in which things happened, so when the event of the cookie has come,
those of everything before it have. The idea is Watchman's, which puts its cookies into the
watched tree; ours lie in a folder of our own.
"""

from __future__ import annotations

import itertools
import os
import secrets
import threading
from typing import TYPE_CHECKING, NamedTuple

from triseek import private
from triseek.errors import StateUnwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

NAMES_MAX = 50_000
"""Past so many noted names one look at everything is cheaper than one at each."""
NAMES_BYTES_MAX = 16 << 20
"""And names may be long: this bounds the memory whatever they are."""


class Changes(NamedTuple):
    """What was noted between two `take`s. Paths are relative to the root; the root is empty."""

    files: frozenset[bytes] = frozenset()
    """What is no folder and was named by an event: written, attributes, made, deleted, moved."""
    folders: frozenset[bytes] = frozenset()
    """Folders in which names appeared or vanished."""
    trees: frozenset[bytes] = frozenset()
    """Folders that appeared, vanished, moved or changed attributes. Everything at and below is
    to be looked at again, and to be watched again: the watches there may have ended."""
    lost: bool = False
    """Anything may have changed, and every folder is to be watched again."""
    gone: bool = False
    """The root is no longer where it was; the watcher is dead."""


class Batch:
    """The changes one reading of events gives; of one thread."""

    def __init__(self) -> None:
        self.files: set[bytes] = set()
        self.folders: set[bytes] = set()
        self.trees: set[bytes] = set()
        self.cookies: list[bytes] = []
        self.lost = False
        self.gone = False


class Noted:
    """The changes since the last `take`; thread-safe, bounded."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.gone = False
        self._ended = False
        self._clear()

    def add(self, batch: Batch) -> None:
        """Note what a batch holds."""
        with self._changed:
            if not self._lost:
                self._keep(self._files, batch.files)
                self._keep(self._folders, batch.folders)
                self._keep(self._trees, batch.trees)
            if batch.lost or self._names_bytes > NAMES_BYTES_MAX or self._count() > NAMES_MAX:
                self._lose()
            if self._fresh():
                self._changed.notify_all()

    def end(self, *, gone: bool) -> None:
        """Note that there will be no more, and whether it is because the root has gone."""
        with self._changed:
            self._lose()
            self._ended = True
            self.gone = self.gone or gone
            self._changed.notify_all()

    def take(self) -> Changes:
        """What was noted since the last call."""
        with self._changed:
            found = Changes(
                frozenset(self._files),
                frozenset(self._folders),
                frozenset(self._trees),
                self._lost,
                self.gone,
            )
            self._clear()
            return found

    def wait(self, timeout_s: float) -> bool:
        """Whether, within this time, there is something to take; at once when there never will."""
        with self._changed:
            self._changed.wait_for(lambda: self._fresh() or self._ended, timeout_s)
            return self._fresh()

    def _keep(self, known: set[bytes], names: Collection[bytes]) -> None:
        new = names - known if isinstance(names, set) else set(names) - known
        known |= new
        self._names_bytes += sum(map(len, new))

    def _lose(self) -> None:
        self._clear()
        self._lost = True

    def _clear(self) -> None:
        self._files: set[bytes] = set()
        self._folders: set[bytes] = set()
        self._trees: set[bytes] = set()
        self._names_bytes = 0
        self._lost = False

    def _count(self) -> int:
        return len(self._files) + len(self._folders) + len(self._trees)

    def _fresh(self) -> bool:
        return self._lost or self._count() > 0


class Cookies:
    """The cookies on their way; thread-safe."""

    def __init__(self, folder: str) -> None:
        """Keep cookies in `folder`, made for the user alone if it is not there.

        Raises:
            StateUnwritable: It cannot be made.
        """
        try:
            private.make(folder)
        except OSError as error:
            raise StateUnwritable(f"cannot make {folder!r}: {error.strerror}") from error
        self.folder = os.fsencode(folder)
        self.unheard = 0
        """How many cookies in a row were made, and their events did not come in time."""
        self.failure = ""
        """Why the last cookie did not come back, in one line; empty if it did."""
        self._prefix = f"{os.getpid()}-{secrets.token_hex(6)}-".encode()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._waiting: dict[bytes, _Waiter] = {}
        self._closed = False

    def awaited(self) -> bool:
        """Whether anybody waits."""
        return bool(self._waiting)

    def round_trip(self, hurry: Callable[[], None], timeout_s: float) -> bool:
        """Make a cookie, wait for its event; `False` when it does not come or cannot be made.

        Args:
            hurry: Called when the cookie has been made: the reader may be resting.
            timeout_s: Seconds to wait for the event.
        """
        name = self._prefix + b"%d" % next(self._numbers)
        waiter = _Waiter()
        with self._lock:
            if self._closed:
                return False
            self._waiting[name] = waiter
        try:
            self._make(name)
            hurry()
            came = waiter.done.wait(timeout_s)
        except OSError as error:
            self.failure = f"cannot make a file in {os.fsdecode(self.folder)!r}: {error.strerror}"
            return False
        finally:
            with self._lock:
                self._waiting.pop(name, None)
        self.unheard = 0 if came else self.unheard + 1
        self.failure = "" if waiter.arrived else f"no event of a new file within {timeout_s:g} s"
        return waiter.arrived

    def seen(self, names: Collection[bytes]) -> None:
        """The events of these cookies have come; those of others are none of our business."""
        with self._lock:
            for name in names:
                if name in self._waiting:
                    self._waiting[name].end(arrived=True)

    def seen_all(self) -> None:
        """Everything that happened up to now has been noted, by whatever means."""
        with self._lock:
            for waiter in self._waiting.values():
                waiter.end(arrived=True)

    def close(self) -> None:
        """Nobody will see a cookie any more; who waits need not."""
        with self._lock:
            self._closed = True
            for waiter in self._waiting.values():
                waiter.end(arrived=False)

    def _make(self, name: bytes) -> None:
        """Make it and remove it again: its event is queued when `open` returns."""
        path = self.folder + b"/" + name
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        os.unlink(path)  # noqa: PTH108 - bytes


class _Waiter:
    __slots__ = ("arrived", "done")

    def __init__(self) -> None:
        self.done = threading.Event()
        self.arrived = False

    def end(self, *, arrived: bool) -> None:
        if not self.done.is_set():
            self.arrived = arrived
            self.done.set()
