"""Background work: maintain every root in use, close idle roots, return memory to the system.

Memory that Python frees stays in the C library's arenas, and each thread that serves a request may
get its own arena. Pages of an index that were read stay mapped. Both count as the daemon's memory,
and neither is needed.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import sys
import threading
import time
from typing import TYPE_CHECKING

from triseek.daemon.index_jobs import IndexJobs
from triseek.daemon.root_maintainer import RootMaintainer, to_be_indexed
from triseek.engine import leftovers
from triseek.engine.service import Service
from triseek.errors import TriseekError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.config import Settings
    from triseek.engine.engine import Engine
    from triseek.engine.freshness.journal import Trouble

logger = logging.getLogger(__name__)

ROUND_S = 5.0
JOIN_S = 2.0
"""Seconds that `close` waits for all maintainers together."""
IDLE_S = 3_600.0
"""Seconds without a request after which a root is closed."""
CLEAN_FIRST_S, CLEAN_S = 60.0, 600.0
"""Seconds until the state folder is cleaned for the first time, and between two times."""
_ARENA_MAX = -8  # M_ARENA_MAX of glibc's malloc.h
ARENAS = 2
"""The number of threads that are ever busy at once; one of them holds the interpreter."""


class OpenRoots:
    """Owns the service that answers requests, and maintains its open roots."""

    def __init__(self, settings: Settings) -> None:
        # Before any thread is started: limits the arenas that all threads share.
        _glibc("mallopt", _ARENA_MAX, ARENAS)
        self.index_jobs = IndexJobs()
        self.service = Service(is_cold=lambda: not self.is_warm, opened=self.opened)
        self._settings = settings
        self._maintainers: dict[str, RootMaintainer] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._tidied = 0.0
        self._clean_at = time.monotonic() + CLEAN_FIRST_S

    @property
    def is_warm(self) -> bool:
        """Whether the kernels are loaded."""
        return self.index_jobs.warm.is_set()

    def start(self) -> None:
        """Start the background threads; requests may be served meanwhile."""
        work = {"triseek-warm": self.index_jobs.warm_up, "triseek-rounds": self._rounds}
        for name, target in work.items():
            threading.Thread(target=target, name=name, daemon=True).start()

    def busy(self) -> bool:
        """Return whether a job is running that another process would have to start over."""
        return self.index_jobs.busy

    def opened(self, engine: Engine) -> None:
        """Start a maintainer for a root that was opened, or for the repository to index instead."""
        target = engine.root if engine.has_index() else None
        if target is None and self._settings.daemon_auto_index:
            target = to_be_indexed(engine.root)
        if target is not None and target != engine.root:
            try:
                self.service.engine(target, exact=True)  # which opens and so maintains it
            except TriseekError as error:
                logger.warning("maintenance failed", extra={"root": target, "reason": str(error)})
            return
        with self._lock:
            if self._stop.is_set() or engine.root in self._maintainers:
                return
            maintainer = RootMaintainer(
                engine,
                self.index_jobs,
                may_build=target is not None,
                folders_max=self._settings.watch_max_folders,
            )
            self._maintainers[engine.root] = maintainer
        maintainer.start()

    def maintainer(self, root: str) -> RootMaintainer | None:
        """Return the maintainer of a root; None if it has none."""
        with self._lock:
            return self._maintainers.get(root)

    def is_building(self, root: str) -> bool:
        """Return whether a root has no index yet and its maintainer may build one."""
        maintainer = self.maintainer(root)
        return maintainer is not None and maintainer.may_build and not maintainer.engine.has_index()

    def trouble(self, root: str) -> Trouble | None:
        """Return why a root is not watched or its index not updated; None if nothing is wrong."""
        maintainer = self.maintainer(root)
        return None if maintainer is None else trouble_of(maintainer)

    def maintainers(self) -> list[RootMaintainer]:
        """Return the maintainers of all maintained roots."""
        with self._lock:
            return list(self._maintainers.values())

    def _rounds(self) -> None:
        while not self._stop.wait(ROUND_S):
            for engine in self._surplus():
                self._let_go(engine)
            self._tidy()
            if time.monotonic() >= self._clean_at:
                self._clean_at = time.monotonic() + CLEAN_S
                self.clean()

    def clean(self) -> None:
        """Close the roots that are gone, and remove from the state folder what nobody uses."""
        for engine in self.service.engines():
            if leftovers.is_gone(engine.root):
                self._let_go(engine)
        leftovers.clean_cookies()
        leftovers.clean()

    def _tidy(self) -> None:
        """Release the memory that requests have left since the last call.

        Garbage is looked for once no request has come for a round: it takes a fifth of a second,
        during which no other thread can run Python.
        """
        engines = self.service.engines()
        used = max((engine.used for engine in engines), default=0.0)
        if used <= self._tidied:
            return
        if time.monotonic() - used > ROUND_S:
            self._tidied = time.monotonic()
            gc.collect()
        give_back(engines)

    def _surplus(self) -> list[Engine]:
        """Return the roots to close: idle ones, and above the limit those used longest ago."""
        engines = sorted(self.service.engines(), key=lambda engine: engine.used)
        excess = max(0, len(engines) - self._settings.daemon_max_roots)
        now = time.monotonic()
        return engines[:excess] + [e for e in engines[excess:] if now - e.used > IDLE_S]

    def _let_go(self, engine: Engine) -> None:
        with self._lock:
            maintainer = self._maintainers.pop(engine.root, None)
        if maintainer is not None:
            maintainer.stop()
        self.service.drop(engine)
        if maintainer is not None:
            maintainer.join(JOIN_S)  # it owns the scores until it has ended
        logger.info("let go", extra={"root": engine.root})

    def close(self) -> None:
        """Stop all jobs and maintainers, and close the service."""
        self._stop.set()
        self.index_jobs.close()
        maintainers = self.maintainers()
        for maintainer in maintainers:
            maintainer.stop()
        until = time.monotonic() + JOIN_S
        for maintainer in maintainers:
            maintainer.join(max(0.0, until - time.monotonic()))
        self.service.close()


def trouble_of(maintainer: RootMaintainer) -> Trouble | None:
    """Return why a root is not watched or its index not updated; None if nothing is wrong."""
    engine = maintainer.engine
    return engine.trouble or (maintainer.trouble if engine.watched is None else None)


def give_back(engines: Iterable[Engine]) -> None:
    """Return freed memory to the system, and memory that can be rebuilt."""
    for engine in engines:
        engine.release()
    _glibc("malloc_trim", 0)


def _glibc(function: str, *numbers: int) -> None:
    if sys.platform == "linux":
        try:
            getattr(ctypes.CDLL(None), function)(*numbers)
        except (AttributeError, OSError):
            return  # another C library
