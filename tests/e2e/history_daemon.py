"""A daemon that looks for new transcripts every fraction of a second, instead of ten."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.e2e.serving import environ, triseek, until
from tests.left_behind import end_daemons_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLLOW_S = 0.1
_PROGRAM = (
    "import sys; from triseek.daemon import services; services.FOLLOW_S = {follow_s}; "
    "from triseek.cli import command_tree, compose, main; sys.stdin.readline(); "
    "sys.exit(main.run(['daemon', 'run']))"
)


def prepare(state: Path, person: Path, follow_s: float = FOLLOW_S) -> subprocess.Popen[bytes]:
    """Start a process that imports what a daemon needs, and becomes one when `start` has it."""
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(follow_s=follow_s), "daemon", "run"],
        env={**os.environ, **environ(state), "HOME": str(person)},
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def start(
    state: Path,
    person: Path,
    follow_s: float = FOLLOW_S,
    *,
    prepared: subprocess.Popen[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start one for a state folder and a person's home, and wait until it listens."""
    process = prepared or prepare(state, person, follow_s)
    assert process.stdin is not None
    process.stdin.close()

    def listens() -> bool:
        assert process.poll() is None, "the daemon has ended"
        with contextlib.suppress(OSError, ValueError):
            return json.loads((state / "daemon" / "daemon.json").read_text())["pid"] == process.pid
        return False

    until(listens)
    return process


@contextlib.contextmanager
def following(state: Path, person: Path, follow_s: float = FOLLOW_S) -> Iterator[None]:
    """A daemon that runs until the block ends."""
    process = start(state, person, follow_s)
    try:
        yield
        triseek(state, "daemon", "stop")
    finally:
        process.kill()
        process.wait()
        end_daemons_of(str(state))
