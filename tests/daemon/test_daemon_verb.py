"""`triseek daemon …` as people and scripts meet it."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.running import command, triseek
from triseek.ipc import address, client, wire

pytestmark = pytest.mark.long

HERE = Path("/")


def test_with_none_running_status_and_stop_say_so_and_succeed():
    for verb in ("status", "stop"):
        assert triseek(["daemon", verb], HERE) == (0, b"triseek: no daemon running\n", "")
    assert triseek(["daemon", "status", "--json"], HERE).out == b'{\n  "running": false\n}\n'
    assert triseek(["daemon", "stop", "--json"], HERE).out == b'{\n  "stopped": false\n}\n'


def test_a_daemons_life_as_it_is_told(daemon):
    pid = daemon()

    already = triseek(["daemon", "start"], HERE).out.decode()
    assert already == f"triseek: daemon already running (process {pid})\n"
    again = json.loads(triseek(["daemon", "start", "--json"], HERE).out)
    assert (again["started"], again["pid"]) == (False, pid)
    told = triseek(["daemon", "status"], HERE).out.decode()
    assert told.startswith(f"triseek: daemon running (process {pid}, version ")
    document = json.loads(triseek(["daemon", "status", "--json"], HERE).out)
    assert document["running"] is True
    assert document["pid"] == pid
    assert triseek(["daemon", "stop"], HERE).out == b"triseek: daemon stopped\n"
    assert triseek(["daemon", "status"], HERE).out == b"triseek: no daemon running\n"


def test_restart_starts_one_whether_or_not_one_runs(daemon):
    first = triseek(["daemon", "restart", "--json"], HERE)
    second = triseek(["daemon", "restart", "--json"], HERE)
    pids = [json.loads(outcome.out)["pid"] for outcome in (first, second)]

    assert pids[0] != pids[1]
    assert client.ask("ping")["pid"] == pids[1]


def test_a_request_that_says_too_little_is_declined(daemon):
    daemon()
    with closing(address.connect(5)) as sock:
        wire.send(sock, client.request("text", {"words": ["x"], "cwd": "/"}))

        assert wire.receive(sock, 100) == b"-malformed"


@pytest.mark.parametrize(
    "words", [["run", "--idle-exit", "-1"], ["run", "--idle-exit=inf"], ["run", "--idle-exit=x"]]
)
def test_an_idle_exit_that_is_none_is_one_clear_line(words):
    outcome = command(["daemon", *words], HERE)

    assert outcome.status == 2
    assert outcome.err.startswith("triseek: invalid value for '--idle-exit'") or (
        "invalid value for --idle-exit" in outcome.err
    )
    assert outcome.err.count("\n") == 1


def test_the_log_is_shown_from_its_end(daemon, home):
    daemon()
    for _ in range(20):
        client.ask("ping")
    before = (home / "daemon/daemon.log").read_text()
    shown = triseek(["daemon", "logs", "-n", "5"], HERE).out.decode()
    after = (home / "daemon/daemon.log").read_text()

    # The daemon may have written more meanwhile: its maintenance does what it does.
    ends = {after[:end] for end in range(len(before), len(after) + 1)}
    assert shown in {"".join(end.splitlines(keepends=True)[-5:]) for end in ends}
    assert shown.count("\n") == 5
    assert triseek(["daemon", "logs", "-n", "0"], HERE).out == b""


def test_no_log_is_said(home):
    outcome = triseek(["daemon", "logs"], HERE)

    assert outcome == (0, b"", f"triseek: no log at {home}/daemon/daemon.log\n")


def test_the_log_is_followed(daemon, in_front):
    daemon()
    child = in_front(
        "-m", "triseek", "daemon", "logs", "--lines=1", "--follow", stdout=subprocess.PIPE
    )
    assert child.stdout.readline()
    client.ask("ping")

    lines = map(json.loads, child.stdout)  # the daemon's maintenance writes there, too
    assert next(line for line in lines if line["event"] == "request")["verb"] == "ping"
