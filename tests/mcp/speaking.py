"""A client of `triseek mcp serve` that says exactly what a test has it say, and misses nothing."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

PATIENCE_S = 60.0
"""These machines are shared; nothing here is a measurement."""
SERVE = ("-m", "triseek", "mcp", "serve", "--repo")
STAND_IN = (str(Path(__file__).with_name("served.py")),)
CLIENT = {"name": "test", "version": "1"}
MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def call(number: object, tool: str, **arguments: object) -> dict[str, Any]:
    """A call of a tool."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def request(number: object, method: str, params: object = None) -> dict[str, Any]:
    asked = {"jsonrpc": "2.0", "id": number, "method": method}
    return asked if params is None else {**asked, "params": params}


def notice(method: str, **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def hello(number: object = "hello", version: str = "2025-11-25") -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
    return request(number, "initialize", params)


class Spoken:
    """One server process and the two ends of it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.messages: list[dict[str, Any]] = []
        """Everything that was told so far, in order."""
        self.said = b""
        """Everything on standard error."""
        self._arrived: queue.Queue[bytes | None] = queue.Queue()
        self._readers = [
            threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)
        ]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._arrived.put(line)
        self._arrived.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.said += line

    def say(self, *messages: object) -> None:
        self.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))

    def write(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any] | None:
        """The next message, which has to be JSON-RPC; None at the end."""
        line = self._arrived.get(timeout=PATIENCE_S)
        if line is None:
            return None
        assert line.endswith(b"\n"), line
        message = json.loads(line, parse_constant=_no_constant)
        assert message["jsonrpc"] == "2.0", message
        assert ("method" in message) + ("result" in message) + ("error" in message) == 1, message
        self.messages.append(message)
        return message

    def answer(self, number: object) -> dict[str, Any]:
        """The answer to a request; what comes before it is kept."""
        for message in self.messages:
            if "method" not in message and message["id"] == number:
                return message
        while (message := self.hear()) is not None:
            if "method" not in message and message["id"] == number:
                return message
        raise AssertionError(f"ended without an answer to {number!r}: {self.said!r}")

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self.say(message)
        return self.answer(message["id"])

    def close(self) -> int:
        """Say no more, hear the rest, and wait for the end."""
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.ended()

    def ended(self) -> int:
        while self.hear() is not None:
            pass
        code = self.process.wait(PATIENCE_S)
        for reader in self._readers:
            reader.join(PATIENCE_S)
        return code

    def dispose(self) -> None:
        """End it, whatever it is doing."""
        self.process.kill()
        self.process.wait(PATIENCE_S)
        for reader in self._readers:
            reader.join(PATIENCE_S)
        for end in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):  # what it did not read of a frame
                end.close() if end else None


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


@contextlib.contextmanager
def speaking(
    words: Sequence[str], variables: Mapping[str, str] | None = None, *, sync: bool = False
) -> Iterator[Spoken]:
    """A server, ended whatever happens."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **(variables or {})}
    if not sync:
        env["TRISEEK_MCP_DISABLE_STARTUP_SYNC"] = "1"
    process = subprocess.Popen(
        [sys.executable, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    )
    server = Spoken(process)
    try:
        yield server
    finally:
        server.dispose()


@contextlib.contextmanager
def greeted(words: Sequence[str], **how: Any) -> Iterator[Spoken]:
    """A server that has been shaken hands with."""
    with speaking(words, **how) as server:
        server.ask(hello())
        server.say(notice("notifications/initialized"))
        yield server


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def children_of(pid: int) -> set[int]:
    """Processes that a process has started and that live."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.add(int(folder.name))
    return found


def is_running(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
