"""triseek's command in front of its daemon: a new process for each question, the index held warm.

Every answer is proved to be the daemon's: its log has a line for each, with the milliseconds it
took there. A command whose daemon declines does the work itself, and would be measured unnoticed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.engines.base import program_path
from bench.engines.triseek_process import TriseekProcess, command_line
from bench.model import Build, Faulty, Memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench.model import Case, Corpus, Reply

_WATCHED_SECONDS_MAX = 120.0
_LOGGED_SECONDS_MAX = 5.0
_PROBE_SECONDS = 0.0005


class TriseekDaemon(TriseekProcess):
    """The daemon's state is in scratch; it never ends by itself."""

    def __init__(self, name: str, settings: Mapping[str, Any], scratch: Path) -> None:
        super().__init__(name, settings, scratch)
        self._log: _Log | None = None

    def version(self) -> str:
        """The package's own, and how it is asked."""
        how = "the console script" if program_path("triseek") else "`python -m triseek`"
        return f"{super().version()}, asked by {how}"

    def environment(self) -> dict[str, str]:
        """As for the command alone, but a daemon is wanted."""
        return super().environment() | {"TRISEEK_NO_DAEMON": "", "CI": ""}

    def prepare(self, corpus: Corpus) -> Build:
        """Build from nothing by the command, then start a daemon and wait until it watches."""
        self.close()
        cost = super().prepare(corpus)
        self.start()
        return cost

    def start(self) -> None:
        """Start the daemon and wait until what it answers is known to be fresh.

        Raises:
            Faulty: it does not start, or does not come to watch the root.
        """
        self._run("daemon", "start", "--idle-exit", "0")
        self._log = _Log(self.scratch / "daemon" / "daemon.log")
        begun = time.monotonic()
        while (told := self.sync())["freshness"] != "synced":
            if time.monotonic() - begun > _WATCHED_SECONDS_MAX:
                raise Faulty(f"the daemon does not come to watch {self.root}: {told}")
            time.sleep(0.05)

    def update(self) -> Build | None:
        """Nothing needs to be done: the daemon sees what changed."""
        return None

    def sync(self) -> dict[str, Any]:
        """Have the daemon take in everything that has happened; what it says of the root."""
        from triseek.errors import TriseekError
        from triseek.ipc import client

        with _state_in(self.scratch):
            try:
                return client.ask("sync", {"target_root": str(self.root)}, timeout_s=60.0)
            except TriseekError as error:
                raise Faulty(f"sync: {error}") from error

    def argv(self, case: Case) -> list[str]:
        """Through the console script where there is one, as people start it."""
        script = program_path("triseek")
        plain = super().argv(case)
        return [script, *plain[len(command_line()) :]] if script else plain

    def ask(self, case: Case, *, repeat: int = 1, keep: bool = False) -> Reply:
        """Ask, and make sure that the daemon answered."""
        return self.ask_served(case, repeat=repeat, keep=keep)[0]

    def ask_served(
        self, case: Case, *, repeat: int = 1, keep: bool = False
    ) -> tuple[Reply, list[float]]:
        """Ask; also the seconds each answer took in the daemon.

        Raises:
            Faulty: the command failed, or did the work itself.
        """
        assert self._log is not None, "no daemon was started"
        self._log.forget()
        reply = super().ask(case, repeat=repeat, keep=keep)
        return reply, self._log.served(repeat)

    def resident_bytes(self) -> int:
        """What the daemon holds now."""
        return self.memory()["rss"]

    def memory(self) -> Memory:
        """What the daemon holds now, and has held at most; bytes."""
        return memory_of(self.scratch)

    def close(self) -> None:
        """Stop the daemon, by force if it has to be."""
        if self._log is None:
            return
        self._log = None
        try:
            self._run("daemon", "stop")
        except Faulty:
            self._run("daemon", "stop", "--force")


def memory_of(state: Path) -> Memory:
    """What the daemon of a state folder holds now, and has held at most; bytes."""
    status = Path(f"/proc/{process_id(state)}/status").read_text(encoding="ascii")
    return Memory(
        rss=_field(status, "VmRSS"),
        anonymous=_field(status, "RssAnon"),
        file=_field(status, "RssFile"),
        peak=_field(status, "VmHWM"),
    )


def process_id(state: Path) -> int:
    """Return the process id of the daemon of a state folder."""
    record = json.loads((state / "daemon" / "daemon.json").read_text(encoding="utf-8"))
    return int(record["pid"])


class _Log:
    """The daemon's log, read from where it was read last.

    It is put aside at 5 MB, which is some 20,000 answers: more than a run asks for.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self.forget()

    def forget(self) -> None:
        """Go to the end."""
        self._read = self._path.stat().st_size

    def served(self, count: int) -> list[float]:
        """Seconds of the next `count` answers; lines are written once the answer is sent."""
        begun = time.monotonic()
        found: list[float] = []
        while len(found) < count:
            if time.monotonic() - begun > _LOGGED_SECONDS_MAX:
                raise Faulty("the command did not ask the daemon")
            found += map(_seconds, self._requests())
            time.sleep(_PROBE_SECONDS)
        return found

    def _requests(self) -> Iterator[dict[str, Any]]:
        with self._path.open("rb") as file:
            file.seek(self._read)
            lines, _, _ = file.read().rpartition(b"\n")
        if lines:
            self._read += len(lines) + 1
        for line in lines.splitlines():
            entry = json.loads(line)
            if entry["event"] == "request" and entry["verb"] == "text":
                yield entry


def _seconds(entry: dict[str, Any]) -> float:
    if not entry["outcome"].startswith("exit status"):
        raise Faulty(f"the daemon did not answer to the end: {entry['outcome']}")
    return float(entry["ms"]) / 1e3


def _field(status: str, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


@contextlib.contextmanager
def _state_in(home: Path) -> Iterator[None]:
    """Have triseek's own client, in this process, find the daemon in `home`."""
    before = os.environ.get("TRISEEK_HOME")
    os.environ["TRISEEK_HOME"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TRISEEK_HOME"]
        else:
            os.environ["TRISEEK_HOME"] = before
