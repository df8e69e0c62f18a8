"""kill -9 at random moments of opening, logging, snapshots and imports, in one process.

`TRISEEK_SESSION_KILLS` says how many moments the slow tests take, here and in
tests/e2e/test_session_daemon_kill.py.
"""

from __future__ import annotations

import collections
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.sessions import aftermath
from tests.sessions.snapshots import Kept
from triseek.sessions import pack
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.snapshot import Snapshots

KILLS, KILLS_SLOW = 6, int(os.environ.get("TRISEEK_SESSION_KILLS", "100"))
LIFE_S = 0.6
ROOT = Path(__file__).parents[2]


class Told:
    """Everything that was told of, by workers that are dead now."""

    def __init__(self):
        self.opened, self.closed = set(), set()
        self.entries = {}
        self.snapshots = {}
        self.kinds = collections.Counter()

    def take(self, lines):
        for line in lines:
            what, *words = line.split()
            self.kinds[what] += 1
            match what, words:
                case "open", [name]:
                    assert name not in self.opened
                    self.opened.add(name)
                case "close", [name]:
                    self.closed.add(name)
                case "entry", [number, name, token]:
                    assert int(number) not in self.entries, "a number was given twice"
                    self.entries[int(number)] = (name, token)
                case "snapshot", [name, entries]:
                    assert name not in self.snapshots
                    self.snapshots[name] = int(entries)


def lived(folder, seed, seconds):
    """What a worker told in its life."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.sessions.crash_worker", str(folder), seed],
        cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    lines = [worker.stdout.readline()]
    reader = threading.Thread(target=lambda: lines.extend(worker.stdout))
    reader.start()
    time.sleep(seconds)
    assert worker.poll() is None, "it has ended by itself"
    worker.kill()
    worker.wait()
    reader.join()
    worker.stdout.close()
    return [line.decode() for line in lines if line.endswith(b"\n")]


def killed(folder, kills):
    kept = Kept(folder / "given")
    kept.sessions.record("mine", "read", {})
    pack.export(kept.create()[1], folder / "given.tcp")
    (folder / "repo" / "src").mkdir(parents=True)
    (folder / "repo" / "src" / "a.py").write_text("one\ntwo\nthree\n")
    chance, told, torn, left = random.Random(7), Told(), 0, 0
    for number in range(kills):
        told.take(lived(folder, str(number), chance.uniform(0, LIFE_S)))
        torn += checked(folder, told)
        left += bool(aftermath.partial(folder))
    print(f"\n{kills} kills: {dict(told.kinds)}; {torn} torn entries, {left} left something half")
    assert min(told.kinds[kind] for kind in ("open", "entry", "snapshot")) > kills // 4
    goes_on(folder, told)


def checked(folder, told):
    """Nothing that was told of is lost; at most one entry is torn."""
    found = aftermath.logs(folder / "sessions")
    aftermath.no_number_twice(found)
    there = {
        entry.entry_id: (name, entry.payload.get("token"))
        for name, log in found.items()
        for entry in log.entries
    }
    assert told.entries.items() <= there.items()
    torn = sum(log.torn for log in found.values())
    # Of older ones nothing is torn: whoever appends mends first, or the log is never used again.
    assert torn <= len(found)

    sessions = Sessions(folder / "sessions")
    for name in told.opened:
        status = sessions.get(name).status
        assert status == "resolved" if name in told.closed else status in ("open", "resolved")
        assert len(sessions.log(name)) == len(found[name].entries)
    snapshots = aftermath.whole_snapshots(folder / "snapshots")
    for name, entries in told.snapshots.items():
        assert len(snapshots[name].entries) == entries
    assert len(aftermath.partial(folder)) <= 2
    aftermath.aged(folder / "snapshots")
    return torn


def goes_on(folder, told):
    """Afterwards everything works, and what was half is gone."""
    sessions = Sessions(folder / "sessions")
    number = sessions.record(next(iter(told.opened)), "read", {})
    assert number > max(told.entries)
    sessions.save()
    aftermath.aged(folder / "snapshots")
    manifest = Snapshots(folder / "snapshots").take_in(pack.unpack(folder / "given.tcp"))
    assert manifest.snapshot_id in aftermath.whole_snapshots(folder / "snapshots")
    assert aftermath.partial(folder) == []


def test_a_killed_process_loses_nothing_it_told_of(tmp_path):
    killed(tmp_path, KILLS)


@pytest.mark.slow
def test_a_hundred_kills_lose_nothing(tmp_path):
    killed(tmp_path, KILLS_SLOW)
