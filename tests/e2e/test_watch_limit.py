"""Out of inotify watches, with a real daemon: every answer stays right, and each place says so.

The limit is that of a user namespace, so that nobody else on the machine is concerned. The whole
test runs in it as a process of its own: this file, as a module.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import namespaces
from tests.e2e.living import ROOT, Living

pytestmark = pytest.mark.long

LIMIT = "/proc/sys/user/max_inotify_watches"
FOLDERS = 40
WORD = "deep_alpha"
REFUSAL = namespaces.refusal(f"echo 5 > {LIMIT}")


@pytest.mark.skipif(bool(REFUSAL), reason=f"limits of user namespaces: {REFUSAL}")
def test_out_of_watches_no_answer_is_wrong_and_all_say_so(home, tmp_path):
    done = subprocess.run(
        namespaces.command(
            sys.executable, "-m", "tests.e2e.test_watch_limit", str(home), str(tmp_path)
        ),
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr


def main(home: str, folder: str) -> None:
    """What the test does, inside the namespace."""
    root = Path(folder) / "tree"
    (root / ".git").mkdir(parents=True)
    for number in range(300):
        (root / f"f{number}.txt").write_text(f"alpha {number}\n")
    with Living(home) as living:
        assert living.run("build", cwd=root).status == 0
        living.start()
        living.wait_watched(str(root))
        until_synced(living, root, set())

        set_limit(5)
        expected = set()
        for number in range(FOLDERS):
            (root / f"d{number}").mkdir()
            (root / f"d{number}/n.txt").write_text(f"{WORD}\n")
            expected.add(f"d{number}/n.txt".encode())
        for _ in range(3):
            assert living.files(WORD, root) == expected
        assert answered(living, root) == (expected, "swept")
        assert_said(living, root)

        # The daemon retries after some seconds; a search meanwhile is as right.
        set_limit(1 << 16)
        until(lambda: told(living, root)["watched"])
        until_synced(living, root, expected)
        (root / "d7/more.txt").write_text(f"{WORD}\n")
        until_synced(living, root, expected | {b"d7/more.txt"})
        assert "watched, generation" in living.run("daemon", "status").out.decode()
        assert "watched by the daemon" in living.run("index-status", cwd=root).out.decode()


def answered(living, root):
    """Paths with the word, and the freshness, of one answer of the daemon."""
    said = json.loads(living.run("--envelope", "--limit", "1000", WORD, cwd=root).out)
    assert said["routing_reason"] != "no_index"
    return {row["path"].encode() for row in said["results"]}, said["freshness"]


def until_synced(living, root, expected):
    """Ask until an answer is synced; each finds what is expected.

    An answer takes a sweep where the daemon has just written another generation of the index.
    """

    def is_synced():
        found, freshness = answered(living, root)
        assert found == expected
        return freshness == "synced"

    until(is_synced)


def told(living, root):
    """What the daemon says of the root."""
    (state,) = [each for each in living.ask("status")["roots"] if each["target_root"] == str(root)]
    return state


def assert_said(living, root):
    """Every place that says how a root is kept names the cause and the cure."""
    state = told(living, root)
    assert not state["watched"]
    assert state["clock"] is None
    for said in (
        f"{state['trouble']} {state['fix']}",
        living.run("daemon", "status").out.decode(),
        living.run("index-status", cwd=root).out.decode(),
        living.run("index-status", "--json", cwd=root).out.decode(),
        living.run("doctor", "--no-clients", cwd=root).out.decode(),
    ):
        assert "no more inotify watches" in said, said
        assert "sysctl fs.inotify.max_user_watches=" in said, said


def set_limit(watches):
    """Bound the watches of this namespace."""
    Path(LIMIT).write_text(f"{watches}\n")


def until(wanted, seconds=90):
    """Ask until it is so."""
    deadline = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.2)


if __name__ == "__main__":
    main(*sys.argv[1:])
