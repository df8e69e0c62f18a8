"""The limits of watching."""

from __future__ import annotations

import os
import sys

import pytest

from triseek.agents.doctor.watching import Taken, enough, taken_by
from triseek.files.watch import inotify


@pytest.mark.parametrize(
    ("need", "allowed", "watches", "taken", "level", "mend"),
    [
        (100, 2_000, 8_192, 500, "ok", ""),
        (0, 2_000, 8_192, 500, "ok", ""),
        (3_000, 2_048, 8_192, 0, "warn", "sudo sysctl fs.inotify.max_user_watches=16384"),
        (
            3_000, 2_000, 65_536, 0, "warn",
            "export TRISEEK_WATCH_MAX_FOLDERS=4096; triseek daemon restart",
        ),
        (100, 2_000, 8_192, 8_192, "warn", "sudo sysctl fs.inotify.max_user_watches=16384"),
    ],
)  # fmt: skip
def test_limits_are_held_against_what_is_needed(need, allowed, watches, taken, level, mend):
    said = enough(need, allowed, watches, Taken(1, taken))

    assert (said.level, said.mend) == (level, mend)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
def test_watches_of_a_process_are_counted(tmp_path):
    def mine():
        return taken_by(iter([f"/proc/{os.getpid()}"]))

    before, instance = mine(), inotify.Inotify()
    (tmp_path / "a").mkdir()
    for folder in (tmp_path, tmp_path / "a"):
        instance.add(os.fsencode(folder))
    between = mine()
    instance.close()

    assert between == Taken(before.instances + 1, before.watches + 2)
    assert mine() == before


def test_processes_that_are_gone_count_for_nothing():
    assert taken_by(iter(["/proc/0", "/no/such/place"])) == Taken(0, 0)
