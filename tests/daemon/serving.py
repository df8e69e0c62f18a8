"""A server in this process, over a real socket, with handlers that do what a test asks."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

from tests import sockets
from triseek import __version__
from triseek.daemon.server import Declined, Handlers, Limits, Server
from triseek.errors import RepoNotDetected
from triseek.ipc import wire

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.daemon.streams import Streams

QUICK = Limits(gap_s=0.3, whole_s=0.6, idle_s=5.0, drain_s=0.5)
"""Limits that a test can wait for."""


def text(params: dict[str, Any], streams: Streams) -> int | Declined:
    """Echo, and misbehave on demand."""
    words = params["words"]
    match words[0]:
        case "echo":
            streams.out(" ".join(words[1:]).encode())
            return 0
        case "both":
            streams.out(b"out")
            streams.err(b"err")
            streams.out(b"more")
            return 3
        case "large":
            streams.out(bytes(int(words[1])))
            return 0
        case "decline":
            return Declined(words[1])
        case "sleep":
            time.sleep(float(words[1]))
            streams.out(b"slept")
            return 0
        case "bug":
            streams.out(b"x" * int(words[1]))
            raise ValueError("a bug of ours")
        case "exit":
            raise SystemExit(0)
        case "pipe":
            raise BrokenPipeError("another pipe than the client's")
    return 1


def until_gone(seen: threading.Event):
    """A handler that works until its client has left."""

    def work(params: dict[str, Any], streams: Streams) -> int:
        streams.out(b"begun")
        until = time.monotonic() + 10
        while not streams.gone():
            if time.monotonic() > until:
                return 1
            time.sleep(0.005)
        seen.set()
        return 0

    return work


def refuse(params: dict[str, Any], _streams: Streams) -> dict[str, Any]:
    raise RepoNotDetected(f"{params['root']}: no such folder")


CALLS = {
    "double": lambda params, _: {"twice": params["number"] * 2},
    "refuse": refuse,
    "broken": lambda params, _: {}["missing"],
    "unsayable": lambda params, _: {"what": object()},
    "status": lambda params, _: {"roots": 7},
}


class Serving:
    """A running server and how to reach it."""

    def __init__(self, path: Path, handlers: Handlers, limits: Limits, **more: Any) -> None:
        self.path = str(path)
        listener = sockets.bound(path)
        listener.listen(128)
        self.server = Server(listener, handlers, limits=limits, **more)
        self.ended = ""
        self.thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        self.ended = self.server.serve(self.idle_exit_s)

    idle_exit_s = 0.0

    def connect(self) -> socket.socket:
        sock = socket.socket(socket.AF_UNIX)
        with sockets.short(self.path) as name:
            sock.connect(name)  # waits where the queue is full; with a time-out it would not
        sock.settimeout(10)
        return sock


@contextlib.contextmanager
def serving(
    path: Path,
    handlers: Handlers | None = None,
    limits: Limits = QUICK,
    idle_exit_s: float = 0.0,
    **more: Any,
) -> Iterator[Serving]:
    running = Serving(path, handlers or Handlers(text, CALLS), limits, **more)
    running.idle_exit_s = idle_exit_s
    running.thread.start()
    try:
        yield running
    finally:
        running.server.stop("test")
        running.thread.join(10)
        assert not running.thread.is_alive()


def asked(verb: str, params: dict[str, Any] | None = None, **changed: Any) -> bytes:
    document = {"protocol": 1, "version": __version__, "verb": verb, "params": params or {}}
    return json.dumps({**document, **changed}).encode()


def words(*given: str) -> bytes:
    return asked("text", {"words": given})


def answer(sock: socket.socket) -> dict[str, Any]:
    return json.loads(wire.receive(sock, wire.ANSWER_LIMIT))


def pieces(sock: socket.socket) -> list[bytes]:
    """A text answer up to its end."""
    found = [wire.receive(sock, wire.ANSWER_LIMIT)]
    while found[-1][:1] in (b"1", b"2"):
        found.append(wire.receive(sock, wire.ANSWER_LIMIT))
    return found
