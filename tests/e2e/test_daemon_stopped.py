"""A daemon that is stopped (SIGSTOP) keeps nobody waiting, whatever verb is typed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import plant
from tests.e2e.living import Living

ROOT = Path(__file__).parents[2]
WAIT_S = 5.0
"""The most that a client waits for a daemon that does not answer."""
MACHINE_S = 50.0
"""For the interpreter, its imports and the work done without the daemon, on a machine that does a
lot else. tests/ipc/test_client.py holds the bound itself; this finds a verb that does not keep to
it: before, `session list` took more than 60 s."""
ANSWERED = (
    ["needle"], ["-c", "needle", "."], ["--files"], ["find-files", "a"], ["index-status"],
    ["context-pack", "needle"], ["update"], ["snapshot", "list"],
    ["stats", "export", "--out", "out"], ["measure"], ["check"], ["audit"], ["daemon", "logs"],
)  # fmt: skip
"""What is done without the daemon: as if there were none."""
REFUSED = (
    ["session", "list"], ["session", "open", "a goal"], ["session", "status"],
    ["session", "close", "x"], ["memo", "status"], ["memo", "check", "a.py"],
    ["memo", "session", "x"], ["memo", "forget"], ["snapshot", "create"], ["handoff", "codex"],
    ["resume", "snap_x"], ["daemon", "status"], ["daemon", "stop"], ["daemon", "start"],
)  # fmt: skip
"""What only the daemon can do: one clear error."""


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    plant(tree, {"a.py": "needle\n", "b.py": "nothing\n"})
    with Living(tmp_path_factory.mktemp("stopped")) as living:
        assert living.run("build", cwd=tree).status == 0
        living.start()
        living.wait_watched(tree)
        pid = living.pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            yield living, tree
        finally:
            os.kill(pid, signal.SIGCONT)


def timed(living, tree, words, **more):
    began = time.monotonic()
    done = living.run(*words, cwd=tree, **more)
    return done, time.monotonic() - began


def test_a_search_is_what_it_is_without_a_daemon(stopped):
    living, tree = stopped
    for words in (["-n", "needle"], ["-c", "no"], ["--files", "-g", "*.py"]):
        done = living.run(*words, cwd=tree)
        alone = living.run(*words, cwd=tree, TRISEEK_NO_DAEMON="1")
        assert done[:3] == alone[:3]


@pytest.mark.parametrize("words", ANSWERED, ids=" ".join)
def test_what_needs_no_daemon_is_answered(stopped, words):
    living, tree = stopped
    done, seconds = timed(living, tree, words)

    assert done.status in (0, 1), done
    assert seconds < WAIT_S + MACHINE_S


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_only_the_daemon_can_do_is_one_clear_error(stopped, words):
    living, tree = stopped
    done, seconds = timed(living, tree, words)

    assert done.status == 2
    assert seconds < WAIT_S + MACHINE_S


def test_a_hook_is_silent_and_the_doctor_says_what_is_wrong(stopped):
    living, tree = stopped
    done, seconds = timed(living, tree, ["hook", "PostToolUse", "--harness", "codex"])
    assert (done.status, bytes(done.out)) == (0, b"")
    assert seconds < WAIT_S + MACHINE_S

    done, seconds = timed(living, tree, ["doctor", "--no-clients", "--json"])
    [said] = [one for one in json.loads(done.out)["checks"] if one["what"] == "daemon"]
    assert said["level"] == "fail"
    assert "does not answer" in said["detail"]
    assert seconds < WAIT_S + MACHINE_S


def test_an_mcp_server_answers(stopped):
    living, tree = stopped
    asked = [
        {"method": "initialize", "id": 0, "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"method": "tools/call", "id": 1, "params": {
            "name": "search_content", "arguments": {"query": "needle"}}},
        {"method": "tools/call", "id": 2, "params": {"name": "session_list", "arguments": {}}},
        {"method": "tools/call", "id": 3, "params": {"name": "session_status", "arguments": {}}},
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "triseek", "mcp", "serve"], cwd=tree, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**living.env, "PYTHONPATH": str(ROOT)},
    ) as server:  # fmt: skip
        replies = {}
        for one in asked:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n")
            server.stdin.flush()
            began = time.monotonic()
            while one.get("id", -1) not in {*replies, -1}:
                reply = json.loads(server.stdout.readline())
                replies[reply.get("id")] = reply
            assert time.monotonic() - began < WAIT_S + MACHINE_S
        server.stdin.close()
    assert replies[1]["result"]["isError"] is False
    assert "does not answer" in replies[2]["result"]["content"][0]["text"]


def test_force_ends_it(tmp_path):
    """Asks, sends SIGTERM, then SIGKILL: each has its time."""
    with Living(tmp_path) as living:
        living.start()
        pid = living.pid()
        os.kill(pid, signal.SIGSTOP)

        done, seconds = timed(living, tmp_path, ["daemon", "stop", "--force"])

        assert done.status == 0
        assert seconds < WAIT_S + MACHINE_S
        assert living.run("daemon", "status").out == b"triseek: no daemon running\n"
