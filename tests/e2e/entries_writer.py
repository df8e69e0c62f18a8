"""Writes entries into a session's log, in a process of its own: `folder root count`.

Prints how long one took at the beginning and at the end, and what the process took of memory.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from triseek.sessions.lifecycle import Sessions

SHARE = 10_000
"""Entries that are timed at the beginning and at the end."""


def payload(number: int) -> tuple[str, dict[str, Any]]:
    """As hooks and tools have them: reads for the most part, some edits and searches."""
    path = f"src/package{number % 97}/module_{number % 4001}.py"
    if number % 5 == 0:
        return "search", {
            "tool": "search_content", "arguments": {"query": f"name_{number % 900}", "limit": 20},
            "result_paths": [path, f"tests/test_{number % 300}.py"], "total_line_matches": 2,
            "search_id": f"search-{number}", "harness": "claude_code",
        }  # fmt: skip
    told = {"path": path, "sha": f"{number % 5000:064x}", "line_start": 1, "line_end": 80}
    return ("edit" if number % 11 == 0 else "read"), {**told, "harness": "claude_code"}


def rss_kb() -> int:
    """What this process holds now."""
    return int(Path("/proc/self/status").read_text().partition("VmRSS:")[2].split()[0])


def main(folder: str, root: str, count: int) -> dict[str, float]:
    """Write them."""
    sessions = Sessions(folder)
    sessions.open(root, "a long one", "long")
    taken: dict[str, list[float]] = {"first": [], "last": []}
    memory = 0
    for number in range(count):
        kind, told = payload(number)
        began = time.perf_counter()
        sessions.record("long", kind, told)
        seconds = time.perf_counter() - began
        if number < SHARE:
            taken["first"].append(seconds)
        elif number >= count - SHARE:
            taken["last"].append(seconds)
        if number == SHARE:
            memory = rss_kb()
    sessions.save()
    return {
        "first_us": statistics.median(taken["first"]) * 1e6,
        "last_us": statistics.median(taken["last"] or taken["first"]) * 1e6,
        "first_kb": memory,
        "last_kb": rss_kb(),
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
