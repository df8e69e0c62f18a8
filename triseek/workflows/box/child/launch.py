"""The box's first process: it reads what to run, forks, and ends all that the script leaves.

It has the channel's end as a descriptor, and as standard input a pipe whose other end only
triseek holds: at its end, everything is killed. So a script does not outlive triseek. Descendants
that leave their session or group come back as children of this process, a subreaper.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

from triseek.workflows.box.child import _channel, confine, entry, frames, system

TYPE_CHECKING = False  # importing typing takes longer than all of this
if TYPE_CHECKING:
    from typing import Any

NOT_STARTED, KILLED = 70, 137
_TRIES, _PAUSE_S = 400, 0.005


_TASKS_ROOM = 512
"""More than the 256 threads and processes above which the host ends the box: others count, too."""


def main(channel: int, root: str) -> int:
    """Run the script of the first frame; return what is to be the exit code."""
    with contextlib.suppress(ValueError):
        sys.path.remove(root)
    start = frames.receive(channel)
    linux = sys.platform.startswith("linux")
    if linux:
        system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)
    source, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(source)
        os.close(wake)
        os.setpgid(0, 0)
        if linux:
            system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                return KILLED
        return _run(channel, start)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.close(channel)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    status = _wait(child, source)
    _end_all(child)
    return status


def _run(channel: int, start: dict[str, Any]) -> int:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        confine.limit(start["seconds"], start["memory_bytes"])
        if start["limit_processes"]:
            confine.limit_processes(_TASKS_ROOM)
        confine.confine(
            use_landlock=start["landlock"], use_seccomp=start["seccomp"], folder=start["folder"]
        )
    except (OSError, ValueError) as error:
        frames.send(channel, {"refused": str(error)})
        return NOT_STARTED
    frames.send(channel, {"ready": True})
    _channel.install(channel, start["functions"])
    return entry.run(start["source"], start["arguments"], trusted=start["trusted"])


def _wait(child: int, wake: int) -> int:
    """Wait for the child, or for the end of triseek's pipe; return an exit code."""
    while True:
        ready, _, _ = select.select([0, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            while True:
                try:
                    pid, status = os.waitpid(-1, os.WNOHANG)
                except ChildProcessError:
                    return KILLED
                if pid == child:
                    code = os.waitstatus_to_exitcode(status)
                    return code if code >= 0 else 128 - code
                if pid == 0:
                    break
        if 0 in ready and not os.read(0, 4096):
            return KILLED


def _end_all(child: int) -> None:
    """Kill the child's group and all descendants, however often they fork meanwhile."""
    for _ in range(_TRIES):
        if not (_reap() or sys.platform == "darwin"):
            return
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        for pid in _descendants():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not _reap():
            return
        time.sleep(_PAUSE_S)


def _reap() -> bool:
    """Collect children that have ended; return whether there are others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _descendants() -> list[int]:
    """Processes below this one, by the parents that /proc names; empty where it is missing."""
    children: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(name))
    below: list[int] = []
    queue = [os.getpid()]
    while queue:
        direct = children.get(queue.pop(), [])
        below += direct
        queue += direct
    return below
