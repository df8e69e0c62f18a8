"""Keep one root's index up to date: watch the tree, index changes, merge, build a missing index.

Answers are correct without it: files that the index does not cover are read directly. It keeps
those few, so that answers stay fast.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import TYPE_CHECKING

from triseek import errors, paths
from triseek.engine.freshness.journal import Trouble
from triseek.files.tree.index_policy import repository
from triseek.files.tree.root import key

if TYPE_CHECKING:
    from triseek.daemon.index_jobs import IndexJobs
    from triseek.engine.engine import Engine
    from triseek.engine.freshness.tree_diff import TreeDiff
    from triseek.engine.watch import Watch

logger = logging.getLogger(__name__)

TICK_S = 10.0
"""Seconds between checks of a root whose tree is at rest."""
IDLE_S, IDLE_TICK_S = 60.0, 60.0
"""Seconds unused after which a root is idle, and between its checks: each check makes a cookie."""
QUIET_S = 2.5
"""Seconds without a change after which a tree is at rest. More than the two seconds within which an
edit may leave the times unchanged (`engine.freshness.sweep`): files indexed then are not racy."""
QUIET_MAX_S = 60.0
"""Limit of that time, which doubles with each update of a tree that does not come to rest."""
PATIENCE_S = 15.0
"""Seconds that more than `FEW` changed files wait for the tree to come to rest; few do no harm."""
FEW = 64
HERE_MAX = 400
"""More changed files than this are indexed in a child process, whose memory ends with it."""
HERE_BYTES_MAX = 64 << 20
"""Merges of segments with more bytes of text than this run in a child process, too."""
RECONCILE_S = 600.0
"""Seconds between sweeps that check the events, for a root in use."""
RETRY_S = (5.0, 300.0)
"""First and longest delay, in seconds, before a failed step is retried."""
POLL_S = 60.0
"""Longest time, in seconds, between sweeps of an unwatchable root and attempts to watch it."""


class RootMaintainer(threading.Thread):
    """The thread that maintains one root."""

    def __init__(
        self, engine: Engine, index_jobs: IndexJobs, *, may_build: bool, folders_max: int
    ) -> None:
        name = f"triseek-keep-{key(os.fsencode(engine.root))}"
        super().__init__(name=name, daemon=True)
        self.engine = engine
        self.trouble: Trouble | None = None
        """Why the root is not watched or its index not updated; None if nothing is wrong."""
        self._index_jobs = index_jobs
        self.may_build = may_build
        """Whether to build an index if there is none."""
        self._folders_max = folders_max
        self._ended = threading.Event()
        self._quiet_s = QUIET_S
        self._dirty_since = 0.0
        self._reconciled = time.monotonic()
        self._retry_s = RETRY_S[0]
        self._saved = -1
        self._watch_again = 0.0

    def stop(self) -> None:
        """Tell the thread to end, without waiting; it finishes its current step."""
        self._ended.set()

    def run(self) -> None:
        """Maintain the root until `stop`."""
        try:
            while not self._ended.is_set():
                self._rest(self._next())
        finally:
            self._write_down()
            if self.engine.frecency is not None:
                self.engine.frecency.close()

    def _next(self) -> float:
        """Take a turn; return the seconds until the next, also if it failed."""
        try:
            wait_s = self._turn()
            self._write_down()
        except errors.Busy:
            return 1.0
        except Exception as error:  # noqa: BLE001 - an edge: what fails is tried again later
            return self._after(error)
        return wait_s

    def _write_down(self) -> None:
        """Save what is needed after the daemon has ended: scores and the journal."""
        if not self.engine.has_index():
            return  # a folder that was only searched leaves no files
        frecency, watch = self.engine.frecency, self.engine.watched
        try:
            if frecency is not None and frecency.claim() and frecency.dirty:
                frecency.save()
            if watch is not None and watch.journal.clock.generation != self._saved:
                self._saved = watch.journal.clock.generation
                watch.journal.save(self.engine.index_dir or "")
        except (errors.TriseekError, OSError) as error:
            logger.warning("not saved", extra={"root": self.engine.root, "reason": str(error)})

    def _after(self, error: Exception) -> float:
        """Record an error; return the seconds until the next attempt."""
        # Only the instance's own next step: that of the class is for the caller, not for `status`.
        self.trouble = Trouble(str(error), vars(error).get("next_step", ""))
        is_expected = isinstance(error, (errors.TriseekError, OSError))
        logger.warning(
            "maintenance failed",
            extra={"root": self.engine.root, "reason": str(error)},
            exc_info=None if is_expected else error,
        )
        if isinstance(error, errors.Unwatchable):
            # Without events, a sweep updates the index, so that answers check little.
            try:
                self._keep_up(self.engine.indexed().tree_diff())
            except (errors.TriseekError, OSError) as trouble:
                logger.warning(
                    "maintenance failed",
                    extra={"root": self.engine.root, "reason": str(trouble)},
                )
            return self._back_off(POLL_S)
        return self._back_off(RETRY_S[1])

    def _back_off(self, most_s: float) -> float:
        """Return the seconds to wait before the next attempt: twice as many each time."""
        wait_s, self._retry_s = self._retry_s, min(2 * self._retry_s, RETRY_S[1])
        return min(wait_s, most_s)

    def _rest(self, wait_s: float) -> None:
        watch = self.engine.watched
        if watch is None or watch.trouble is not None:  # each check is a sweep: not at every event
            self._ended.wait(wait_s)
            return
        until = time.monotonic() + wait_s
        # An event or the end of the watcher ends the rest early; a stop is noticed within a
        # second.
        while (left := until - time.monotonic()) > 0 and not self._ended.is_set():
            if watch.wait(min(left, 1.0)) or not watch.alive:
                break
        self._ended.wait(0.05)

    def _turn(self) -> float:
        """Do the work that is due; return the most seconds to wait before the next turn."""
        if not os.path.isdir(self.engine.root):  # noqa: PTH112
            self.engine.unwatch()
            self.trouble = Trouble("the folder is gone")
            return TICK_S
        if self.engine.has_index():
            return self._keep()
        self.engine.unwatch()
        if not self.may_build:
            return TICK_S
        self._index_jobs.run("build", self.engine.root)
        return 0.0

    def _keep(self) -> float:
        if not self._index_jobs.warm.wait(TICK_S):
            return 0.0
        watch = self.engine.watched
        if watch is None:
            # Without this limit, a watch that ends at once would be restarted in a tight loop.
            wait_s = self._watch_again - time.monotonic()
            if wait_s > 0:
                return wait_s
            watch = self._watch()
        self.engine.indexed().catch_up()
        self._reconcile()
        diff = self.engine.indexed().tree_diff()
        if watch.trouble is not None or not watch.alive:
            self.trouble = watch.trouble or self.trouble
            reason = self.trouble.reason if self.trouble else ""
            logger.warning(
                "answers take a sweep", extra={"root": self.engine.root, "reason": reason}
            )
            self._keep_up(diff)
            return self._back_off(POLL_S)
        self._retry_s = RETRY_S[0]
        if diff.count == 0:
            self._dirty_since = 0.0
            if time.monotonic() - watch.changed > QUIET_MAX_S:
                self._quiet_s = QUIET_S
            self._merge()
            return TICK_S if time.monotonic() - self.engine.used < IDLE_S else IDLE_TICK_S
        return self._take_in(diff.count, watch)

    def _watch(self) -> Watch:
        self._watch_again = time.monotonic() + RETRY_S[0]
        self.engine.unwatch()
        name = f"{key(os.fsencode(self.engine.root))}.{os.getpid()}"
        cookies = os.path.join(paths.daemon(), "cookies", name)  # noqa: PTH118
        watch = self.engine.watch(cookies, self._folders_max)
        self.trouble = None
        logger.info("watching", extra={"root": self.engine.root})
        return watch

    def _reconcile(self) -> None:
        now = time.monotonic()
        if now - self._reconciled < RECONCILE_S or self.engine.used < self._reconciled:
            return
        self._reconciled = now
        if not self.engine.indexed().reconcile():
            logger.error("events had missed something", extra={"root": self.engine.root})

    def _take_in(self, files: int, watch: Watch) -> float:
        """Index dirty files once the tree is at rest, or if many have waited for long."""
        now = time.monotonic()
        self._dirty_since = self._dirty_since or now
        is_at_rest = now - watch.changed >= self._quiet_s
        if not is_at_rest and (files <= FEW or now - self._dirty_since < PATIENCE_S):
            return 0.5
        started = time.perf_counter()
        if self.engine.indexed().absorb(HERE_MAX) is None:
            self._index_jobs.run("update", self.engine.root)
        self._quiet_s = min(2 * self._quiet_s, QUIET_MAX_S)
        self._dirty_since = 0.0
        self.engine.indexed().catch_up()
        ms = round((time.perf_counter() - started) * 1e3)
        logger.info("updated", extra={"root": self.engine.root, "files": files, "ms": ms})
        self._merge()  # not only at rest: a tree that never rests would accumulate segments
        return 0.0

    def _merge(self) -> None:
        size = self.engine.indexed().merge_due()
        if not size:
            return
        if size <= HERE_BYTES_MAX:
            self.engine.indexed().merge(self._ended.is_set)
        else:
            self._index_jobs.run("update", self.engine.root)
        self.engine.indexed().catch_up()
        logger.info("merged", extra={"root": self.engine.root, "bytes": size})

    def _keep_up(self, diff: TreeDiff) -> None:
        """Update the index if many files are dirty, or if it is unknown how many."""
        if diff.count > FEW or diff.freshness == "unverified":
            self._index_jobs.run("update", self.engine.root)
            self.engine.indexed().catch_up()


def to_be_indexed(root: str) -> str | None:
    """Return the folder to index when `root` is searched and no index covers it; None for none.

    Only a repository is: whoever searches with the command line searches many other folders once.
    """
    return repository(root)
