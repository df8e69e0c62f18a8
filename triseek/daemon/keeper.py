"""Keep one root's index as its tree is: watch, take in what changed, merge, build what is missing.

Answers do not need any of it: what the index does not know is looked at directly. It keeps that
little, so that answers stay quick.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import TYPE_CHECKING

from triseek import errors, paths
from triseek.engine.trouble import Trouble
from triseek.files.root import git_root, key

if TYPE_CHECKING:
    from triseek.daemon.chores import Chores
    from triseek.engine.dirt import Dirt
    from triseek.engine.engine import Engine
    from triseek.engine.watch import Watch

logger = logging.getLogger(__name__)

TICK_S = 10.0
"""How often to look after a root whose tree is at rest."""
IDLE_S, IDLE_TICK_S = 60.0, 60.0
"""And how often after one that nobody has asked about for so long: each look makes a cookie."""
QUIET_S = 2.5
"""A tree that has not changed for so long is at rest. More than the two seconds within which an
edit could hide behind its time (`engine.freshness`): what is taken in then is not racy."""
QUIET_MAX_S = 60.0
"""And at most so long, for one that does not come to rest: each time it is twice as long."""
PATIENCE_S = 15.0
"""How long many changed files may wait for a tree to come to rest; a few are no burden."""
FEW = 64
HERE_MAX = 400
"""More changed files than this are taken in by another process, and its memory goes with it."""
HERE_BYTES_MAX = 64 << 20
"""So are merges of segments with more text than this."""
RECONCILE_S = 600.0
"""How often what events told is checked by a sweep, in a root that is being asked."""
RETRY_S = (5.0, 300.0)
"""Whatever fails is tried again after so long at first, and at most."""
POLL_S = 60.0
"""How often at least a root that cannot be watched is swept, and it is tried to watch it again."""


class Keeper:
    """One root's thread."""

    def __init__(
        self, engine: Engine, chores: Chores, *, may_build: bool, folders_max: int
    ) -> None:
        self.engine = engine
        self.trouble: Trouble | None = None
        """Why the root is not watched, or its index not kept; None if nothing is wrong."""
        self._chores = chores
        self._may_build = may_build
        self._folders_max = folders_max
        self._stop = threading.Event()
        self._quiet_s = QUIET_S
        self._dirty_since = 0.0
        self._reconciled = time.monotonic()
        self._retry_s = RETRY_S[0]
        self._saved = -1
        self._watch_again = 0.0
        self._thread = threading.Thread(
            target=self._run, name=f"triseek-keep-{key(os.fsencode(engine.root))}", daemon=True
        )

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; what is under way is finished by its own thread."""
        self._stop.set()

    def join(self, timeout_s: float) -> None:
        """Wait for the thread to end."""
        self._thread.join(timeout_s)

    @property
    def stopped(self) -> bool:
        """Whether it was told to end."""
        return self._stop.is_set()

    def _run(self) -> None:
        try:
            self._keep_on()
        finally:
            self._write_down()
            if self.engine.frecency is not None:
                self.engine.frecency.close()

    def _keep_on(self) -> None:
        while not self._stop.is_set():
            try:
                wait_s = self._turn()
                self._write_down()
            except errors.Busy:
                wait_s = 1.0
            except Exception as error:  # noqa: BLE001 - an edge: what fails is tried again later
                wait_s = self._after(error)
            self._rest(wait_s)

    def _write_down(self) -> None:
        """What is worth knowing after the daemon has ended."""
        if not self.engine.has_index():
            return  # a folder that was merely searched leaves no trace
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
        """How long to leave it at that."""
        # Of the error itself: what its class advises is for who asked, not for `status`.
        self.trouble = Trouble(str(error), vars(error).get("next_step", ""))
        known = isinstance(error, (errors.TriseekError, OSError))
        logger.warning(
            "upkeep failed",
            extra={"root": self.engine.root, "reason": str(error)},
            exc_info=None if known else error,
        )
        if isinstance(error, errors.Unwatchable):
            self._poll()
            return self._back_off(POLL_S)
        return self._back_off(RETRY_S[1])

    def _back_off(self, most_s: float) -> float:
        """How long to wait before the next attempt: each time twice as long."""
        wait_s, self._retry_s = self._retry_s, min(2 * self._retry_s, RETRY_S[1])
        return min(wait_s, most_s)

    def _rest(self, wait_s: float) -> None:
        watch = self.engine.watched
        if watch is None or watch.trouble is not None:  # each look is a sweep: not at every event
            self._stop.wait(wait_s)
            return
        until = time.monotonic() + wait_s
        # An event ends the rest early, and so does a watcher's end; a stop is noticed within a
        # second.
        while (left := until - time.monotonic()) > 0 and not self._stop.is_set():
            if watch.wait(min(left, 1.0)) or not watch.alive:
                break
        self._stop.wait(0.05)

    def _turn(self) -> float:
        """Do what is to be done now; how many seconds nothing will be, at most."""
        if not os.path.isdir(self.engine.root):  # noqa: PTH112
            self.engine.unwatch()
            self.trouble = Trouble("the folder is gone")
            return TICK_S
        if self.engine.has_index():
            return self._keep()
        self.engine.unwatch()
        return self._build()

    def _build(self) -> float:
        if not self._may_build:
            return TICK_S
        self._chores.run("build", self.engine.root)
        return 0.0

    def _keep(self) -> float:
        if not self._chores.warm.wait(TICK_S):
            return 0.0
        watch = self.engine.watched
        if watch is None:
            # One that ends as soon as it has begun would else be begun without end.
            wait_s = self._watch_again - time.monotonic()
            if wait_s > 0:
                return wait_s
            watch = self._watch()
        self._catch_up()
        self._reconcile()
        dirt = self.engine.indexed().dirt()
        if watch.trouble is not None or not watch.alive:
            return self._sweep_for_now(watch, dirt)
        self._retry_s = RETRY_S[0]
        if dirt.count == 0:
            self._dirty_since = 0.0
            if time.monotonic() - watch.changed > QUIET_MAX_S:
                self._quiet_s = QUIET_S
            self._merge()
            return TICK_S if time.monotonic() - self.engine.used < IDLE_S else IDLE_TICK_S
        return self._take_in(dirt.count, watch)

    def _watch(self) -> Watch:
        self._watch_again = time.monotonic() + RETRY_S[0]
        self.engine.unwatch()
        name = f"{key(os.fsencode(self.engine.root))}.{os.getpid()}"
        cookies = os.path.join(paths.daemon(), "cookies", name)  # noqa: PTH118
        watch = self.engine.watch(cookies, self._folders_max)
        self.trouble = None
        logger.info("watching", extra={"root": self.engine.root})
        return watch

    def _catch_up(self) -> None:
        self.engine.indexed().catch_up()

    def _reconcile(self) -> None:
        now = time.monotonic()
        if now - self._reconciled < RECONCILE_S or self.engine.used < self._reconciled:
            return
        self._reconciled = now
        if not self.engine.indexed().reconcile():
            logger.error("events had missed something", extra={"root": self.engine.root})

    def _take_in(self, files: int, watch: Watch) -> float:
        """Write what is dirty to the index once the tree is at rest, or has not been for long."""
        now = time.monotonic()
        self._dirty_since = self._dirty_since or now
        rested = now - watch.changed >= self._quiet_s
        if not rested and (files <= FEW or now - self._dirty_since < PATIENCE_S):
            return 0.5
        started = time.perf_counter()
        if self.engine.indexed().absorb(HERE_MAX) is None:
            self._chores.run("update", self.engine.root)
        self._quiet_s = min(2 * self._quiet_s, QUIET_MAX_S)
        self._dirty_since = 0.0
        self._catch_up()
        ms = round((time.perf_counter() - started) * 1e3)
        logger.info("updated", extra={"root": self.engine.root, "files": files, "ms": ms})
        self._merge()  # not only at rest: a tree that never is would gather segments without end
        return 0.0

    def _merge(self) -> None:
        size = self.engine.indexed().merge_due()
        if not size:
            return
        if size <= HERE_BYTES_MAX:
            self.engine.indexed().merge(lambda: self.stopped)
        else:
            self._chores.run("update", self.engine.root)
        self._catch_up()
        logger.info("merged", extra={"root": self.engine.root, "bytes": size})

    def _sweep_for_now(self, watch: Watch, dirt: Dirt) -> float:
        """Keep up with a root whose answers take a sweep; how long to leave it at that."""
        self.trouble = watch.trouble or self.trouble
        logger.warning("answers take a sweep", extra={
            "root": self.engine.root, "reason": self.trouble.reason if self.trouble else ""
        })  # fmt: skip
        self._keep_up(dirt)
        return self._back_off(POLL_S)

    def _keep_up(self, dirt: Dirt) -> None:
        """Index what an answer would have to look at; all, where that is not known."""
        if dirt.count > FEW or dirt.freshness == "unverified":
            self._chores.run("update", self.engine.root)
            self._catch_up()

    def _poll(self) -> None:
        """Where events do not tell, sweep now and then, so that little is left to each answer."""
        try:
            self._keep_up(self.engine.indexed().dirt())
        except (errors.TriseekError, OSError) as error:
            logger.warning("upkeep failed", extra={"root": self.engine.root, "reason": str(error)})


def to_be_indexed(root: str) -> str | None:
    """The folder to index when `root` is searched and no index covers it; None for none.

    A repository is worth an index. A folder that is none may be a whole disk.
    """
    found = git_root(root)
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    return None if found in {None, "/", home} else found
