"""What the daemon has done by other processes: builds, large updates, compiling.

A crash there costs a build, not a session, and the memory they take is given back when they end.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

from triseek.errors import BackendFailure
from triseek.ipc import children
from triseek.kernels import cache
from triseek.model.index import no_progress

logger = logging.getLogger(__name__)

NICE = 10
"""Builds wait for whoever is waiting."""
_STOP_S = 1.0


class Chores:
    """Runs one at a time, and ends what is under way when it is closed."""

    def __init__(self) -> None:
        self.warm = threading.Event()
        """Whether this process has loaded numba and the kernels."""
        self._one = threading.Lock()
        self._closed = False
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def busy(self) -> bool:
        """Whether one is under way."""
        return self._one.locked()

    def warm_up(self) -> None:
        """Have the kernels compiled where they are not, then load them."""
        try:
            if not cache.is_ready() and cache.can_be_kept():
                self.run("warmup")
            from triseek.kernels.warm import warm

            warm(no_progress)
        except Exception:
            # Searches take other roads; the next start tries again.
            if not self._closed:
                logger.exception("kernels could not be loaded")
            return
        self.warm.set()
        logger.info("warm")

    def run(self, verb: str, root: str | None = None) -> None:
        """Run `triseek verb`, of a root where one is named, and wait for it to end.

        Raises:
            BackendFailure: it failed, the root is gone, or the daemon is stopping.
        """
        with self._one:
            # It may have gone while another child was waited for.
            if root is not None and not os.path.isdir(root):  # noqa: PTH112
                raise BackendFailure("the folder is gone")
            child = self._start(verb, *([] if root is None else [root]))
            try:
                _, said = child.communicate()
            finally:
                self._child = None
        if child.returncode != 0:
            last = said.decode(errors="replace").strip().rpartition("\n")[2]
            raise BackendFailure(f"`triseek {verb}` ended with {child.returncode}: {last}")

    def _start(self, verb: str, *words: str) -> subprocess.Popen[bytes]:
        if self._closed:
            raise BackendFailure("the daemon is stopping")
        self._child = child = children.start(
            [sys.executable, "-m", "triseek", verb, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "TRISEEK_NO_DAEMON": "1"},
        )
        try:
            os.setpriority(os.PRIO_PROCESS, child.pid, NICE)
        except OSError:
            logger.debug("priority not lowered")
        return child

    def close(self) -> None:
        """End what is under way; what it was writing is swept up by the next writer."""
        self._closed = True
        child = self._child
        if child is None:
            return
        child.terminate()
        try:
            child.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
