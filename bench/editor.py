"""Somebody who edits one file: a process of its own, as the daemon's neighbours are.

    python -m bench.editor FILE

Each line of standard input is a text; it is appended to what the file held at first, and a line
comes back once that has been written: every other time in place, and aside and renamed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Edit until standard input ends, then put the file back as it was."""
    path = Path(sys.argv[1])
    before = path.read_bytes()
    for turn, text in enumerate(sys.stdin):
        write(path, before + b"\n" + text.encode(), aside=bool(turn % 2))
        print("written", flush=True)
    write(path, before, aside=False)


def write(path: Path, content: bytes, *, aside: bool) -> None:
    """Rewrite a file in place, or as most editors do."""
    if not aside:
        path.write_bytes(content)
        return
    beside = path.with_name(path.name + ".triseek-bench")
    beside.write_bytes(content)
    os.replace(beside, path)


if __name__ == "__main__":
    main()
