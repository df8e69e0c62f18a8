"""A daemon of its own for tests that need one as a process."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from tests.e2e.agents import PACKAGE
from tests.left_behind import end_daemons_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WITHIN_S = 60.0


def environ(home: str | Path) -> dict[str, str]:
    """What a process of this state folder is given; nothing starts a daemon by itself."""
    return {
        "TRISEEK_HOME": str(home), "HOME": str(home), "PYTHONPATH": str(PACKAGE),
        "TRISEEK_NO_DAEMON": "1",
    }  # fmt: skip


def triseek(home: str | Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command; it has to succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "triseek", *words],
        env={**os.environ, **environ(home)}, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


@contextlib.contextmanager
def daemon(home: str | Path) -> Iterator[None]:
    """A running daemon of this state folder; none is left behind."""
    try:
        triseek(home, "daemon", "start")
        yield
    finally:
        end_daemons_of(str(home))


def until(wanted: Callable[[], Any], within_s: float = WITHIN_S) -> Any:
    """What becomes true within a while."""
    deadline = time.monotonic() + within_s
    while not (found := wanted()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def ready(agent: Any) -> None:
    """Wait until a server's searches are the index's, and follow events."""

    def is_ready() -> bool:
        told = agent.call("search_content", query="no such text anywhere", meta={})
        return told["strategy"] == "triseek_indexed" and told.get("freshness", "synced") == "synced"

    until(is_ready)
