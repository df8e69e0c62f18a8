"""`make demo`: index this environment's site-packages and search them, for a newcomer to watch."""

from __future__ import annotations

import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

TREE = sysconfig.get_path("purelib")
TRISEEK = Path(sys.executable).with_name("triseek")
PATTERNS = ("def __array_function__", r"class \w+Backend\b", "raise NotImplementedError")
SHOWN = 5


def main() -> None:
    """Warm up, build, search, and say what happened; stops at the first failure."""
    say("Compiling the kernels: once per machine and version, some tens of seconds.")
    show("warmup")
    show("build", ".")
    for pattern in PATTERNS:
        show("--engine", "index", "-n", pattern, ".", lines=SHOWN)
    show("index-status", ".")
    say("Searched through the index. To see totals, road and time of one search:")
    show("--engine", "index", "--stats", "-q", PATTERNS[0], ".")


def show(*words: str, lines: int | None = None) -> None:
    """Run triseek in the tree and print what it says, or its first lines and how many there are."""
    say("", f"$ triseek {shlex.join(words)}")
    done = subprocess.run(
        [TRISEEK, *words],
        cwd=TREE,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
        check=True,
    )
    found = done.stdout.splitlines()
    say(*found[:lines])
    if lines is not None and len(found) > lines:
        say(f"… {len(found):,} lines in all")


def say(*lines: str) -> None:
    """Print at once, so that the order on the screen is the order of events."""
    for line in lines:
        print(line[:160], flush=True)


if __name__ == "__main__":
    main()
