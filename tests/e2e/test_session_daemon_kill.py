"""kill -9 of the daemon at random moments, while clients open, note, snapshot and import.

`TRISEEK_SESSION_KILLS` says how many moments the slow test takes.
"""

from __future__ import annotations

import collections
import json
import os
import random
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.e2e.living import RUN, Living
from tests.sessions import aftermath
from tests.sessions.snapshots import Kept
from triseek.errors import DaemonUnreachable, TriseekError
from triseek.ipc import client
from triseek.sessions import pack

pytestmark = pytest.mark.long

KILLS, KILLS_SLOW = 2, int(os.environ.get("TRISEEK_SESSION_KILLS", "100"))
LIFE_S = 1.5
WITHIN_S = 120.0


@pytest.fixture
def living(tmp_path, monkeypatch):
    with Living(tmp_path / "state") as living:
        monkeypatch.setenv("TRISEEK_HOME", living.home)  # for every thread of this process
        yield living


class Clients:
    """Threads that use the daemon all the time; what it acknowledged is remembered."""

    def __init__(self, root, given):
        self.root, self.given = str(root), given
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.notes = collections.defaultdict(list)
        self.opened, self.snapshots, self.imported = [], [], []
        self.wrong, self.unreachable = [], 0
        self.count = 0

    def __enter__(self):
        works = [self.note, self.note, self.open, self.snapshot, self.take_in]
        self.threads = [threading.Thread(target=self.run, args=(work,)) for work in works]
        client.ask("session_open", {"target_root": self.root, "session_id": "mine"}, 30)
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(WITHIN_S)
            assert not thread.is_alive()

    def run(self, work):
        while not self.over.is_set():
            try:
                work(self.number())
            except (DaemonUnreachable, OSError):
                self.unreachable += 1
                time.sleep(0.02)
            except TriseekError as error:
                self.wrong.append(f"{work.__name__}: {error}")
            except Exception as error:  # a thread must not die unseen
                self.wrong.append(f"{work.__name__}: {error!r}")
                raise

    def number(self):
        with self.lock:
            self.count += 1
            return self.count

    def note(self, number):
        """Two notes at once: acknowledged are both, in this order."""
        who = threading.current_thread().name
        notes = [{"kind": "note", "payload": {"who": who, "n": number * 2 + k}} for k in (0, 1)]
        told = client.ask(
            "session_note", {"target_root": self.root, "session_id": "mine", "notes": notes}, 30
        )
        assert told == {"recorded": 2}, told
        self.notes[who] += [number * 2, number * 2 + 1]

    def open(self, number):
        """In folders of their own: the session of the repository stays the current one."""
        root = os.path.join(self.root, "..", "others", str(number % 7))
        os.makedirs(root, exist_ok=True)
        name = f"s{number}"
        client.ask("session_open", {"target_root": root, "session_id": name}, 30)
        self.opened.append(name)
        time.sleep(0.05)

    def snapshot(self, number):
        told = client.ask("session_snapshot", {"target_root": self.root, "session_id": "mine"}, 30)
        self.snapshots.append(told["snapshot_id"])
        time.sleep(0.3)  # each is of up to 4 MiB, and all are read at the end

    def take_in(self, number):
        """By the command, which is killed now and then as well."""
        process = subprocess.Popen(
            [*RUN, "pack", "import", "--json", self.given],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if number % 3 == 0:
            time.sleep(random.Random(number).uniform(0.2, 1.0))
            process.kill()
        out, _ = process.communicate(timeout=WITHIN_S)
        if process.returncode == 0:
            self.imported.append(json.loads(out)["snapshot_id"])


def under_load(living, tmp_path, kills):
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("needle\n")
    kept = Kept(tmp_path / "given")
    pack.export(kept.create()[1], tmp_path / "given.tcp")
    subprocess.run(["git", "init", "-q", root], check=True)
    living.start()
    chance, back = random.Random(9), []
    with Clients(root.resolve(), tmp_path / "given.tcp") as clients:
        for _ in range(kills):
            time.sleep(chance.uniform(0, LIFE_S))
            assert living.kill()
            began = time.monotonic()
            living.let_start_again()
            living.start()
            back.append(time.monotonic() - began)
            sound(living, clients)
        time.sleep(0.5)
    print(
        f"\n{kills} kills: {sum(map(len, clients.notes.values()))} notes, {len(clients.opened)} "
        f"sessions, {len(clients.snapshots)} snapshots, {len(clients.imported)} imports were "
        f"acknowledged, {clients.unreachable} requests not; back after {max(back):.1f} s at most"
    )
    assert clients.wrong == [], clients.wrong[:5]
    for done in (clients.opened, clients.snapshots, clients.imported, *clients.notes.values()):
        assert len(done) >= max(1, kills // 20)
    return clients


def sound(living, clients):
    """The daemon that was started tells of everything that was acknowledged before."""
    opened, snapshots = list(clients.opened), list(clients.snapshots)
    for name in ("mine", *opened[-5:]):
        told = living.ask("session_status", target_root=clients.root, session_id=name)
        assert told["session"]["session_id"] == name
    for name in snapshots[-1:]:
        assert living.ask("session_snapshot_get", snapshot_id=name)["snapshot"]["action_log"]


def nothing_is_lost(living, clients):
    """At the end, by the files: every entry once and in each sender's order."""
    home = Path(living.home) / "daemon"
    assert living.run("daemon", "stop").status == 0
    logs = aftermath.logs(home / "sessions")
    count = aftermath.no_number_twice(logs)
    assert not any(log.torn for log in logs.values())
    assert set(clients.opened) < set(logs)
    kept = collections.defaultdict(list)
    for entry in logs["mine"].entries:
        if entry.kind == "note":
            kept[entry.payload["who"]].append(entry.payload["n"])
    for who, told in clients.notes.items():
        assert kept[who] == sorted(set(kept[who])), "twice, or out of order"
        assert set(told) <= set(kept[who])
    snapshots = aftermath.whole_snapshots(home / "snapshots")
    assert {*clients.snapshots, *clients.imported} <= set(snapshots)

    # Whoever builds next removes what was half built.
    aftermath.aged(home / "snapshots")
    living.start()
    assert living.run("pack", "import", clients.given).status == 0
    living.run("daemon", "stop")
    assert aftermath.partial(home / "snapshots") == []
    assert aftermath.partial(home / "sessions") == []
    print(f"{count} entries, {len(logs)} sessions, {len(snapshots)} snapshots")


def test_a_killed_daemon_loses_nothing_it_acknowledged(living, tmp_path):
    clients = under_load(living, tmp_path, KILLS)
    nothing_is_lost(living, clients)


@pytest.mark.slow
def test_a_hundred_killed_daemons_lose_nothing(living, tmp_path):
    clients = under_load(living, tmp_path, KILLS_SLOW)
    nothing_is_lost(living, clients)
