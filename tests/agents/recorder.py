"""A hook that keeps what it is told: `python recorder.py FOLDER EVENT`. Standard library only."""

from __future__ import annotations

import os
import sys
import time


def main() -> None:
    """Write standard input to a file of its own, aside and renamed, named by the time."""
    _, folder, event = sys.argv
    payload = sys.stdin.buffer.read()
    name = os.path.join(folder, f"{time.time_ns():020}-{os.getpid()}-{event}.json")
    with open(name + ".new", "xb") as file:
        file.write(payload)
    os.rename(name + ".new", name)


if __name__ == "__main__":
    main()
