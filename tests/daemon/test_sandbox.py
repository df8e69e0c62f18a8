"""Where sockets are forbidden, EPERM is not ECONNREFUSED: nothing is started, nothing is ended."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.daemon.conftest import ROOT
from tests.ipc.forbidding import SOCKET
from triseek import paths
from triseek.ipc import client, lock

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux" or SOCKET is None, reason="seccomp on a machine we know"
    ),
    pytest.mark.long,
]


def sandboxed(program: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.ipc.forbidding", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(autouse=True)
def _may_start(monkeypatch):
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    monkeypatch.delenv("CI", raising=False)


def test_the_sandbox_is_one():
    assert sandboxed(
        "import socket, os\n"
        "for family in (socket.AF_UNIX, socket.AF_INET):\n"
        "    try: socket.socket(family)\n"
        "    except PermissionError: print('refused')\n"
        "os.kill(os.getpid(), 0)"
    ) == ["refused", "refused", "did os.kill"]


@pytest.mark.parametrize("running", [True, False])
def test_a_refused_socket_is_not_a_missing_daemon(running, daemon):
    if running:
        daemon()
    assert sandboxed(
        "from triseek.ipc import address\n"
        "try: address.connect(1)\n"
        "except address.Forbidden as error: print(error)"
    ) == ["the daemon cannot be reached from here: Operation not permitted"]


@pytest.mark.parametrize("verb", ["status", "start", "stop", "stop --force", "restart"])
def test_the_command_says_so_and_does_nothing(verb, daemon):
    pid = daemon()
    before = sorted(os.listdir(paths.daemon()))

    said = sandboxed(
        "import sys; sys.stderr = sys.stdout\nfrom triseek.cli.main import run\n"
        f"print(run(['daemon', *{verb.split()}]))"
    )

    assert said == [
        (
            "triseek: the daemon cannot be reached from here: Operation not permitted. "
            "See `triseek daemon status` and `triseek daemon logs`."
        ),
        "2",
    ]
    assert client.ask("ping")["pid"] == pid == lock.holder()
    assert sorted(os.listdir(paths.daemon())) == before


def test_with_no_daemon_none_is_started():
    assert sandboxed(
        "import sys; sys.stderr = sys.stdout\nfrom triseek.cli.main import run\n"
        "print(run(['daemon', 'start']))"
    )[-1:] == ["2"]
    assert not os.path.exists(paths.daemon())
