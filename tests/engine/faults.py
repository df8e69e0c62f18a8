"""Fail the system calls by which a root is watched and compared with its index, at random.

Only calls made while the tree is being looked at, or by the threads of watchers, are failed: never
those of a scan, of a writer, or of the test itself. Each gets an error that the kernel may give it
at any time. EACCES and ENOENT are not among them: they are facts about a folder, and come with an
event when they change.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import errno
import os
import random
import select
import struct
import sys
import threading
from collections import Counter
from concurrent.futures import thread as pools
from types import SimpleNamespace

import numpy as np
import pytest

from triseek.engine.freshness import compare
from triseek.engine.freshness.tracker import Tracker
from triseek.engine.search.backends.generation import State
from triseek.files.watch import inotify, reader
from triseek.files.watch.inotify import Inotify
from triseek.files.watch.reader import InotifyReader
from triseek.kernels import fetch

NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
CALLS = {
    "open": (*NO_ROOM, errno.EIO),
    "scandir": (*NO_ROOM, errno.EIO),
    "stat": (errno.ENOMEM, errno.EIO),
    "lstat": (errno.ENOMEM, errno.EIO),
    "read": (errno.EIO, errno.EBADF, errno.EINVAL, errno.ENOMEM),
    "eventfd": NO_ROOM,
    "eventfd_read": (errno.EBADF,),
    "eventfd_write": (errno.EBADF,),
    "unlink": (errno.EIO, errno.ENOSPC),
}
"""Functions of `os`, and their errors."""
WATCH_CALLS = {
    "inotify_init1": NO_ROOM,
    "inotify_add_watch": (errno.ENOSPC, errno.ENOMEM, errno.EBADF, errno.EINVAL),
    "inotify_rm_watch": (errno.EINVAL, errno.EBADF),
}
WEIGHTS = {
    "stat": 0.2, "overflow": 4, "thread": 4, "inotify_init1": 4, "inotify_add_watch": 2,
    "statx of a folder": 2, "statx of a file": 2, "scandir": 2, "eventfd": 4,
}  # fmt: skip
"""How much likelier than others a call is to fail: some are made a hundred times as often."""
LOOKING = {
    State: ("sweep",),
    Tracker: ("__init__", "follow", "hand_over", "reconcile"),
}
"""Methods in which calls are failed, and whatever they call."""
_OVERFLOW = struct.pack("=iIII", -1, inotify.OVERFLOW, 0, 0)
_OURS = ("triseek.files.", "triseek.engine.", "genericpath", "posixpath")


class Faults:
    """Decides which calls fail; installed by `installed`."""

    def __init__(self, seed: int) -> None:
        self.rate = 0.0
        """Share of the calls that fail."""
        self.count: Counter[str] = Counter()
        """Faults so far, by call."""
        self._chance = random.Random(seed)
        self._lock = threading.Lock()
        self._inside = threading.local()
        self._real_open = os.open

    @property
    def total(self) -> int:
        """How many calls have failed."""
        return sum(self.count.values())

    def strikes(self, call: str) -> bool:
        """Whether this call is to fail."""
        name = threading.current_thread().name
        if not (getattr(self._inside, "depth", 0) or name.startswith(("watch ", "triseek-stat"))):
            return False
        with self._lock:
            if self._chance.random() >= self.rate * WEIGHTS.get(call, 1):
                return False
            self.count[call] += 1
            return True

    def choose(self, options):
        """Choose one, by the seed."""
        with self._lock:
            return self._chance.choice(options)

    def error(self, call: str, options) -> OSError:
        """An error for a call."""
        number = self.choose(options)
        return OSError(number, f"{os.strerror(number)} (injected in {call})")

    @contextlib.contextmanager
    def installed(self):
        """Fail calls until the end of the block."""
        with pytest.MonkeyPatch.context() as patch:
            for kind, names in LOOKING.items():
                for name in names:
                    patch.setattr(kind, name, self._looking(getattr(kind, name)))
            for name, options in CALLS.items():
                patch.setattr(os, name, self._failing(name, getattr(os, name), options))
            patch.setattr(builtins, "open", self._failing("open", open, CALLS["open"]))
            patch.setattr(inotify, "_libc", self._libc(inotify._libc()))
            patch.setattr(reader, "select", SimpleNamespace(
                poll=self._poll, POLLIN=select.POLLIN, POLLPRI=select.POLLPRI
            ))  # fmt: skip
            patch.setattr(threading.Thread, "start", self._start(threading.Thread.start))
            patch.setattr(Inotify, "read", self._read(Inotify.read))
            patch.setattr(InotifyReader, "_batch", self._batch(InotifyReader._batch))
            patch.setattr(compare._Piece, "compare", self._stats_of_piece(compare._Piece.compare))
            patch.setattr(compare, "stat_all", self._stats(compare.stat_all))
            try:
                yield self
            finally:
                self.rate = 0.0

    def _looking(self, method):
        def call(*args, **named):
            self._inside.depth = getattr(self._inside, "depth", 0) + 1
            try:
                return method(*args, **named)
            finally:
                self._inside.depth -= 1

        return call

    def _failing(self, name, real, options):
        def call(*args, **named):
            caller = sys._getframe(1).f_globals.get("__name__", "")
            if caller.startswith(_OURS) and self.strikes(name):
                raise self.error(name, options)
            return real(*args, **named)

        return call

    def _libc(self, real):
        def failing(name, options):
            def call(*args):
                if self.strikes(name):
                    ctypes.set_errno(self.choose(options))
                    return -1
                return getattr(real, name)(*args)

            return call

        calls = {name: failing(name, options) for name, options in WATCH_CALLS.items()}
        return lambda: SimpleNamespace(**calls)

    def _poll(self):
        faults, real = self, select.poll()

        class Poll:
            register, unregister = real.register, real.unregister

            def poll(self, *timeout):
                if faults.strikes("poll"):
                    raise faults.error("poll", (errno.ENOMEM, errno.EINVAL))
                return real.poll(*timeout)

        return Poll()

    def _start(self, real):
        def start(thread):
            caller = sys._getframe(1).f_globals.get("__name__", "")
            if caller in (reader.__name__, pools.__name__) and self.strikes("thread"):
                raise RuntimeError("can't start new thread")
            return real(thread)

        return start

    def _read(self, real):
        def read(instance):
            if self.strikes("overflow"):
                real(instance)
                return _OVERFLOW
            if self.strikes("closed descriptor"):
                other = self._real_open(os.devnull, os.O_WRONLY)
                os.dup2(other, instance.fd)  # the number stays taken: nobody else's file is read
                os.close(other)
            return real(instance)

        return read

    def _batch(self, real):
        def batch(watching, *args, **named):
            if self.strikes("death of the thread"):
                raise self.choose((MemoryError(), RuntimeError("injected"), KeyError("injected")))
            return real(watching, *args, **named)

        return batch

    def _stats_of_piece(self, real):
        """The kernel's stats fail without a word: of a folder, of a file."""

        def run(piece):
            differing = real(piece)
            first, last = piece.own_folders
            if last > first and self.strikes("statx of a folder"):
                piece.folder_rows[self.choose(range(first, last))] = 0
            alive = piece.own_files[0] + np.flatnonzero(piece.view.alive[slice(*piece.own_files)])
            if len(alive) and self.strikes("statx of a file"):
                number = self.choose(alive.tolist())
                known = dict(zip(differing.numbers.tolist(), differing.rows, strict=True))
                known[number] = np.zeros(fetch.STAT_SLOTS, np.int64)
                numbers = np.array(sorted(known), np.int64)
                rows = np.array([known[n] for n in numbers.tolist()], np.int64)
                return compare.Differing(numbers, rows.reshape(-1, fetch.STAT_SLOTS))
            return differing

        return run

    def _stats(self, real):
        def stat_all(*args):
            rows = real(*args)
            if len(rows) and self.strikes("statx of a file"):
                rows[self.choose(range(len(rows)))] = 0
            return rows

        return stat_all
