"""How many processes and threads a box has, as the kernel says."""

from __future__ import annotations

import os

MAX_TASKS = 256
"""A box that has more is ended: a machine has few thousand for all its users."""


def are_too_many(pid: int) -> bool:
    """Whether the processes below `pid` have more than `MAX_TASKS` threads in all.

    False where the kernel does not list the children of a process.
    """
    total, queue = 0, [pid]
    while queue and total <= MAX_TASKS:
        process = queue.pop()
        try:
            # One entry a thread, and two of every folder. Listing them takes far longer.
            count = os.stat(f"/proc/{process}/task").st_nlink - 2
            total += count if process != pid else 0
            queue += _children(process, count)
        except OSError:
            continue
    return total > MAX_TASKS


def _children(process: int, threads: int) -> list[int]:
    """Return the processes that the threads of a process have started."""
    if threads > MAX_TASKS:
        return []
    children: list[int] = []
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/children", "rb") as file:
            children += map(int, file.read(1 << 16).split())
    return children
