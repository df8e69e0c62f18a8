"""Ends the daemons of a test: those that run, and those that were on their way when it ended."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path


def daemons_of(home: str) -> list[int]:
    """Processes that are, or are becoming, daemons of a state folder."""
    mark = os.fsencode(f"TRISEEK_HOME={home}") + b"\0"
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words, environ = (process / "cmdline", process / "environ")
            if b"\0daemon\0run\0" in words.read_bytes() and mark in environ.read_bytes():
                found.append(int(process.name))
    return found


def end_daemons_of(home: str, within_s: float = 20.0) -> None:
    """Kill them until there are none: who is killed makes room for the next."""
    until = time.monotonic() + within_s
    while running := daemons_of(home):
        assert time.monotonic() < until, "a daemon has outlived its test"
        for pid in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
