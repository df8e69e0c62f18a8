"""End a process reliably, even if its threads are blocked.

At exit the interpreter waits for every thread of a pool, and a thread may be blocked on a file that
never answers. A process that has saved its state ends without that wait (`now`). From the moment it
is told to end, a watchdog thread of faulthandler limits how long saving may take (`within`): it
fires even while a thread holds the interpreter, and writes each thread's traceback to standard
error.
"""

from __future__ import annotations

import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

LIMIT_S = 4.5
"""Seconds from the order to end until the process is gone; less than the promised five."""


def within(seconds: float = LIMIT_S) -> None:
    """End this process with status 1 after `seconds`, unless it has ended by then."""
    import faulthandler

    # Standard error may be closed: then there is no time limit, only `now`.
    with contextlib.suppress(RuntimeError, ValueError, OSError, AttributeError):
        faulthandler.dump_traceback_later(seconds, exit=True)


def now(status: int) -> NoReturn:
    """End this process without waiting for its threads; its state must have been saved."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)
