"""The tools in a process without a daemon, which loads the kernels and updates the index itself.

It does so in threads after the first answer, and nothing waits for it. Until the kernels and the
index are ready, searches use other backends. A failure is logged, and the server goes on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import threading
import time
from collections import deque
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from triseek import errors
from triseek.app.dispatch import Local, LocalSearches, Remote
from triseek.app.project_memory import remembered
from triseek.app.tool_context import ToolContext
from triseek.app.workflow_runs import code_source
from triseek.daemon.index_jobs import IndexJobs
from triseek.engine import reindex_process
from triseek.engine.service import Service
from triseek.engine.tool_host import ToolHost
from triseek.files.tree.index_policy import refusal
from triseek.ipc import client
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.sessions.recording import Action

logger = logging.getLogger(__name__)

PAUSE_S = 0.05
"""Seconds to wait before heavy work, while the first answer is written."""
END_S = 1.0
"""Seconds that `end` waits for an index update that is running."""
ACTIONS_MAX = 1_000
"""Actions that are kept for the next daemon; older ones are dropped."""
SEND_S = 2.0
"""How long the daemon may take to record them."""
DISABLED = "TRISEEK_MCP_DISABLE_STARTUP_SYNC"
"""The variable that forbids updating the index at the start."""


class Standalone:
    """The tools of a root in a process without a daemon, and the work at its start."""

    def __init__(self, root: str) -> None:
        """Prepare the tools of a root, and start nothing."""
        self.index_jobs = IndexJobs()
        self.is_syncing = False
        """Whether the index is being updated."""
        self.outbox = Outbox()
        self._service = Service(is_cold=lambda: self.is_cold)
        self._memory = Memory()
        host = ToolHost(
            service=self._service,
            root=root,
            is_building=lambda _: self.is_syncing,
            remembering=partial(remembered, self._memory),
            code_sources=code_source,
        )
        self.context = ToolContext(host, self.outbox)
        self._local = Local(self.context)
        self.remote = Remote(self._local, self.begin, self.outbox.send)
        """Calls the tools through the daemon; in this process if there is none."""
        self.local_searches = LocalSearches(self._local, self.remote)
        """Calls the tools in this process, except those that need the daemon."""
        self._ended = threading.Event()
        self._indexing: threading.Thread | None = None

    @property
    def is_cold(self) -> bool:
        """Whether the kernels are not loaded yet."""
        return not self.index_jobs.warm.is_set()

    def begin(self) -> None:
        """Start the work in threads, and return at once. `remote.begin_alone` calls it once."""
        threading.Thread(target=self._warm, daemon=True).start()
        if DISABLED not in os.environ:
            self._indexing = threading.Thread(target=self._index, daemon=True)
            self._indexing.start()

    def _warm(self) -> None:
        time.sleep(PAUSE_S)
        self.index_jobs.warm_up()

    def _index(self) -> None:
        time.sleep(PAUSE_S)
        try:
            engine = self.context.host.engine
            root = engine.root
            why_not = None if engine.has_index() else refusal(root)
            if why_not is not None:
                logger.info("not indexed: %s", why_not.reason)
                return
            self.is_syncing = True
            reindex_process.reindex(root, "incremental", cancelled=self._ended.is_set)
            logger.info("index of %s is up to date", root)
        except errors.Busy:
            logger.info("another process is writing the index of %s", self.context.root)
        except (errors.TriseekError, OSError) as error:
            if not self._ended.is_set():
                logger.warning("start-up sync: %s", error)
        finally:
            self.is_syncing = False

    def close(self) -> None:
        """Stop the work, and wait until its processes have ended, at most `END_S` for the index."""
        self._ended.set()
        self.index_jobs.close()
        if self._indexing is not None:
            self._indexing.join(END_S)
        self._service.close()
        self._memory.close()


class Outbox:
    """Actions done while no daemon recorded them, kept in memory for the next one. Thread-safe."""

    def __init__(self) -> None:
        self._actions: deque[tuple[str, Action]] = deque(maxlen=ACTIONS_MAX)
        self._lock = threading.Lock()

    def __call__(self, root: str, action: Action) -> None:
        """Keep an action of a root."""
        self._actions.append((root, action))

    def send(self) -> bool:
        """Have the daemon record what is kept, in order; return whether nothing is left.

        Without a daemon the actions stay. What a daemon refuses is dropped.
        """
        with self._lock:
            for (root, session), group in groupby(
                list(self._actions), key=lambda kept: (kept[0], kept[1].session_id)
            ):
                notes = [dataclasses.asdict(action) for _, action in group]
                params = {"target_root": root, "notes": notes}
                if session:
                    params["session_id"] = session
                try:
                    client.ask("session_note", params, SEND_S)
                except (errors.DaemonUnreachable, errors.VersionMismatch, errors.Busy):
                    return False
                except errors.TriseekError as error:
                    logger.warning("the daemon refused to record actions: %s", error)
                for _ in notes:
                    self._actions.popleft()
        return True


@contextlib.contextmanager
def front(root: str) -> Iterator[Remote]:
    """Call tools on a root from a process of its own: by the daemon, or here if there is none."""
    alone = Standalone(root)
    with contextlib.closing(alone):
        yield alone.remote
