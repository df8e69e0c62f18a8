"""End a process for certain, whatever its threads do.

An interpreter that ends waits for every thread of a pool, and a thread may be held by a file that
never answers. A process that has saved its state ends without that wait (`now`). From the moment it
is told to end, a timer of the C library's limits how long saving may take (`within`): it fires even
while a thread holds the interpreter, and writes to standard error what each thread was doing.
"""

from __future__ import annotations

import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

LIMIT_S = 4.5
"""Seconds from being told to end until the process is gone: less than the five it promises."""


def within(seconds: float = LIMIT_S) -> None:
    """End this process with status 1 after so many seconds, unless it has ended by then."""
    import faulthandler

    # Standard error may be closed: then nothing is said of the threads, and `now` has to do.
    with contextlib.suppress(RuntimeError, ValueError, OSError, AttributeError):
        faulthandler.dump_traceback_later(seconds, exit=True)


def now(status: int) -> NoReturn:
    """End this process without a wait for its threads; its state has to be saved."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)
