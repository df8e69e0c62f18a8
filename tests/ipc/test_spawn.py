"""A daemon that starts by itself: when it may not, and not again and again."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from triseek import errors, paths
from triseek.ipc import address, client, lock, spawn

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _may_start(home, monkeypatch):
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    monkeypatch.delenv("CI", raising=False)
    yield
    with contextlib.suppress(errors.DaemonUnreachable):
        client.ask("shutdown")
    assert lock.wait_until_free(10)


def test_a_daemon_is_started_behind_and_found():
    assert spawn.behind()
    assert spawn.wait_until_ready(30)
    assert client.ask("ping")["pid"] == address.record()["pid"]


@pytest.mark.parametrize("name", ["TRISEEK_NO_DAEMON", "CI"])
def test_the_environment_can_forbid_it(name, monkeypatch):
    monkeypatch.setenv(name, "true")

    assert spawn.veto() == f"{name} is set"
    assert not spawn.behind()
    assert not spawn.replace()
    assert not os.path.exists(paths.daemon())


@pytest.mark.parametrize("content", ["[daemon]\nautostart = false\n", "what?", "[daemon]\nx=1\n"])
def test_the_settings_can_forbid_it_and_broken_ones_do(content, home):
    (home / "config.toml").write_text(content)

    assert spawn.veto()
    assert not spawn.behind()
    assert not os.path.exists(paths.daemon())


def test_a_daemon_that_dies_at_its_start_is_not_tried_again_at_once(home, monkeypatch):
    (home / "daemon").mkdir(0o700)
    (home / "daemon" / "daemon.log").mkdir()

    assert spawn.behind()
    assert not spawn.wait_until_ready(30, spawn._children[-1])
    assert "cannot write the log" in spawn.first_words()
    assert [spawn.behind() for _ in range(5)] == [False] * 5

    stamp = home / "daemon" / "starting"
    os.utime(stamp, (stamp.stat().st_atime, stamp.stat().st_mtime - spawn.AGAIN_S))
    assert spawn.behind()
    assert not spawn.wait_until_ready(30, spawn._children[-1])


def test_of_many_processes_at_once_one_tries(home):
    code = (
        "from triseek.ipc import lock, spawn; lock.ensure_folder(); input(); print(spawn._claim())"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in range(12)
    ]
    for child in children:
        child.stdin.write(b"\n")
        child.stdin.flush()
    said = [child.communicate()[0] for child in children]

    assert sorted(said) == [b"False\n"] * 11 + [b"True\n"]


def test_a_clock_that_was_set_back_does_not_forbid_it_for_long(home):
    (home / "daemon").mkdir(0o700)
    stamp = home / "daemon" / "starting"
    stamp.write_text("*")
    os.utime(stamp, (2**33, 2**33))

    assert spawn._claim()


def test_no_zombie_is_left_of_a_daemon_that_ended(home):
    pid = spawn.start(("--idle-exit=0.1",))
    assert spawn.wait_until_ready(30, pid)
    assert lock.wait_until_free(10)

    assert not spawn.wait_until_ready(5, pid)
    assert pid not in spawn._children
    assert not os.path.exists(f"/proc/{pid}")


def test_this_very_package_is_started_from_anywhere(home, monkeypatch, tmp_path):
    """Run from a checkout that is on the path only because the shell stands in it."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    code = "from triseek.ipc import spawn; spawn.start(); print(spawn.wait_until_ready(30))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)

    assert done.stdout == b"True\n"


def test_waiting_for_nothing_ends():
    assert not spawn.wait_until_ready(0.1)


def test_whoever_starts_a_daemon_it_is_waited_for(monkeypatch):
    assert spawn.behind()
    monkeypatch.setattr(spawn, "start", lambda: pytest.fail("one is starting"))

    assert spawn.ensure(30)


def test_a_daemon_that_was_killed_is_followed_by_another_at_once():
    assert spawn.ensure(30)
    first = client.ask("ping")["pid"]
    os.kill(first, signal.SIGKILL)
    assert lock.wait_until_free(10)

    assert spawn.ensure(30)
    assert client.ask("ping")["pid"] != first


def test_a_daemon_that_cannot_start_is_not_waited_for_long(home, monkeypatch):
    monkeypatch.setattr(spawn, "IDLE_S", 0.2)
    (home / "daemon").mkdir(0o700)
    (home / "daemon" / "daemon.log").mkdir()

    assert not spawn.ensure(30)
    assert not address.record()
