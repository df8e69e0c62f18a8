"""A daemon that is stopped (SIGSTOP) keeps nobody waiting, whatever verb is typed.

tests/ipc/test_client.py holds the bound itself. What a verb takes here is held against the same
work where no daemon is, so that the machine's speed does not decide.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import plant
from tests.e2e.living import Living

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
WAIT_S = 5.0
"""The most that a client waits for a daemon that does not answer."""
SLACK_S = 5.0
SLOWER = 4.0
"""How many times as long the same work may take, if the machine does a lot else meanwhile."""
SEARCHES = (["-n", "needle", "a.py"], ["-c", "no", "b.py"], ["--files", "-g", "*.py"])
ANSWERED = (
    ["needle"], ["-c", "needle", "."], ["--files"], ["find-files", "a"], ["index-status"],
    ["context-pack", "--goal", "needle"], ["update"], ["snapshot", "list"],
    ["stats", "export", "--out", "out"], ["measure"], ["check"], ["audit"], ["daemon", "logs"],
)  # fmt: skip
"""What is done without the daemon: as if there were none."""
REFUSED = (
    ["session", "list"], ["session", "open", "a goal"], ["session", "status"],
    ["session", "close", "x"], ["memo", "status", "a.py"], ["memo", "check", "a.py"],
    ["memo", "session"], ["memo", "forget"], ["snapshot", "create"], ["handoff", "codex"],
    ["resume", "snap_x"], ["daemon", "status"], ["daemon", "stop"], ["daemon", "start"],
)  # fmt: skip
"""What only the daemon can do: one clear error."""
HOOKS = tuple(
    ["hook", event, "--harness", "codex"]
    for event in (
        "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "PreCompact", "Stop"
    )
)  # fmt: skip
DOCTOR = ["doctor", "--no-clients", "--json"]
AT_ONCE = 6


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    plant(tree, {"a.py": "needle\n", "b.py": "nothing\n"})
    with (
        Living(tmp_path_factory.mktemp("stopped")) as living,
        Living(tmp_path_factory.mktemp("alone")) as alone,
    ):
        alone.env["TRISEEK_NO_DAEMON"] = "1"
        for one in (living, alone):
            assert one.run("build", cwd=tree).status == 0
        living.start()
        living.wait_watched(tree)
        pid = living.pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            yield living, alone, tree
        finally:
            os.kill(pid, signal.SIGCONT)


def keeps_nobody_waiting(done, reference):
    """Whether a command waited for its daemon no longer than it may.

    Args:
        done: the command beside a daemon that is stopped.
        reference: about the same work with no daemon there.
    """
    return done.seconds < WAIT_S + SLACK_S + SLOWER * reference.seconds


@pytest.fixture(scope="module")
def outcomes(stopped):
    """Every command beside the stopped daemon, and where there is none, some at a time.

    Most of what they take is waiting for the daemon.
    """
    living, alone, tree = stopped

    def both(words):
        return living.run(*words, cwd=tree), alone.run(*words, cwd=tree)

    commands = [*SEARCHES, *ANSWERED, *REFUSED, *HOOKS, DOCTOR]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(map(tuple, commands), pool.map(both, commands), strict=True))


@pytest.mark.parametrize("words", SEARCHES, ids=" ".join)
def test_a_search_is_what_it_is_without_a_daemon(outcomes, words):
    done, reference = outcomes[tuple(words)]

    assert done[:3] == reference[:3]


@pytest.mark.parametrize("words", ANSWERED, ids=" ".join)
def test_what_needs_no_daemon_is_answered(outcomes, words):
    done, reference = outcomes[tuple(words)]

    assert done.status in (0, 1), done
    assert keeps_nobody_waiting(done, reference)


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_only_the_daemon_can_do_is_one_clear_error(outcomes, words):
    done, _ = outcomes[tuple(words)]
    _, reference = outcomes["index-status",]

    assert done.status == 2
    assert "the daemon does not answer" in done.err
    assert keeps_nobody_waiting(done, reference)


@pytest.mark.parametrize("words", HOOKS, ids=" ".join)
def test_a_hook_is_silent(outcomes, words):
    done, reference = outcomes[tuple(words)]

    assert (done.status, bytes(done.out)) == (0, b"")
    assert keeps_nobody_waiting(done, reference)


def test_the_doctor_says_what_is_wrong(outcomes):
    done, reference = outcomes[tuple(DOCTOR)]

    [daemon] = [one for one in json.loads(done.out)["checks"] if one["what"] == "daemon"]
    assert daemon["level"] == "fail"
    assert "does not answer" in daemon["detail"]
    assert keeps_nobody_waiting(done, reference)


def test_an_mcp_server_answers(stopped):
    living, _alone, tree = stopped
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
        replies, seconds = {}, {}
        for one in asked:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n")
            server.stdin.flush()
            began = time.monotonic()
            while one.get("id", -1) not in {*replies, -1}:
                reply = json.loads(server.stdout.readline())
                replies[reply.get("id")] = reply
            seconds[one.get("id")] = time.monotonic() - began
        server.stdin.close()
    for call in (1, 2, 3):
        assert seconds[call] < WAIT_S + SLACK_S + SLOWER * seconds[0]  # its start: imports
    assert replies[1]["result"]["isError"] is False
    assert "does not answer" in replies[2]["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("question", "path", "value"),
    [
        ("about", ["daemon"], False),
        ("status", ["daemon", "reason"], "the daemon does not answer"),
        ("search?q=needle", ["total_line_matches"], 1),
    ],
)
def test_the_page_answers(stopped, question, path, value):
    living, alone, tree = stopped
    reference = alone.run("index-status", cwd=tree)
    with subprocess.Popen(
        [sys.executable, "-m", "triseek", "ui", str(tree), "--no-open"], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**living.env, "PYTHONPATH": str(ROOT)},
    ) as page:  # fmt: skip
        link = next(line.strip() for line in page.stdout if "http://" in line)
        place, _, token = link.partition("#token=")
        request = urllib.request.Request(
            f"{place}api/{question}", headers={"Authorization": f"Bearer {token}"}
        )
        began = time.monotonic()
        with urllib.request.urlopen(request, timeout=60) as answer:
            found = json.load(answer)
        seconds = time.monotonic() - began
        page.send_signal(signal.SIGINT)
    for name in path:
        found = found[name]
    assert found == value or str(found).startswith(f"{value} ")
    assert seconds < WAIT_S + SLACK_S + SLOWER * reference.seconds


def test_force_ends_it(tmp_path):
    """Asks, sends SIGTERM, then SIGKILL: each has its time."""
    with Living(tmp_path) as living:
        living.start()
        pid = living.pid()
        os.kill(pid, signal.SIGSTOP)

        done = living.run("daemon", "stop", "--force")
        reference = living.run("daemon", "status")

        assert done.status == 0
        assert reference.out == b"triseek: no daemon running\n"
        assert keeps_nobody_waiting(done, reference)
