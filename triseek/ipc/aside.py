"""Have a daemon started by a process aside, by one that is about to end and may import nothing.

`ipc.spawn` knows how a daemon is started, and when not; importing it takes longer than an agent's
hook may. So a hook starts an interpreter that does it, and does not wait. What tells beforehand
that nothing would be started is looked at here.
"""

from __future__ import annotations

import os
import sys
import time

from triseek import paths

STAMP = "starting"
"""A file in the daemon's folder; its time is the last attempt's."""
AGAIN_S = 10.0
"""Seconds between attempts, whoever makes them."""
VETOES = ("TRISEEK_NO_DAEMON", "CI")
"""Variables that forbid to start one."""


def behind(act: str = "behind") -> None:
    """Do `spawn.behind` or another function of it in a process aside. Never raises."""
    if not may_be_tried():
        return
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    code = f"import sys; sys.path.append({package!r}); from triseek.ipc import spawn; spawn.{act}()"
    nothing = [
        (os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_RDWR, 0) for descriptor in range(3)
    ]
    try:
        # A session of its own: the agent ends its hooks by their process group.
        os.posix_spawn(
            sys.executable, [sys.executable, "-P", "-c", code], os.environ,
            file_actions=nothing, setsid=True,
        )  # fmt: skip
    except (OSError, NotImplementedError, ValueError):
        return  # it may be started by the next, or by a search


def may_be_tried() -> bool:
    """Whether nobody has forbidden it in the environment, or has tried a moment ago."""
    if any(map(os.environ.get, VETOES)) or not hasattr(os, "posix_spawn"):
        return False
    try:
        tried = os.stat(os.path.join(paths.daemon(), STAMP)).st_mtime
    except OSError:
        return True
    return abs(time.time() - tried) >= AGAIN_S
