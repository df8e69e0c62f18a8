"""The daemon, as the doctor sees it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.agents.doctor.conftest import only
from tests.cli.serving import pretending
from tests.ipc.forbidding import SOCKET
from triseek import paths
from triseek.agents.doctor import daemon, serving
from triseek.ipc import lock

ROOT = Path(__file__).parents[3]


def test_no_daemon_is_a_warning_that_says_whether_one_starts_by_itself(host, monkeypatch):
    said = only(daemon.daemon(host()))
    assert (said.level, said.mend) == ("warn", "triseek daemon start")
    assert "TRISEEK_NO_DAEMON is set" in said.detail
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    monkeypatch.delenv("CI", raising=False)
    assert "the next search starts it" in only(daemon.daemon(host())).detail


def test_a_daemon_that_runs_is_fine_if_it_is_this_versions(
    host, triseek, programs, living, monkeypatch
):
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    living.start()

    said = only(daemon.daemon(host()))
    assert said.level == "ok"
    assert f"process {living.pid()}" in said.detail
    assert only(serving.hook(host(program=triseek))).level in ("ok", "warn")

    deadline = time.monotonic() + 60  # a daemon that has just begun may keep a hook waiting
    while (refused := only(serving.memo(host(program=triseek)))).level != "ok":
        assert time.monotonic() < deadline, refused
    told = living.ask("memo_session", target_root="/", session=f"triseek-doctor-{os.getpid()}")
    assert told["tracked_files"] == 0
    silent = only(serving.memo(host(program=programs("triseek-x", "exit 0"))))
    assert (silent.level, silent.mend) == ("warn", "triseek daemon restart")

    monkeypatch.setenv("TRISEEK_MEMO_REFUSE", "false")
    assert only(serving.memo(host(program=triseek))).level == "info"

    monkeypatch.setattr(daemon, "__version__", "99.0")
    said = only(daemon.daemon(host()))
    assert (said.level, said.mend) == ("warn", "triseek daemon restart")


def test_a_daemon_that_says_nothing_is_to_be_ended(host, monkeypatch):
    monkeypatch.setattr(daemon, "PATIENCE_S", 0.2)
    end = threading.Event()
    with pretending(lambda _: end.wait(60)):
        said = only(daemon.daemon(host()))
        end.set()

    assert (said.level, said.mend) == ("fail", "triseek daemon restart --force")


def test_a_lock_that_nobody_listens_behind_is_told_of(host):
    os.mkdir(paths.daemon(), 0o700)
    descriptor = lock.take()
    assert descriptor is not None
    try:
        said = only(daemon.daemon(host()))
    finally:
        os.close(descriptor)

    assert said.level == "fail"
    assert f"process {os.getpid()} holds its lock" in said.detail


@pytest.mark.skipif(sys.platform != "linux" or SOCKET is None, reason="seccomp")
def test_a_sandbox_is_told_from_a_daemon_that_is_not_there(home):
    look = (
        "from triseek.agents.doctor import daemon\n"
        "from triseek.agents.doctor.host import DoctorHost\n"
        "said, = daemon.daemon(DoctorHost(cwd='/', program=''))\n"
        "print(said.level, said.detail, said.mend, sep='|')"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tests.ipc.forbidding", look],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("warn|may not be reached from here: a sandbox")
    assert f"{home}/daemon/daemon.sock" in done.stdout
