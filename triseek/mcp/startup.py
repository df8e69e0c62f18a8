"""What a server does behind its first answer: load the kernels, find a daemon, sync the index.

None of it is waited for. A search before it is done takes another road, one before the index is
there too; whatever fails is logged, and the server goes on.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import TYPE_CHECKING

from triseek import errors
from triseek.ipc import address, spawn
from triseek.service import apart

if TYPE_CHECKING:
    from triseek.daemon.chores import Chores
    from triseek.service.desk import Desk

logger = logging.getLogger(__name__)

PAUSE_S = 0.05
"""Before anything heavy: the first answer is written meanwhile."""
WATCHED_WITHIN_S = 5.0
"""How long a daemon may take to begin to watch before the index is brought up to date here."""

END_S = 1.0
"""How long the end may wait for an index that is being brought up to date."""


class Startup:
    """Runs once; knows how far it has come."""

    def __init__(self, chores: Chores, *, sync: bool) -> None:
        """Without `sync` the index is left as it is."""
        self.chores = chores
        self._sync = sync
        self._syncing = False
        self._ended = threading.Event()
        self._indexing: threading.Thread | None = None

    @property
    def is_cold(self) -> bool:
        """Whether the kernels have yet to be loaded."""
        return not self.chores.warm.is_set()

    @property
    def is_syncing(self) -> bool:
        """Whether the index is being brought up to date."""
        return self._syncing

    def begin(self, desk: Desk) -> None:
        """Start; returns at once."""
        self._indexing = threading.Thread(target=self._index, args=(desk,), daemon=True)
        for thread in (threading.Thread(target=self._warm, daemon=True), self._indexing):
            thread.start()

    def _warm(self) -> None:
        time.sleep(PAUSE_S)
        self.chores.warm_up()

    def _index(self, desk: Desk) -> None:
        time.sleep(PAUSE_S)
        try:
            self._register(desk)
            if self._sync and not self._is_kept(desk):
                self._bring_up_to_date(desk)
                self._register(desk)
        except (errors.TriseekError, OSError) as error:
            if not self._ended.is_set():
                logger.warning("start-up sync: %s", error)

    def _register(self, desk: Desk) -> None:
        """Have the daemon keep this root, and start one if that is allowed and none runs."""
        try:
            address.connect(1.0).close()
        except address.Absent:
            if spawn.behind():
                spawn.wait_until_ready(5.0)
        except (address.Unreached, OSError):
            return
        desk.lending.ask("preload_root", {"exact": True})

    def _is_kept(self, desk: Desk) -> bool:
        """Whether there is an index and a daemon that watches its root."""
        if not desk.engine.has_index():
            return False
        until = time.monotonic() + WATCHED_WITHIN_S
        while time.monotonic() < until and not self._ended.is_set():
            told = desk.lending.ask("sync", {"cheap": True})
            if told is None:
                return False
            if told.get("watched"):
                return True
            time.sleep(0.1)
        return False

    def _bring_up_to_date(self, desk: Desk) -> None:
        self._syncing = True
        try:
            apart.reindex(desk.engine.root, "incremental", cancelled=self._ended.is_set)
            logger.info("index of %s is up to date", desk.root)
        except errors.Busy:
            logger.info("another process is writing the index of %s", desk.root)
        finally:
            self._syncing = False

    def end(self) -> None:
        """Stop what is under way, and wait until no process of it is left."""
        self._ended.set()
        self.chores.close()
        if self._indexing is not None:
            self._indexing.join(END_S)


def sync_is_wanted() -> bool:
    """Whether nobody has forbidden to touch the index at the start."""
    return "TRISEEK_MCP_DISABLE_STARTUP_SYNC" not in os.environ
