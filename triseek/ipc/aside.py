"""Start a daemon from a helper process, for a caller that is about to end and must stay light.

`ipc.spawn` starts a daemon and decides when not to; importing it takes longer than an agent's hook
may take. So a hook starts an interpreter that does it, and does not wait. This module first checks
cheaply whether a start is ruled out.
"""

from __future__ import annotations

import os
import sys
import time

from triseek import paths

STAMP = "starting"
"""A file in the daemon's folder; its modification time is that of the last attempt."""
AGAIN_S = 10.0
"""Minimum seconds between attempts, by whichever process."""
VETOES = ("TRISEEK_NO_DAEMON", "CI")
"""Environment variables that forbid starting a daemon."""


def behind(act: str = "behind") -> None:
    """Run `spawn.behind`, or another function of `spawn`, in a separate process. Never raises."""
    if not may_be_tried():
        return
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    code = f"import sys; sys.path.append({package!r}); from triseek.ipc import spawn; spawn.{act}()"
    file_actions = [
        (os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_RDWR, 0) for descriptor in range(3)
    ]
    try:
        # A new session: the agent kills its hooks by process group.
        os.posix_spawn(
            sys.executable, [sys.executable, "-P", "-c", code], os.environ,
            file_actions=file_actions, setsid=True,
        )  # fmt: skip
    except (OSError, NotImplementedError, ValueError):
        return  # the next hook, or a search, may start one


def may_be_tried() -> bool:
    """Return whether a start is possible, not forbidden, and not tried within `AGAIN_S`."""
    if any(map(os.environ.get, VETOES)) or not hasattr(os, "posix_spawn"):
        return False
    try:
        tried_at = os.stat(os.path.join(paths.daemon(), STAMP)).st_mtime
    except OSError:
        return True
    return abs(time.time() - tried_at) >= AGAIN_S
