"""The open descriptors of this process, for tests that none is left open."""

from __future__ import annotations

import os
from contextlib import suppress


def opened() -> set[tuple[str, str]]:
    """Number and target of each open descriptor; empty where the system does not list them.

    Compare them as sets: what earlier tests left to the garbage collector may
    be closed in between, so a count can fall.
    """
    descriptors = set()
    with suppress(FileNotFoundError):
        for number in os.listdir("/proc/self/fd"):
            with suppress(FileNotFoundError):  # the descriptor that listed the folder
                descriptors.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return descriptors
