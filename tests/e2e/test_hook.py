"""What an agent's hook tells the daemon brings files forward; it never disturbs the agent."""

from __future__ import annotations

import json
import os
import subprocess
import time

import pytest

from tests.e2e.living import RUN, Living

pytestmark = pytest.mark.long


@pytest.fixture
def living(tmp_path):
    with Living(tmp_path / "state") as living:
        yield living


def hook(living, payload, cwd, *words):
    return subprocess.run(
        [*RUN, "hook", *(words or ("PostToolUse",))], cwd=cwd, env=living.env, input=payload,
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip


def payload(tool, path):
    return json.dumps({"cwd": "/", "tool_name": tool, "tool_input": {"file_path": path}}).encode()


def first(living, root):
    return living.run("find-files", "router", "--limit", "1", cwd=root).out.strip()


def test_a_file_that_was_read_comes_before_one_that_was_merely_found(living, repo):
    root = os.path.realpath(repo({f"router_{n}.py": f"line {n}\n" for n in range(5)}))
    assert living.run("build", cwd=root).status == 0
    living.start()
    living.wait_watched(root)
    assert living.files("line 1", root) == {b"router_1.py"}
    until(lambda: first(living, root) == b"router_1.py")

    done = hook(living, payload("Read", f"{root}/router_3.py"), "/")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    until(lambda: first(living, root) == b"router_3.py")


def until(wanted, seconds=20):
    deadline = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize(
    "given", [b"", b"{", b"\xff" * 100, b"x" * 2_000_000, payload("Read", "/nowhere/at/all")]
)
@pytest.mark.parametrize("with_daemon", [True, False])
def test_whatever_it_is_told_it_is_silent_and_succeeds(living, tmp_path, given, with_daemon):
    if with_daemon:
        living.start()
    else:
        living.env["TRISEEK_NO_DAEMON"] = "1"
    done = hook(living, given, tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_hook_without_a_daemon_starts_one_behind_itself(living, tmp_path):
    done = hook(living, payload("Read", "/nowhere/at/all"), tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    living.wait_listening(60)
