"""Real HTTP servers on loopback that answer as a test says, rightly or wrongly."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Request:
    """What a client sent."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def query(self) -> str:
        """The query of a request to /api."""
        return json.loads(self.body)["Q"]


@dataclass
class FakeHost:
    """A server; each request is answered by `behave(connection, request)`."""

    behave: Callable[[socket.socket, Request], None]
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    url: str = ""

    def targets(self) -> list[str]:
        """The targets of all requests."""
        return [request.target for request in self.requests]


@contextlib.contextmanager
def serving(behave: Callable[[socket.socket, Request], None]) -> Iterator[FakeHost]:
    """Serve on a free port of loopback until the context ends."""
    host = FakeHost(behave)
    listener = socket.create_server(("127.0.0.1", 0))
    host.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    open_ones: set[socket.socket] = set()
    threads: list[threading.Thread] = []
    is_over = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while (request := _received(connection)) is not None:
                host.requests.append(request)
                host.behave(connection, request)
        open_ones.discard(connection)

    def accept() -> None:
        while not is_over.is_set():
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                if is_over.is_set():
                    connection.close()
                    return
                host.connections += 1
                open_ones.add(connection)
                threads.append(threading.Thread(target=serve, args=(connection,)))
                threads[-1].start()

    acceptor = threading.Thread(target=accept)
    acceptor.start()
    try:
        yield host
    finally:
        is_over.set()
        with contextlib.suppress(OSError):
            socket.create_connection(listener.getsockname()).close()
        listener.close()
        for connection in list(open_ones):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in (acceptor, *threads):
            thread.join(10)
            assert not thread.is_alive()


def _received(connection: socket.socket) -> Request | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    method, target, _ = first.split(" ")
    return Request(method, target, headers, body)


def response(
    status: int = 200,
    body: bytes | str = b"",
    kind: str = "application/json",
    **headers: str,
) -> bytes:
    """The bytes of a whole response."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {kind}", f"Content-Length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + data


def always(*parts: Any, **headers: str) -> Callable[[socket.socket, Request], None]:
    """Behaviour: one response to every request."""
    data = response(*parts, **headers)
    return lambda connection, _: connection.sendall(data)


def routes(**bodies: Any) -> Callable[[socket.socket, Request], None]:
    """Behaviour: answers of /api/search, /api/list … by the last word of the path, as JSON.

    A value is a document, the bytes of a response, or a function of the request that returns one.
    """

    def behave(connection: socket.socket, request: Request) -> None:
        name = request.target.partition("?")[0].rpartition("/")[2]
        body = bodies.get(name)
        if callable(body):
            body = body(request)
        if body is None:
            connection.sendall(response(404, "404 page not found\n", "text/plain"))
        elif isinstance(body, bytes):
            connection.sendall(body)
        else:
            connection.sendall(response(200, json.dumps(body)))

    return behave


def hang(connection: socket.socket, request: Request) -> None:
    """Behaviour: no answer at all, until the client leaves."""
    connection.recv(1)


def drip(connection: socket.socket, request: Request) -> None:
    """Behaviour: an endless answer, a byte at a time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        connection.sendall(b" ")
        time.sleep(0.02)


def drip_header(connection: socket.socket, request: Request) -> None:
    """Behaviour: headers that never end, a byte at a time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Endless: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.02)


def flood(connection: socket.socket, request: Request) -> None:
    """Behaviour: an endless answer, as fast as it is read."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
    while True:
        connection.sendall(b"0," * 32768)


def gzip_bomb(connection: socket.socket, request: Request) -> None:
    """Behaviour: endless gzip of zeros: a thousand bytes for each one sent."""
    connection.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n"
    )
    import zlib

    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    while True:
        connection.sendall(packing.compress(b"\0" * (1 << 20)))


def gzipped(document: Any) -> bytes:
    """A response with a document, packed."""
    return response(200, gzip.compress(json.dumps(document).encode()), Content_Encoding="gzip")


def reset(connection: socket.socket, request: Request) -> None:
    """Behaviour: RST in the middle of the body."""
    connection.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    time.sleep(0.05)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def file_match(repository: str, path: str, score: float = 0.0, line: int = 1, **more: Any) -> Any:
    """A FileMatch with one line, `needle`."""
    fragment = {"LineOffset": 0, "Offset": 0, "MatchLength": 6, "SymbolInfo": None}
    match = {
        "Line": "bmVlZGxlCg==", "LineStart": 0, "LineEnd": 7, "LineNumber": line,
        "FileName": False, "LineFragments": [fragment],
    }  # fmt: skip
    return {
        "FileName": path, "Repository": repository, "Score": score, "Language": "Text",
        "Checksum": "n9fUYqacPXg=", "LineMatches": [match], **more,
    }  # fmt: skip


def found(*files: Any, **stats: int) -> dict[str, Any]:
    """An answer of /api/search."""
    counts = {"FileCount": len(files), "MatchCount": len(files), "Crashes": 0, **stats}
    return {"Result": {**counts, "Files": list(files) or None, "RepoURLs": {}}}


def listed(*names: str, crashes: int = 0) -> dict[str, Any]:
    """An answer of /api/list."""
    entries = [{"Repository": {"Name": name}, "Stats": {"Documents": 1}} for name in names]
    return {"List": {"Repos": entries or None, "ReposMap": None, "Crashes": crashes}}
