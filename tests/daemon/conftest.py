"""Daemons as processes, none of which outlives its test."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import command
from tests.left_behind import end_daemons_of
from triseek.ipc import address, lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _nobody_is_left_behind(home) -> Iterator[None]:
    """End the daemon of this test's home, whatever the test did to it."""
    yield
    end_daemons_of(os.environ.get("TRISEEK_HOME", str(home)))
    end_daemons_of(str(home))
    assert lock.wait_until_free(10), "a daemon has outlived its test"


@pytest.fixture
def daemon(home) -> Callable[..., int]:
    """Start a daemon by the command; its pid, 0 if it has ended again."""

    def start(*words: str) -> int:
        done = command(["daemon", "start", *words], Path("/"))
        assert done.status == 0, done.err
        return address.record().get("pid", 0)

    return start


@pytest.fixture
def in_front(home) -> Iterator[Callable[..., subprocess.Popen]]:
    """Run a Python program with this package in reach; ended with the test."""
    running: list[subprocess.Popen] = []

    def run(*words: str, **more) -> subprocess.Popen:
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        running.append(subprocess.Popen([sys.executable, *words], env=environ, **more))
        return running[-1]

    yield run
    for child in running:
        child.kill()
        child.communicate()


def eventually(condition: Callable[[], object], within_s: float = 10.0) -> bool:
    """Whether something becomes true within a while."""
    until = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
