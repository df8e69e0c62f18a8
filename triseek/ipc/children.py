"""Start child processes that end with their parent, however the parent ends.

The children of a process share one process group. The group's leader is a shell (the guard) that
waits for the end of a pipe whose other end only the parent holds. When the parent ends, even by
SIGKILL, the system closes that end, and the guard kills its group, itself included. A child joins
the group between fork and exec, so no moment is left in which it could be missed.

Linux has a death signal for this purpose (`PR_SET_PDEATHSIG`). It is sent when the *thread* that
forked ends, which threads of a pool do all the time, and setting it takes code between fork and
exec, which is unsafe in a process with threads.

A terminal's Ctrl-C does not reach the group: whoever started a child ends it. A process that has to
outlive its parent (the daemon) or needs the terminal (a pager) is not started here.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHELL = "/bin/sh"
_GUARD = 'trap "" HUP INT TERM; read -r _; kill -s KILL 0'
_SESSION_GUARD = 'trap "" HUP INT TERM; read -r _ || kill -s KILL -- "-$1"'
"""Kills the group `$1` at the end of its input, unless it reads a line first."""


class _Guard:
    """The guard of this process: started with the first child, and again if it was killed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = 0
        self._owner = 0
        self._input = -1

    def group(self) -> int | None:
        """Return the process group for a new child; None where no guard can be started."""
        with self._lock:
            if not self._is_alive():
                self._start()
            return self._pid or None

    def _is_alive(self) -> bool:
        if not self._pid or self._owner != os.getpid():  # unequal: this process was forked
            return False
        try:
            return os.waitpid(self._pid, os.WNOHANG) == (0, 0)
        except ChildProcessError:
            return False

    def _start(self) -> None:
        if self._input >= 0:
            os.close(self._input)
        self._pid, self._owner, self._input = 0, os.getpid(), -1
        try:
            source, target = os.pipe()  # raw descriptors: no file object to close at exit
        except OSError:
            return
        try:
            shell = _shell(source, _GUARD)
        except OSError:  # a sandbox without a shell: children are started all the same
            os.close(target)
            return
        finally:
            os.close(source)
        self._pid, self._input = shell.pid, target
        shell.returncode = 0  # never waited for; avoids the warning of Popen


_guard = _Guard()


def start(words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401
    """Start a child that ends with this process.

    Args:
        words: the program and its arguments.
        options: arguments of `subprocess.Popen` except `process_group`.

    Raises:
        OSError: the program cannot be started.
    """
    group = _guard.group()
    try:
        return subprocess.Popen(words, process_group=group, **options)
    except PermissionError:
        # The program is not executable, or the guard was just killed: the retry will tell.
        return subprocess.Popen(words, process_group=_guard.group(), **options)


def run(
    words: Sequence[str],
    *,
    timeout: float,
    **options: Any,  # noqa: ANN401
) -> subprocess.CompletedProcess[bytes]:
    """Run a child to its end and return its status and standard output.

    Raises:
        OSError: the program cannot be started.
        subprocess.TimeoutExpired: it took longer than `timeout` seconds, and was killed.
    """
    with start(words, stdout=subprocess.PIPE, **options) as child:
        try:
            out, _ = child.communicate(timeout=timeout)
        except BaseException:
            child.kill()
            raise
    return subprocess.CompletedProcess(words, child.returncode, out)


@contextlib.contextmanager
def session(words: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:  # noqa: ANN401
    """Start a child in a session of its own, without our terminal; its group ends with us.

    The child's pid is also the id of its process group. A process that has a session of its own
    cannot join a group of another, so a guard is started for it alone, right after it: a parent
    that is killed in the millisecond between the two leaves the child behind.

    Raises:
        OSError: the program cannot be started.
    """
    with subprocess.Popen(words, start_new_session=True, **options) as child:
        guard = None
        with contextlib.suppress(OSError):  # there may be no shell
            guard = _shell(subprocess.PIPE, _SESSION_GUARD, str(child.pid))
        try:
            yield child
        finally:
            if guard is not None:
                with contextlib.suppress(OSError):
                    guard.communicate(b"\n")


def _shell(source: int, script: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a shell that leads a process group and reads from `source`.

    Raises:
        OSError: it cannot be started.
    """
    return subprocess.Popen(
        [_SHELL, "-c", script, _SHELL, *arguments],
        stdin=source,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        process_group=0,
    )
