"""Clients that are killed at random moments hold no thread, connection or descriptor of the daemon.

Nor do connections that say nothing, or half of a frame. `TRISEEK_CLIENTS` says how many clients the
slow test takes.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.living import ROOT, Living
from triseek.errors import DaemonUnreachable
from triseek.ipc import address, client

pytestmark = pytest.mark.long

CLIENTS = 60
CLIENTS_SLOW = int(os.environ.get("TRISEEK_CLIENTS", "1000"))
CONNECTIONS = 10_000
OPEN_AT_ONCE = 200
AT_ONCE = 12
LIFE_S = 0.4
"""The longest a client is let live: it has asked after some hundredths, its search takes longer."""
SETTLED_S = 90.0
"""Generous: work nobody waits for ends with the next look at the client, in hundredths."""
ASK = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); from triseek.cli import fast; "
    "fast.ask(sys.argv[1:])"
)
LINE = "the quick brown fox jumps over the lazy dog and naïve cats jump over 文字 again\n"
QUESTIONS = (
    ("fox",),
    ("-c", "fox"),
    ("-i", "--engine=scan", r"(\w+\s+){6}zebra"),
    ("-U", "--engine=scan", r"(\w+\s+)+\n\n"),
    ("-v", "--engine=scan", r"\b\w*\b" * 60),
    ("--engine=scan", "-o", r"\p{L}+"),
    ("-l", "nothing of the kind"),
    ("--files",),
)


@pytest.fixture
def living(tmp_path):
    with Living(tmp_path / "state") as living:
        yield living.start()


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for number in range(40):
        path = root / f"d{number % 5}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LINE * 2_000)
    return root


def held(pid: int) -> dict[str, int]:
    """What the daemon's process holds."""
    folder = Path(f"/proc/{pid}")
    return {
        "threads": len(list((folder / "task").iterdir())),
        "descriptors": len(list((folder / "fd").iterdir())),
    }


def started(living: Living, tree: Path, words: tuple[str, ...]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", ASK, *words],
        cwd=tree,
        env=living.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_clients(living: Living, tree: Path, count: int) -> None:
    """Have so many clients ask, and kill each at some moment."""
    chance = random.Random(16)
    for _ in range(0, count, AT_ONCE):
        some = [started(living, tree, chance.choice(QUESTIONS)) for _ in range(AT_ONCE)]
        for one in some:
            time.sleep(chance.uniform(0, LIFE_S / AT_ONCE))  # this is the moment
            one.kill()
        for one in some:
            one.wait()


def quiet(living: Living) -> dict[str, object]:
    """Return the daemon's status once it works for nobody else: the request is one connection.

    A single request may still find the connection of the one before it, which is being closed.
    """
    until = time.monotonic() + SETTLED_S
    status: dict[str, object] = {}
    while time.monotonic() < until:
        # On a busy machine its backlog may still be full of connections that are gone.
        with contextlib.suppress(DaemonUnreachable):
            status = client.ask("status", timeout_s=60)
            if status["connections"] == 1:
                return status
        time.sleep(0.05)
    raise AssertionError(f"not quiet after {SETTLED_S} s: {status}")


def settled(living: Living, wanted: dict[str, int]) -> dict[str, int]:
    """What the daemon holds once that is no more than wanted, or after a long while."""
    until = time.monotonic() + SETTLED_S
    while True:
        now = held(living.pid())
        if all(now[name] <= wanted[name] for name in wanted) or time.monotonic() > until:
            return now
        time.sleep(0.05)


def no_thread_is_held(living: Living, tree: Path, monkeypatch, count: int) -> None:
    monkeypatch.setenv("TRISEEK_HOME", living.home)
    assert living.run("build", ".", cwd=tree).status == 0
    assert living.run("fox", "-l", cwd=tree).status == 0
    kill_clients(living, tree, 4 * AT_ONCE)  # pools have as many threads as they will ever have
    quiet(living)
    before = held(living.pid())
    kill_clients(living, tree, count)
    quiet(living)
    after = settled(living, before)
    status = quiet(living)
    print(f"{count} clients killed: {before} before, {after} after, {status['connections']} open")
    assert all(after[name] <= before[name] for name in before), (before, after)
    assert status["under_way"] <= 1
    assert living.files("fox", tree) == living.files("lazy", tree)


def test_killed_clients_hold_no_thread(living, tree, monkeypatch):
    no_thread_is_held(living, tree, monkeypatch, CLIENTS)


@pytest.mark.slow
def test_a_thousand_killed_clients_hold_no_thread(living, tree, monkeypatch):
    no_thread_is_held(living, tree, monkeypatch, CLIENTS_SLOW)


def connect_often(count: int) -> None:
    """Open and close this many connections; most send nothing, some half of a frame."""
    chance = random.Random(10)
    for _ in range(0, count, OPEN_AT_ONCE):
        some = []
        for _ in range(OPEN_AT_ONCE):
            with contextlib.suppress(address.Stuck, OSError):
                some.append(address.connect(60))
        for each in some:
            with contextlib.suppress(OSError):  # the daemon has hung up
                each.sendall(chance.choice((b"", b"", b"\0", b"\0\0\0\x40{", b"\xff" * 9)))
        for each in some:
            each.close()


@pytest.mark.slow
def test_ten_thousand_connections_hold_nothing(living, tree, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", living.home)
    assert living.run("build", ".", cwd=tree).status == 0
    found = living.files("fox", tree)
    connect_often(2 * OPEN_AT_ONCE)
    quiet(living)
    before = held(living.pid())

    connect_often(CONNECTIONS)

    quiet(living)
    after = settled(living, before)
    print(f"{CONNECTIONS} connections: {before} before, {after} after")
    assert all(after[name] <= before[name] for name in before), (before, after)
    assert living.files("fox", tree) == found
