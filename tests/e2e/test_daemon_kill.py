"""kill -9 of the daemon at random moments under load: clients answer, and the next one restarts it.

`TRISEEK_KILLS` says how many moments the slow test takes.
"""

from __future__ import annotations

import json
import os
import random
import time
import tomllib
from pathlib import Path

import pytest

from tests.e2e.living import Living
from tests.e2e.load import Load
from tests.e2e.test_crash import leftovers
from triseek.files.tree.root import key
from triseek.store import lock

pytestmark = pytest.mark.long

KILLS = 3
KILLS_SLOW = int(os.environ.get("TRISEEK_KILLS", "50"))
LIFE_S = 2.5
"""The longest a daemon is let live: it listens after a half, is warm after one or two."""
SETTINGS = '[daemon]\nidle_exit_s = 600.0\n[log]\nlevel = "debug"\n'


@pytest.fixture
def living(tmp_path):
    with Living(tmp_path / "state") as living:
        yield living


class Killer:
    """Kills one daemon after the other, as soon as or a while after it holds the lock."""

    def __init__(self, living, kills, seed):
        self.living, self.kills = living, kills
        self.chance = random.Random(seed)
        self.killed, self.came_back = [], []

    def run(self):
        while len(self.killed) < self.kills:
            pid, waited = self._next()
            self.came_back.append(waited)
            # Every third as early as can be: half-started is a state of its own.
            time.sleep(self.chance.uniform(0, 0.3 if len(self.killed) % 3 == 0 else LIFE_S))
            if self.living.kill():
                self.killed.append(pid)

    def _next(self):
        """A daemon that clients have started, and how long that took."""
        began = time.monotonic()
        while time.monotonic() < began + 120:
            self.living.let_start_again()
            pid = self.living.holder()
            if pid and pid not in self.killed and os.path.exists(f"/proc/{pid}"):
                return pid, time.monotonic() - began
            time.sleep(0.02)
        raise AssertionError("no client has started a daemon")


def under_load(living, folder, kills, files, clients):
    Path(living.home).mkdir()
    config = Path(living.home) / "config.toml"
    config.write_text(SETTINGS)
    load = Load(living, folder, files, pause=0.05)
    killer = Killer(living, kills, seed=5)
    endless = 1_000_000
    with (
        load.editing(),
        load.clients(
            4, threads=clients // 4, requests=endless, by_process=0.1, falls_back=True
        ) as wait,
    ):  # the first client finds no daemon, and starts one
        killer.run()
        load.stop_asking()
        told = wait()
    back = sorted(killer.came_back)
    print(
        f"\n{len(killer.killed)} kills; {told}; {load.deeds} deeds, {load.written}; "
        f"back after p50 {back[len(back) // 2]:.2f} max {back[-1]:.2f} s"
    )
    assert told.errors == []
    assert told.wrong == [], told.wrong[:3]
    assert told.checked_edits > kills
    assert told.fell_back > 0
    assert config.read_text() == SETTINGS
    return load


def nothing_is_lost(living, load):
    """Locks free, everything sound, and a daemon of its own accord after the last kill."""
    living.let_start_again()
    assert living.run("-l", "token_of_file_0001", cwd=load.root).out == b"dir01/file0001.txt\n"
    living.wait_listening()
    living.wait_watched(load.root)
    living.run("daemon", "stop")
    index = Path(living.home) / "indexes" / key(os.fsencode(load.root))
    with lock.writer(index):
        pass
    assert living.run("update", cwd=load.root).status == 0
    assert living.run("check", cwd=load.root).status == 0
    assert [name for name in leftovers(index) if name not in remembered(index)] == []
    tomllib.loads((Path(living.home) / "config.toml").read_text())
    assert "daemon ending" in [line["event"] for line in living.log()[-5:]]


def remembered(index):
    """Files of the memory of change times, as its list has them."""
    if not (index / "retimed.json").exists():
        return set()
    body, _, _ = (index / "retimed.json").read_bytes().partition(b"\n")
    return {"retimed.json", *(entry["file"] for entry in json.loads(body).values())}


def test_after_kills_clients_answer_and_the_next_one_starts_a_daemon(living, tmp_path):
    load = under_load(living, tmp_path, KILLS, 300, clients=8)
    nothing_is_lost(living, load)


@pytest.mark.slow
def test_after_fifty_kills_nothing_is_lost_or_half_written(living, tmp_path):
    load = under_load(living, tmp_path, KILLS_SLOW, 1_500, clients=16)
    nothing_is_lost(living, load)
