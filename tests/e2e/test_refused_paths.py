"""An agent gets nothing by a path that leads out of its root or names no file, and costs nothing.

Real servers by stdio, without a daemon and with one; real devices, FIFOs, sockets, links and /proc.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests import sockets
from tests.conftest import plant
from tests.e2e.serving import daemon, environ, triseek
from tests.left_behind import daemons_of
from tests.mcp.speaking import SERVE, call, greeted, until
from triseek.ipc import client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.mcp.speaking import Spoken

pytestmark = pytest.mark.long

SECRET = "moonstone"
LEAKS = {
    "rootlink": "/",
    "src/rootlink": "/",
    "beside": "../outside",
    "src/beside": "../../outside",
    "chained": "src/beside",
    "src/secret.txt": "../../outside/secret.txt",
    "zero": "/dev/zero",
    "self": "/proc/self",
}
OUTSIDE = (
    "..", "/", "../outside/secret.txt", "/etc/passwd", "/dev/zero", "/dev/urandom", "/dev/stdin",
    "/dev/tty", "/proc/self/environ", "/proc/kmsg", "/proc/1/mem", "rootlink/etc/passwd",
    "src/rootlink/dev/zero", "src/rootlink/proc/self/environ", "rootlink/proc/kmsg", "beside",
    "beside/secret.txt", "src/beside/secret.txt", "chained/secret.txt", "src/secret.txt", "zero",
    "self/environ", "self/root/etc/passwd", "src/../../outside/secret.txt", "self/fd/0", "rootlink",
)  # fmt: skip
"""Paths that lead out of the root."""
SPECIAL = {
    "fifo": "a FIFO",
    "src/fifo": "a FIFO",
    "src/to-fifo": "a FIFO",
    "src/socket": "a socket",
}
RSS_TOLERANCE = 48 << 20
"""Bytes. Refusals keep nothing; modules that are loaded with a first error and the allocator's
arenas are some megabytes. One file of /dev that was read would be gigabytes, a thousand kept log
entries less than one."""


class Tree:
    """`repo/` and `outside/` beside it."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.home = home
        self.root = Path(os.path.realpath(folder)) / "repo"
        plant_in = self.root.parent
        (plant_in / "outside").mkdir()
        (plant_in / "outside" / "secret.txt").write_text(f"{SECRET}\n")
        (self.root / ".git").mkdir(parents=True)
        plant(self.root, {"src/a.py": "needle = 1\n", "src/b.py": "use(needle)\n"})
        for name, target in LEAKS.items():
            (self.root / name).symlink_to(target)
        os.mkfifo(self.root / "fifo")
        os.mkfifo(self.root / "src" / "fifo")
        (self.root / "src" / "to-fifo").symlink_to("fifo")
        (self.root / "src" / "inner.py").symlink_to("a.py")
        sockets.bound(self.root / "src" / "socket").close()
        triseek(home, "build", str(self.root))


@pytest.fixture
def tree(tmp_path: Path, home: Path) -> Tree:
    return Tree(tmp_path, home)


Wanted: TypeAlias = tuple[str, dict[str, Any], str]
"""Tool, arguments, and a part of the error."""


def requests(*, sessions: bool) -> Iterator[Wanted]:
    """Every tool that takes a path, with every path."""
    paths = [*((path, "is outside of") for path in OUTSIDE), *SPECIAL.items()]
    for path, why in paths:
        for query in ("needle", "root:", SECRET):
            yield "search_content", {"query": query, "path": path}, why
        yield "search_content", {"query": ".", "mode": "regex", "path": path, "limit": 1}, why
        yield "memo_check", {"path": path}, why
        yield "memo_status", {"files": ["src/a.py", path]}, why
        yield "context_pack", {"goal": f"find {SECRET}", "changed_files": [path]}, why
        if sessions:
            pin = {"path": path, "line_start": 1, "line_end": 1}
            yield "session_snapshot", {"pinned_snippet_paths": [pin]}, why
            yield "session_handoff", {"pinned_snippet_paths": [pin]}, why
    for path in ("rootlink", "src/rootlink", "chained", "src/beside", "rootlink/etc", "zero", ".."):
        yield "search_content", {"query": SECRET, "glob": f"{path}/**"}, "is outside of"
        folder = {"path_query": f"{path}/", "content_query": SECRET}
        yield "search_path_and_content", folder, "is outside of"
    if sessions:
        for name in ("/etc/x.tcp", "../x.tcp", "src/x.tcp", ".x.tcp", "~/x.tcp", "x.py"):
            yield "session_handoff", {"output": name}, "output "


def daemon_is_warm() -> bool:
    """Whether the daemon has loaded all it loads behind its first answers."""
    return client.ask("status")["warm"] is True


