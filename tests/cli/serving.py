"""A daemon's server in a thread of the tests, and the quick path beside it."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import TYPE_CHECKING, Any

from tests.cli.running import Outcome, standing_in
from triseek.cli import fast, main, remote
from triseek.daemon import verbs
from triseek.daemon.server import Handlers, Server
from triseek.engine.service import Service
from triseek.ipc import address, lock, wire
from triseek.zoekt.configured import cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import pytest

    from triseek.history.service import History
    from triseek.memory.service import Memory

    Capture = pytest.CaptureFixture[bytes]


@contextlib.contextmanager
def serving(history: History | None = None, memory: Memory | None = None) -> Iterator[Server]:
    """The real server with the real text handler, where this process's TRISEEK_HOME says."""
    both = {"history": history, "memory": memory}
    kept: dict[str, Any] = {verb: service for verb, service in both.items() if service is not None}
    calls = {} if history is None else verbs.of_history(history)
    with Service() as service:
        kept |= dict.fromkeys(("roots", "symbols", "workflow"), service) | {"cluster": cluster}

        def text(params: dict[str, Any], streams: Any) -> Any:
            return remote.answer(service, params, streams, kept=kept)

        lock.ensure_folder()
        listener, _, token = address.listen()
        server = Server(listener, Handlers(text=text, calls=calls), token=token)
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            yield server
        finally:
            server.stop("the test is over")
            thread.join()
            address.remove_socket()


@contextlib.contextmanager
def pretending(converse: Callable[[socket.socket], None]) -> Iterator[list[int]]:
    """A server that does whatever the test likes with each connection; how many there were."""
    lock.ensure_folder()
    listener, _, _ = address.listen()
    count: list[int] = []
    held: list[socket.socket] = []

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = listener.accept()
                count.append(1)
                held.append(sock)
                threading.Thread(target=alone, args=(sock,), daemon=True).start()

    def alone(sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            converse(sock)

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield count
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        for sock in (*held, listener):
            sock.close()
        address.remove_socket()


def asked(words: Sequence[str], folder: Path, capture: Capture) -> Outcome | fast.Left:
    """What the daemon answers by way of `cli.fast`; what is left to do if it does not."""
    capture.readouterr()
    with standing_in(folder):
        status = fast.ask(words)
    out, err = capture.readouterr()
    if isinstance(status, fast.Left):
        return status
    return Outcome(status, out, err.decode())


def quick(words: Sequence[str], folder: Path, capture: Capture) -> Outcome:
    """The whole command as `main` does it: by the daemon, else here."""
    capture.readouterr()
    with standing_in(folder):
        status = main._quick(words)
    out, err = capture.readouterr()
    return Outcome(status, out, err.decode())


def reply(words: Sequence[str], folder: Path) -> bytes:
    """Every byte the server sends for these words."""
    with standing_in(folder), contextlib.closing(address.connect(10)) as sock:
        wire.send(sock, fast.request(words))
        data = b""
        while True:
            payload = wire.receive(sock, wire.ANSWER_LIMIT)
            data += wire.pack(payload)
            if payload[0] in (wire.END, wire.DECLINED):
                return data


def environment(**more: str) -> dict[str, str]:
    """Of a client in a process of its own that may ask a daemon."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    kept = {name: value for name, value in os.environ.items() if name != "TRISEEK_NO_DAEMON"}
    return {**kept, "PYTHONPATH": root, **more}
