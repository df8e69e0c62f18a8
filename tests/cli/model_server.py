"""A server that speaks chat completions on loopback, well or badly, and remembers what it got."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Answer = Callable[["Handler", dict[str, Any]], None]


class Got(NamedTuple):
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes


class Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(raw)
        self.server.got.append(Got(self.path, headers, body, raw))
        with contextlib.suppress(OSError):
            self.server.answers[min(len(self.server.got), len(self.server.answers)) - 1](self, body)

    do_GET = do_POST  # noqa: N815 - the names that http.server calls

    def reply(self, code: int, body: bytes, kind: str = "application/json", **more: str) -> None:
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answers: tuple[Answer, ...], host: str = "127.0.0.1") -> None:
        super().__init__((host, 0), Handler)
        self.answers = answers
        self.got: list[Got] = []

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is what some tests are about."""

    def wait_for(self, requests: int) -> None:
        """Wait until so many have come in; a client may have given up before."""
        deadline = time.monotonic() + 20
        while len(self.got) < requests and time.monotonic() < deadline:
            time.sleep(0.01)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextlib.contextmanager
def answering(*answers: Answer) -> Iterator[ModelServer]:
    """A server that gives these answers one after the other, the last again and again."""
    with ModelServer(answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def completion(text: object) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"index": 0, "message": message}]}).encode()


def says(text: object) -> Answer:
    """A good answer, of this text."""
    return lambda handler, _: handler.reply(200, completion(text))


def refuses(code: int, body: bytes = b"", **headers: str) -> Answer:
    return lambda handler, _: handler.reply(code, body, **headers)


def silent(handler: Handler, _: dict[str, Any]) -> None:
    time.sleep(3)


def dripping(handler: Handler, _: dict[str, Any]) -> None:
    """A byte now and then, for ever: no single one is late."""
    handler.send_response(200)
    handler.send_header("content-length", "100000")
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def endless(handler: Handler, _: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(2_000):
        handler.wfile.write(b"x" * 65_536)


def hangs_up(handler: Handler, _: dict[str, Any]) -> None:
    handler.close_connection = True
    handler.connection.close()


def half(handler: Handler, _: dict[str, Any]) -> None:
    """The first half of an answer, then nothing."""
    body = completion("x" * 100)
    handler.send_response(200)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.close_connection = True


def streaming(handler: Handler, _: dict[str, Any]) -> None:
    """Server-sent events, though none were asked for."""
    piece = json.dumps({"choices": [{"delta": {"content": "## Goal"}}]})
    handler.reply(200, f"data: {piece}\n\ndata: [DONE]\n\n".encode(), "text/event-stream")


def no_http(handler: Handler, _: dict[str, Any]) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    handler.close_connection = True
