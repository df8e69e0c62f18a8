"""The two servers as processes, and a client that keeps its connection."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.engines.base import program_path
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterator

READY_S = 300.0
ANSWER_S = 120.0
INDEXER, SERVER = "zoekt-index", "zoekt-webserver"
_STATUS = re.compile(r"^(VmRSS|VmHWM|RssAnon):\s+(\d+) kB", re.MULTILINE)


class Server:
    """A server that listens."""

    def __init__(self, name: str, process: subprocess.Popen[Any], port: int) -> None:
        self.name = name
        self._process = process
        self._port = port
        self._connection = self._connected()

    def _connected(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_S)

    def ask(self, path: str, body: bytes) -> Answer:
        """Send a request on a connection that is open, and time it to the answer's last byte.

        Raises:
            Faulty: The answer is an error.
        """
        for attempt in range(2):
            try:
                return self._ask(path, body)
            except (http.client.HTTPException, ConnectionError):  # it was idle for too long
                self._connection.close()
                self._connection = self._connected()
                if attempt:
                    raise
        raise AssertionError

    def _ask(self, path: str, body: bytes) -> Answer:
        cpu = self.cpu_seconds()
        begun = time.perf_counter()
        self._connection.request("POST", path, body)
        response = self._connection.getresponse()
        content = response.read()
        seconds = time.perf_counter() - begun
        if response.status != http.client.OK:
            raise Faulty(f"{self.name} answers {response.status}: {content[:200]!r}")
        return Answer(seconds, self.cpu_seconds() - cpu, content)

    def cpu_seconds(self) -> float:
        """Return the CPU time that the process has taken."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text("ascii").rpartition(")")[2]
        ticks = sum(map(int, fields.split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self) -> dict[str, int]:
        """Return bytes that are resident now, at the most, and without mapped files."""
        status = Path(f"/proc/{self._process.pid}/status").read_text("ascii")
        return {name: int(kilobytes) << 10 for name, kilobytes in _STATUS.findall(status)}

    def wait(self) -> None:
        """Wait until it has loaded all it serves.

        Raises:
            Faulty: It ended, or takes too long.
        """
        until = time.monotonic() + READY_S
        while time.monotonic() < until:
            if self._process.poll() is not None:
                raise Faulty(f"{self.name} ended with {self._process.returncode}")
            with contextlib.suppress(OSError, http.client.HTTPException, Faulty, ValueError):
                listed = json.loads(self.ask("/api/list", b"{}").content)["List"]
                if listed["Repos"] and not listed["Crashes"]:
                    return
            time.sleep(0.2)
        raise Faulty(f"{self.name} was not ready in {READY_S:.0f} s")


class Answer(NamedTuple):
    """A timed answer."""

    seconds: float
    cpu_seconds: float
    """Of the server, to a hundredth of a second."""
    content: bytes


@contextlib.contextmanager
def zoekt(indexes: Path, port: int) -> Iterator[Server]:
    """Run zoekt-webserver."""
    program = program_path(SERVER)
    if not program:
        raise Faulty(f"{SERVER} is not on PATH")
    argv = [program, "-listen", f"127.0.0.1:{port}", "-index", str(indexes), "-rpc"]
    with _running("zoekt", argv, port, dict(os.environ)) as server:
        yield server


@contextlib.contextmanager
def triseek(home: Path, port: int) -> Iterator[Server]:
    """Run `triseek serve --zoekt-compat` on all indexes of a state folder."""
    argv = [sys.executable, "-m", "triseek", "serve", "--zoekt-compat", f"127.0.0.1:{port}"]
    with _running("triseek", argv, port, environment(home)) as server:
        yield server


def environment(home: Path) -> dict[str, str]:
    """Return the variables of a triseek with a state folder of its own and no daemon."""
    return {**os.environ, "TRISEEK_HOME": str(home), "TRISEEK_NO_DAEMON": "1"}


@contextlib.contextmanager
def _running(name: str, argv: list[str], port: int, env: dict[str, str]) -> Iterator[Server]:
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(argv, env=env, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        server = Server(name, process, port)
        server.wait()
        yield server
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
