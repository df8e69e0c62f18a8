"""`make demo`: index this environment's site-packages and search them, for a newcomer to watch."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from triseek.ipc import client

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
    say("Searched through the index. To see totals, backend and time of one search:")
    show("--engine", "index", "--stats", "-q", PATTERNS[0], ".")
    edit_and_search()


def edit_and_search() -> None:
    """The daemon watches the folder: the next search sees an edit, and pays milliseconds."""
    say("", "Now with the daemon, which watches the folder, an edit and a search:")
    show("daemon", "start", ".")
    edited = Path(TREE) / "triseek_demo_edit.py"
    try:
        wait_until_watched()
        edited.write_text("written = 'a_moment_ago_by_the_demo'\n", encoding="utf-8")
        began = time.perf_counter()
        show("-n", "a_moment_ago_by_the_demo", ".")
        say(f"({(time.perf_counter() - began) * 1e3:.0f} ms, the interpreter's start included)")
    finally:
        edited.unlink(missing_ok=True)
        show("daemon", "stop")


def wait_until_watched(seconds: float = 60.0) -> None:
    """Until answers are known to be fresh from the file system's events."""
    until = time.monotonic() + seconds
    params = {"target_root": os.path.realpath(TREE)}
    while client.ask("sync", params)["freshness"] != "synced" and time.monotonic() < until:
        time.sleep(0.1)


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
