"""Agents whose sessions run in the daemon: what they notice of its end, and what they cost."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import plant
from tests.e2e.living import ROOT, Living
from tests.mcp.speaking import Spoken, call, hello, notice, request, until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long

TREE = {"src/a.py": "def needle():\n    pass\n", "b.txt": "a needle\n"}
PIPE_KB = 15_000
"""What a pipe may take of memory for itself, by its proportional share."""
NO_DAEMON = ("TriSeek daemon is not running", "the daemon does not answer")
"""How a call ends that only a daemon can do, and that no daemon has begun."""
KILLS = int(os.environ.get("TRISEEK_KILLS", "100"))
MODULES = {
    "triseek", "triseek.cli", "triseek.cli.main", "triseek.cli.mcp_verb", "triseek.cli.quick",
    "triseek.app", "triseek.app.wings", "triseek.terminal",
    "triseek.terminal.status", "triseek.errors", "triseek.ipc", "triseek.ipc.address",
    "triseek.ipc.surroundings", "triseek.ipc.wire", "triseek.mcp", "triseek.mcp.backends",
    "triseek.mcp.pipe", "triseek.mcp.prepared", "triseek.mcp.wire_lines", "triseek.model",
    "triseek.model.client_name", "triseek.paths",
    "_json", "_socket", "select", "__future__",
}  # fmt: skip
"""All that the process of an agent loads beyond a bare interpreter."""


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Living]:
    with Living(tmp_path / "state") as living:
        yield living


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = (tmp_path / "tree").resolve()
    (root / ".git").mkdir(parents=True)
    plant(root, TREE)
    return root


@contextlib.contextmanager
def serving(living: Living, tree: Path, *words: str, **environ: str) -> Iterator[Spoken]:
    """A pipe that has been shaken hands with, beside whatever daemon there is."""
    process = subprocess.Popen(
        [sys.executable, "-m", "triseek", "mcp", "serve", "--repo", str(tree), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**living.env, "PYTHONPATH": str(ROOT), **environ},
    )
    spoken = Spoken(process)
    try:
        spoken.ask(hello())
        spoken.say(notice("notifications/initialized"))
        spoken.ask(request("ready", "ping"))  # the session answers, which is opened meanwhile
        yield spoken
    finally:
        spoken.dispose()


class Numbered:
    """Calls tools of a server, each with the next id."""

    def __init__(self, server: Spoken) -> None:
        self.server = server
        self._number = 0

    def said(self, tool: str, **arguments: Any) -> int:
        self._number += 1
        self.server.say(call(self._number, tool, **arguments))
        return self._number

    def answer(self, number: int) -> dict[str, Any]:
        result: dict[str, Any] = self.server.answer(number)["result"]["structuredContent"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.answer(self.said(tool, **arguments))


def agents(living: Living) -> int:
    count: int = living.ask("status")["agents"]
    return count


def test_the_session_runs_in_the_daemon_that_was_started_for_it(living: Living, tree: Path) -> None:
    with serving(living, tree) as server:
        assert agents(living) == 1
        found = Numbered(server).call("search_content", query="needle")
        assert found["files_with_matches"] == 2
        assert server.close() == 0
    until(lambda: agents(living) == 0)


def test_the_agents_process_loads_nothing_of_weight_and_stays_small(
    living: Living, tree: Path
) -> None:
    living.start()
    program = (
        f"import os, stat, sys; sys.path.insert(0, {str(ROOT)!r}); bare = set(sys.modules)\n"
        "leave = os._exit\n"
        "def said(status):\n"
        "    sys.stderr.write(' '.join(set(sys.modules) - bare) + '\\n'); sys.stderr.flush()\n"
        "    leave(status)\n"
        "os._exit = said\n"
        f"sys.argv = ['triseek', 'mcp', 'serve', '--repo', {str(tree)!r}]\n"
        "from triseek.cli import main\n"
        "main.main()\n"
    )
    asked = (hello(1), notice("notifications/initialized"), call(2, "search_content", query="a"))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        input=b"".join(json.dumps(one).encode() + b"\n" for one in asked),
        env=living.env, capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    loaded = set(done.stderr.decode().split())

    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert "triseek.mcp.pipe" in loaded
    assert loaded <= MODULES


def test_a_process_of_an_agent_takes_little_memory(living: Living, tree: Path) -> None:
    living.start()
    with serving(living, tree) as server:
        tools = Numbered(server)
        for _ in range(20):
            tools.call("search_content", query="needle")
            tools.call("find_files", query="a")
        tools.call("context_pack", goal="mend the needle")
        tools.call("session_open", goal="mend")
        tools.call("session_status")
        rollup = Path(f"/proc/{server.process.pid}/smaps_rollup").read_text()
    assert int(rollup.partition("Pss:")[2].split()[0]) <= PIPE_KB


def test_a_daemon_that_is_killed_between_calls_is_not_noticed(living: Living, tree: Path) -> None:
    with serving(living, tree) as server:
        tools = Numbered(server)
        opened = tools.call("session_open", goal="mend")["session"]["session_id"]
        before = living.pid()

        assert living.kill()

        assert tools.call("search_content", query="needle")["files_with_matches"] == 2
        assert living.pid() != before
        assert tools.call("session_status")["session"]["session_id"] == opened
        assert tools.call("session_close", status="resolved")["session"]["session_id"] == opened
        assert server.close() == 0


def test_a_stopped_daemon_is_started_by_the_next_call_and_not_before(
    living: Living, tree: Path
) -> None:
    with serving(living, tree) as server:
        assert living.run("daemon", "stop").status == 0
        time.sleep(0.5)
        assert living.holder() == 0 or not living.kill(0)

        assert server.ask(request(1, "ping"))["result"] == {}
        assert agents(living) == 1


def test_a_call_that_only_reads_is_asked_again_when_the_daemon_dies(
    living: Living, tree: Path
) -> None:
    plant(tree, {f"many/{number}.txt": f"line {number}\n" * 400 for number in range(3_000)})
    with serving(living, tree) as server:
        tools = Numbered(server)
        numbers = [
            tools.said("search_content", query=rf"(\w+\s){{{n}}}zebra", mode="regex")
            for n in range(4)
        ]
        time.sleep(0.05)
        assert living.kill()

        for number in numbers:
            assert tools.answer(number)["files_with_matches"] == 0
        assert server.close() == 0
    ids = [message["id"] for message in server.messages if "id" in message]
    assert len(ids) == len(set(ids))


def test_a_call_that_writes_is_not_asked_again_and_says_so(living: Living, tree: Path) -> None:
    plant(tree, {f"many/{number}.txt": f"line {number}\n" * 50 for number in range(3_000)})
    with serving(living, tree) as server:
        tools = Numbered(server)
        number = tools.said("reindex", mode="full")
        until(lambda: living.ask("status")["under_way"] > 1)
        assert living.kill()

        error = tools.answer(number)["error"]
        assert error["code"] == "BACKEND_FAILURE"
        assert "may have been done or not" in error["message"]
        assert tools.call("index_status")["version"] == "1"


def test_a_daemon_that_does_not_answer_is_left_after_a_while(living: Living, tree: Path) -> None:
    with serving(living, tree) as server:
        tools = Numbered(server)
        tools.call("search_content", query="needle")
        living.kill(signal.SIGSTOP)
        try:
            began = time.monotonic()
            found = tools.call("search_content", query="needle")
            assert found["files_with_matches"] == 2
            assert time.monotonic() - began < 60
        finally:
            living.kill(signal.SIGCONT)
        assert server.close() == 0


def test_another_view_of_the_files_is_searched_where_it_is(living: Living, tree: Path) -> None:
    living.start()
    with serving(living, tree, HOME=str(tree)) as server:
        calls = Numbered(server)
        assert calls.call("search_content", query="needle")["files_with_matches"] == 2
        assert agents(living) == 0
        assert calls.call("memo_check", path="b.txt")["status"] == "unknown"  # the daemon's answer


def test_a_daemon_of_another_version_makes_room(living: Living, tree: Path) -> None:
    code = (
        "import triseek; triseek.__version__ = '0.0.1'\n"
        "import sys; sys.argv = ['triseek', 'daemon', 'run']\n"
        "from triseek.cli import main; main.main()\n"
    )
    old = subprocess.Popen(
        [sys.executable, "-c", code], env={**living.env, "PYTHONPATH": str(ROOT)}, cwd=ROOT
    )
    try:
        living.wait_listening()
        with serving(living, tree) as server:
            assert server.ask(request(1, "ping"))["result"] == {}
            assert old.wait(30) == 0
            assert agents(living) == 1
    finally:
        old.kill()
        old.wait()


def test_an_agent_goes_on_with_the_daemon_of_the_next_version(living: Living, tree: Path) -> None:
    code = (
        "import triseek; triseek.__version__ = '999.0.0'\n"
        "import sys; sys.argv = ['triseek', 'daemon', 'run']\n"
        "from triseek.cli import main; main.main()\n"
    )
    with serving(living, tree) as server:
        tools = Numbered(server)
        tools.call("session_open", goal="mend")
        assert living.run("daemon", "stop").status == 0
        new = subprocess.Popen(
            [sys.executable, "-c", code], env={**living.env, "PYTHONPATH": str(ROOT)}, cwd=ROOT
        )
        try:
            living.wait_listening()
            assert tools.call("search_content", query="needle")["files_with_matches"] == 2
            assert tools.call("session_status")["session"]["goal"] == "mend"
            assert new.poll() is None
            assert agents(living) == 1
        finally:
            new.terminate()
            new.wait(30)


def test_a_long_call_of_one_agent_holds_up_no_other(living: Living, tree: Path) -> None:
    plant(tree, {f"many/{number}.txt": f"line {number}\n" * 400 for number in range(3_000)})
    with serving(living, tree) as slow, serving(living, tree) as quick:
        one, other = Numbered(slow), Numbered(quick)
        number = one.said("reindex", mode="full")
        until(lambda: living.ask("status")["under_way"] > 1)

        assert other.call("search_content", query="needle")["files_with_matches"] == 2

        one.answer(number)


def test_a_call_that_is_cancelled_ends_in_the_daemon(living: Living, tree: Path) -> None:
    plant(tree, {f"many/{number}.txt": f"line {number}\n" * 50 for number in range(3_000)})
    with serving(living, tree) as server:
        tools = Numbered(server)
        number = tools.said("reindex", mode="full")
        until(lambda: living.ask("status")["under_way"] > 1)

        server.say(notice("notifications/cancelled", requestId=number))

        until(lambda: living.ask("status")["under_way"] == 1)
        assert server.ask(request("after", "ping"))["result"] == {}


def test_an_agent_that_is_killed_leaves_nothing_in_the_daemon(living: Living, tree: Path) -> None:
    plant(tree, {f"many/{number}.txt": f"line {number}\n" * 50 for number in range(3_000)})
    with serving(living, tree) as server:
        Numbered(server).said("reindex", mode="full")
        until(lambda: living.ask("status")["under_way"] > 1)

        server.process.kill()

        until(lambda: (told := living.ask("status"))["agents"] == 0 and told["under_way"] == 1)


def test_more_sessions_than_the_daemon_takes_run_where_they_are(living: Living, tree: Path) -> None:
    code = (
        "import sys; sys.argv = ['triseek', 'daemon', 'run']\n"
        "from triseek.daemon import server\n"
        "server.Limits.__dataclass_fields__['agents'].default = 1\n"
        "server.Limits.__init__.__kwdefaults__ = None\n"
        "limits = server.Limits(agents=1)\n"
        "server.Limits = lambda: limits\n"
        "from triseek.daemon import process\n"
        "process.Limits = lambda: limits\n"
        "from triseek.cli import main; main.main()\n"
    )
    daemon = subprocess.Popen(
        [sys.executable, "-c", code], env={**living.env, "PYTHONPATH": str(ROOT)}, cwd=ROOT
    )
    try:
        living.wait_listening()
        with serving(living, tree) as first, serving(living, tree) as second:
            assert agents(living) == 1
            for server in (first, second):
                assert Numbered(server).call("find_files", query="a.py")["files_with_matches"] == 1
    finally:
        daemon.terminate()
        daemon.wait(30)


@pytest.mark.slow
def test_agents_go_on_whenever_the_daemon_is_killed(living: Living, tree: Path) -> None:
    """Eight agents search and write while the daemon is killed at random moments."""
    plant(tree, {f"more/{number}.txt": f"line {number} needle\n" for number in range(500)})
    ended = threading.Event()
    errors: list[Any] = []
    counts = {"reads": 0, "writes": 0, "unsure": 0, "refused": 0}
    made: list[str] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        with serving(living, tree) as server:
            tools = Numbered(server)
            session = None
            while session is None:
                session = tools.call("session_open", goal=f"work {seed}").get("session")
            name = session["session_id"]
            while not ended.is_set():
                if chance.random() < 0.8:
                    found = tools.call("search_content", query="needle", output_mode="files")
                    counts["reads"] += 1
                    if found.get("files_with_matches") != 502:
                        errors.append((seed, found))
                else:
                    taken = tools.call("session_snapshot", session_id=name)
                    message = taken.get("error", {}).get("message", "")
                    if "may have been done" in message:
                        counts["unsure"] += 1
                    elif message.startswith(NO_DAEMON) and taken["error"]["retryable"]:
                        counts["refused"] += 1  # two daemons had ended before they began it
                    elif message:
                        errors.append((seed, taken))
                    else:
                        made.append(taken["snapshot_id"])
                        counts["writes"] += 1
                        if not Path(taken["snapshot_dir"], "manifest.json").exists():
                            errors.append((seed, taken))
            if server.close() != 0:
                errors.append((seed, "the pipe failed", server.said))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    chance, killed = random.Random(0), 0
    while killed < KILLS:
        time.sleep(chance.uniform(0.2, 2.5))
        killed += living.kill()
        living.wait_listening(60)
    ended.set()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    print({**counts, "killed": killed})
    assert errors == []
    assert counts["reads"] > KILLS
    assert counts["writes"] > 0
    # What was refused was not done, and it is rare.
    folder = Path(living.home, "daemon", "snapshots")
    there = {path.name for path in folder.iterdir() if Path(path, "manifest.json").exists()}
    assert there >= set(made)
    assert len(there - set(made)) <= counts["unsure"]
    assert counts["refused"] <= (counts["writes"] + counts["unsure"]) // 20
