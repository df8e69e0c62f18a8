"""Jobs that the daemon runs in child processes: builds, large updates, compiling kernels.

A crash of a child costs a build, not a session, and a child's memory is freed when it ends.
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
"""Niceness of the children: processes that a user waits for come first."""
_STOP_S = 1.0


class IndexJobs:
    """Runs one job at a time, and ends the running one when closed."""

    def __init__(self) -> None:
        self.warm = threading.Event()
        """Set once this process has loaded numba and the kernels."""
        self._one = threading.Lock()
        self._closed = False
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def busy(self) -> bool:
        """Whether a job is running."""
        return self._one.locked()

    def warm_up(self) -> None:
        """Compile the kernels if they are not compiled yet, then load them."""
        try:
            if not cache.is_ready() and cache.can_be_kept():
                self.run("warmup")
            from triseek.kernels.jit import warm

            warm(no_progress)
        except Exception:
            # Searches use other backends; the next process tries again.
            if not self._closed:
                logger.exception("kernels could not be loaded")
            return
        self.warm.set()
        logger.info("warm")

    def run(self, verb: str, root: str | None = None) -> None:
        """Run `triseek VERB [ROOT]` in a child process and wait for it to end.

        Raises:
            BackendFailure: the child failed, the root is gone, or the daemon is stopping.
        """
        with self._one:
            # The root may have been removed while another job was running.
            if root is not None and not os.path.isdir(root):  # noqa: PTH112
                raise BackendFailure("the folder is gone")
            if self._closed:
                raise BackendFailure("the daemon is stopping")
            self._child = child = children.start(
                [sys.executable, "-m", "triseek", verb, *([root] if root else [])],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, "TRISEEK_NO_DAEMON": "1"},
            )
            try:
                os.setpriority(os.PRIO_PROCESS, child.pid, NICE)
            except OSError:
                logger.debug("priority not lowered")
            try:
                _, stderr = child.communicate()
            finally:
                self._child = None
        if child.returncode != 0:
            line = stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise BackendFailure(f"`triseek {verb}` ended with {child.returncode}: {line}")

    def close(self) -> None:
        """End the running job. The next writer removes its unfinished files."""
        self._closed = True
        child = self._child
        if child is None:
            return
        child.terminate()
        try:
            child.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