class Costs:
    """What a process has taken of its machine."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.threads = self._status("Threads:")
        self.memory = self._status("VmRSS:") << 10
        self.descriptors = len(os.listdir(f"/proc/{pid}/fd"))

    def _status(self, name: str) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name))

    def are_back(self) -> None:
        """Threads and descriptors come back to what they were; memory to about that."""
        until(lambda: Costs(self.pid).threads <= self.threads)
        until(lambda: Costs(self.pid).descriptors <= self.descriptors)
        assert Costs(self.pid).memory < self.memory + RSS_TOLERANCE


def asked(server: Spoken, number: object, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = server.ask(call(number, tool, **arguments))["result"]
    return answer


def is_refused(answer: dict[str, Any], why: str) -> bool:
    """Whether an answer is one clear error."""
    [block] = answer["content"]
    error = answer["structuredContent"].get("error", {})
    return (
        answer["isError"] is True
        and error.get("code") == "INVALID_QUERY"
        and error["retryable"] is False
        and why in error["message"]
        and "\n" not in error["message"]
        and why in block["text"]
        and set(answer["structuredContent"]) == {"version", "error"}
    )


@pytest.mark.parametrize("with_daemon", [False, True], ids=["alone", "daemon"])
def test_agents_are_refused_what_is_no_file_of_their_root(tree: Tree, with_daemon: bool) -> None:
    wanted = list(requests(sessions=with_daemon))
    assert len(wanted) >= 200
    variables = environ(tree.home)
    with (
        daemon(tree.home) if with_daemon else nullcontext(),
        greeted((*SERVE, str(tree.root)), variables=variables) as server,
    ):
        warm_up(server, wanted, sessions=with_daemon)
        daemons = daemons_of(str(tree.home))
        assert len(daemons) == with_daemon
        costs = [Costs(pid) for pid in (server.process.pid, *daemons)]

        wrong = [
            (tool, arguments, answer)
            for number, (tool, arguments, why) in enumerate(wanted)
            if not is_refused(answer := asked(server, number, tool, arguments), why)
        ]

        assert wrong == []
        for cost in costs:
            cost.are_back()
        inner = {"query": "needle", "path": "src/inner.py"}
        after = asked(server, "after", "search_content", inner)
        assert [each["path"] for each in after["structuredContent"]["results"]] == ["src/a.py"]
        assert server.close() == 0
        if with_daemon:
            triseek(tree.home, "daemon", "stop")
    noted = b"".join(path.read_bytes() for path in tree.home.rglob("frecency.json"))
    if with_daemon:  # it keeps the scores, and has counted what the searches found
        assert b"src/a.py" in noted
    for name in ("rootlink", "beside", "chained", "secret.txt", "zero", "fifo", "environ"):
        assert name.encode() not in noted


def warm_up(server: Spoken, wanted: list[Wanted], *, sessions: bool) -> None:
    """Have everything loaded that these tools need; one refusal of each is part of that."""
    if sessions:
        asked(server, "open", "session_open", {"goal": "look around"})
        until(daemon_is_warm)
    numbers = iter(range(10_000))

    def is_indexed() -> bool:
        found = asked(server, f"is it {next(numbers)}", "search_content", {"query": "nothing here"})
        return bool(found["structuredContent"]["strategy"] == "triseek_indexed")

    until(is_indexed)
    for number, arguments in enumerate(({"query": "needle"}, {"query": "needle", "path": "src"})):
        found = asked(server, f"search {number}", "search_content", arguments)
        assert found["structuredContent"]["files_with_matches"] == 2
    asked(server, "pack", "context_pack", {"goal": "needle"})
    firsts = {tool: arguments for tool, arguments, _ in reversed(wanted)}
    for tool, arguments in firsts.items():
        asked(server, f"first {tool}", tool, arguments)


# A person's commands


def started(tree: Tree, *words: str) -> subprocess.Popen[bytes]:
    """A command of somebody who has a daemon, in the root."""
    variables = {**os.environ, **environ(tree.home)}
    del variables["TRISEEK_NO_DAEMON"]
    return subprocess.Popen(
        [sys.executable, "-m", "triseek", *words],
        cwd=tree.root, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_command_that_names_a_fifo_reads_it_in_its_own_process(tree: Tree) -> None:
    with daemon(tree.home):
        for words in (["needle", "fifo"], ["-f", "fifo", "src/a.py"]):
            with started(tree, *words) as command, open(tree.root / "fifo", "wb") as writer:
                writer.write(b"a needle\nneedle = 1\n")
                writer.close()
                out, err = command.communicate(timeout=60)
            assert (command.returncode, err) == (0, b""), words
            assert out.endswith(b"needle = 1\n")


def test_commands_that_name_a_fifo_or_device_hold_nothing_of_the_daemon(tree: Tree) -> None:
    with daemon(tree.home):
        [pid] = daemons_of(str(tree.home))
        with started(tree, "needle", "src/a.py") as command:
            assert command.wait(60) == 0
        until(lambda: client.ask("sync", {"target_root": str(tree.root)})["watched"])
        with started(tree, "needle", "src") as command:
            assert command.wait(60) == 0
        until(daemon_is_warm)
        costs = Costs(pid)
        waiting = [started(tree, "root", "src/fifo") for _ in range(4)]
        waiting.append(started(tree, "root", "/dev/zero"))
        try:
            for command in waiting:
                until(lambda command=command: searches_itself(command.pid))
            costs.are_back()
        finally:
            for command in waiting:
                command.kill()
                command.communicate(timeout=60)
        costs.are_back()
        triseek(tree.home, "daemon", "stop")
        until(lambda: not daemons_of(str(tree.home)))


def searches_itself(pid: int) -> bool:
    """Whether a command does its own search: it has loaded what no client of a daemon loads."""
    try:
        return "numpy" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False
