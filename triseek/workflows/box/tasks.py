"""How many processes and threads a box has, as the kernel says."""

from __future__ import annotations

from pathlib import Path

MAX_TASKS = 256
"""A box that has more is ended: a machine has few thousand for all its users."""


def are_too_many(pid: int) -> bool:
    """Whether the processes below `pid` have more than `MAX_TASKS` threads in all.

    False where the kernel does not list the children of a process.
    """
    total, queue = 0, [pid]
    while queue and total <= MAX_TASKS:
        process = queue.pop()
        threads = Path(f"/proc/{process}/task")
        try:
            # One link for each thread, and two of every folder. Listing them takes far longer.
            count = threads.stat().st_nlink - 2
            total += count if process != pid else 0
            if count <= MAX_TASKS:
                queue += _children(threads)
        except OSError:
            continue
    return total > MAX_TASKS


def _children(threads: Path) -> list[int]:
    """Return the processes that the threads of a process have started."""
    listed = ((thread / "children").read_bytes() for thread in threads.iterdir())
    return [int(child) for line in listed for child in line.split()]
