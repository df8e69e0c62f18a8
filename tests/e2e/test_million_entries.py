"""A log of a million entries: nothing that is done every day takes longer for it.

`TRISEEK_LOG_ENTRIES` says how many the slow test writes; what it prints is recorded in
docs/benchmarks/sessions.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.entries_writer import payload
from tests.e2e.living import Living
from triseek.sessions.lifecycle import Sessions

ENTRIES_SLOW = int(os.environ.get("TRISEEK_LOG_ENTRIES", "1000000"))
FEW = 100_000
"""What a million is compared with: a snapshot takes the newest 8 MiB, which is less."""
PAGE = 64 << 10
NOTES = 500
RATIO_MAX = 3.0
"""Of a million to a few, on a machine that is shared; what grows with the log would have 10."""


@pytest.fixture
def root(tmp_path):
    """A repository whose files the log names, as far as it does not matter."""
    folder = tmp_path / "repo"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("needle\n")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder.resolve()


@contextlib.contextmanager
def bytes_read():
    """A list with what this process reads meanwhile, by the kernel's own count."""

    def count():
        return int(Path("/proc/self/io").read_text().split()[1])

    told = [0]
    before = count()
    yield told
    told[0] = count() - before


def test_a_long_log_is_not_read_whole(tmp_path):
    folder = tmp_path / "sessions"
    sessions = Sessions(folder)
    sessions.open("/repo", "", "long")
    for number in range(20_000):
        sessions.record("long", *payload(number))
    sessions.save()
    size = sessions.log("long").path.stat().st_size
    assert size > 4 << 20

    with bytes_read() as told:
        again = Sessions(folder)
        assert len(again.log("long")) == 20_001
        assert again.record("long", "read", {}) == 20_002
        newest = again.log("long").newest(PAGE)
        assert len(newest.lines) + newest.omitted == 20_002
    assert told[0] < 1 << 20

    # Killed before the index was written again: only what was appended since is read.
    for number in range(100):
        again.record("long", *payload(number))
    with bytes_read() as told:
        assert len(Sessions(folder).log("long")) == 20_102
    assert told[0] < 1 << 20
    # Without what the index says, it is counted, once.
    index = json.loads((folder / "sessions.json").read_text())
    for logs in ({}, {"long": [7, 123]}, {"long": [7, size * 2]}, {"long": "many"}, None):
        (folder / "sessions.json").write_text(json.dumps({**index, "logs": logs}))
        assert len(Sessions(folder).log("long")) == 20_102


class Figures:
    """What is told of one log."""

    def __init__(self, tmp_path, root, entries):
        self.home = tmp_path / f"state{entries}"
        with Living(self.home) as living:
            with living.aside(
                "tests.e2e.entries_writer", self.home / "daemon" / "sessions", root, str(entries)
            ) as writer:
                self.written = writer.said()
            began = time.perf_counter()
            living.start()
            self.start_s = time.perf_counter() - began
            living.ask("session_status", target_root=str(root))
            self.status_ms = self.median(living, 50, "session_status", target_root=str(root))
            note = {"kind": "read", "payload": {"path": str(root / "src" / "a.py")}}
            self.note_ms = self.median(
                living, NOTES, "session_note", target_root=str(root), notes=[note]
            )
            self.snapshot_ms = self.median(living, 5, "session_snapshot", target_root=str(root))
            self.rss_mb = living.rss_kb() / 1024
            told = living.ask("session_status", target_root=str(root))
            assert told["action_log_size"] == entries + 1 + NOTES
            self.page_ms = self.page(entries)
        print(f"\n{entries:,} entries: {vars(self)}")

    @staticmethod
    def median(living, times, verb, **params):
        taken = []
        for _ in range(times):
            began = time.perf_counter()
            living.ask(verb, **params)
            taken.append(time.perf_counter() - began)
        return statistics.median(taken) * 1e3

    def page(self, entries):
        """Milliseconds to the newest page, in a process that has just opened the log."""
        taken = []
        for _ in range(5):
            began = time.perf_counter()
            log = Sessions(self.home / "daemon" / "sessions").log("long")
            newest = log.newest(PAGE)
            taken.append(time.perf_counter() - began)
            assert len(newest.lines) + newest.omitted == entries + 1 + NOTES
        return statistics.median(taken) * 1e3


@pytest.mark.slow
def test_of_a_million_entries_none_is_slower_than_the_first(tmp_path, root):
    few = Figures(tmp_path, root, min(FEW, ENTRIES_SLOW // 10))
    many = Figures(tmp_path, root, ENTRIES_SLOW)

    written = many.written
    assert written["last_us"] < written["first_us"] * RATIO_MAX
    assert written["last_kb"] < written["first_kb"] + (16 << 10)
    for name in ("start_s", "status_ms", "note_ms", "snapshot_ms", "rss_mb", "page_ms"):
        assert getattr(many, name) < getattr(few, name) * RATIO_MAX, name
