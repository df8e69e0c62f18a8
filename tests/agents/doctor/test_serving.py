"""The daemon, the hook, the MCP server and the memo."""

from __future__ import annotations

import os
import re
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
from triseek.agents.doctor import serving
from triseek.ipc import lock

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]


def test_the_memo_is_not_put_to_the_proof_where_no_daemon_is(host, triseek):
    assert list(serving.memo(host(program=triseek))) == []


def test_a_daemon_that_did_not_answer_is_not_asked_again(host, programs, monkeypatch):
    """Not by the hook, which is another process, nor where asking it took the doctor a while."""
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    path = programs("triseek", '[ -n "$TRISEEK_NO_DAEMON" ] || echo it is asked')
    stuck = host(program=path, is_daemon_stuck=True)
    os.mkdir(paths.daemon(), 0o700)
    descriptor = lock.take()
    assert descriptor is not None
    try:
        assert only(serving.hook(stuck)).level in ("ok", "warn")
        assert list(serving.memo(stuck)) == []
    finally:
        os.close(descriptor)


def test_a_hook_that_is_silent_is_fine(host, triseek):
    said = only(serving.hook(host(program=triseek)))

    assert said.level in ("ok", "warn"), said  # warn: on a machine that has no time
    assert not Path(paths.daemon()).exists()


@pytest.mark.parametrize("script", ["echo a word", "echo a word >&2", "exit 1", "kill -9 $$"])
def test_a_hook_that_disturbs_the_agent_fails(host, programs, script):
    path = programs("triseek", script)

    said = only(serving.hook(host(program=path)))

    assert said.level == "fail"
    assert said.mend


def test_a_hook_that_does_not_start_fails(host):
    assert only(serving.hook(host(program="/no/such/triseek"))).level == "fail"


def test_a_server_that_answers_is_fine(host, triseek):
    said = only(serving.server(host(program=triseek)))

    assert said.level == "ok", said
    assert re.search(r"with \d+ tools", said.detail)
    assert not Path(paths.daemon()).exists()


@pytest.mark.parametrize("script", ["exit 3", "echo nonsense", 'read a; echo \'{"id":"tools"}\''])
def test_a_server_that_does_not_answer_fails(host, programs, script):
    said = only(serving.server(host(program=programs("triseek", script))))

    assert (said.level, said.mend) == ("fail", f"{programs.folder}/triseek mcp serve")


def test_no_daemon_is_a_warning_that_says_whether_one_starts_by_itself(host, monkeypatch):
    said = only(serving.daemon(host()))
    assert (said.level, said.mend) == ("warn", "triseek daemon start")
    assert "TRISEEK_NO_DAEMON is set" in said.detail
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    monkeypatch.delenv("CI", raising=False)
    assert "the next search starts it" in only(serving.daemon(host())).detail


def test_a_daemon_that_runs_is_fine_if_it_is_this_versions(
    host, triseek, programs, living, monkeypatch
):
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    living.start()

    said = only(serving.daemon(host()))
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

    monkeypatch.setattr(serving, "__version__", "99.0")
    said = only(serving.daemon(host()))
    assert (said.level, said.mend) == ("warn", "triseek daemon restart")


def test_a_daemon_that_says_nothing_is_to_be_ended(host, monkeypatch):
    monkeypatch.setattr(serving, "PATIENCE_S", 0.2)
    end = threading.Event()
    with pretending(lambda _: end.wait(60)):
        said = only(serving.daemon(host()))
        end.set()

    assert (said.level, said.mend) == ("fail", "triseek daemon restart --force")


def test_a_lock_that_nobody_listens_behind_is_told_of(host):
    os.mkdir(paths.daemon(), 0o700)
    descriptor = lock.take()
    assert descriptor is not None
    try:
        said = only(serving.daemon(host()))
    finally:
        os.close(descriptor)

    assert said.level == "fail"
    assert f"process {os.getpid()} holds its lock" in said.detail


@pytest.mark.skipif(sys.platform != "linux" or SOCKET is None, reason="seccomp")
def test_a_sandbox_is_told_from_a_daemon_that_is_not_there(home):
    look = (
        "from triseek.agents.doctor import serving\n"
        "from triseek.agents.doctor.host import DoctorHost\n"
        "said, = serving.daemon(DoctorHost(cwd='/', program=''))\n"
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
