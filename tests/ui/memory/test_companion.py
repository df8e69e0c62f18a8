"""The memory's server beside another one: where it listens, its token, and how it is stopped."""

from __future__ import annotations

import socket
import stat
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ui.memory.serving import Server
from triseek import paths
from triseek.errors import Busy, InvalidRequest
from triseek.loopback import serving
from triseek.ui.memory import companion, requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.memory.drawers import Draft
    from triseek.memory.service import Memory


@pytest.fixture
def server(memory: Memory, capsys: pytest.CaptureFixture[str]) -> Iterator[Server]:
    started = companion.start("127.0.0.1:0", memory)
    yield Server(started, capsys.readouterr().err)
    started.stop()


def tokens() -> list[Path]:
    return list(Path(paths.daemon()).glob("memory-*.token"))


@pytest.mark.parametrize("address", ["0.0.0.0:0", "192.0.2.1:80", "[::]:0", "example.org:80"])
def test_an_address_that_others_reach_is_refused(memory: Memory, address: str) -> None:
    with pytest.raises(InvalidRequest, match="no loopback address"):
        companion.start(address, memory)
    assert tokens() == []


@pytest.mark.parametrize("address", ["", "127.0.0.1", "127.0.0.1:x", ":80", "127.0.0.1:99999"])
def test_what_is_no_address_is_refused(memory: Memory, address: str) -> None:
    with pytest.raises(InvalidRequest, match="HOST:PORT"):
        companion.start(address, memory)


def test_a_port_in_use_is_refused(server: Server, memory: Memory) -> None:
    with pytest.raises(Busy, match="cannot listen"):
        companion.start(f"127.0.0.1:{server.port}", memory)


def test_the_token_is_made_kept_privately_and_removed(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    started = companion.start("localhost:0", memory)
    said = capsys.readouterr().err
    server = Server(started, said)
    (file,) = tokens()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert server.token == file.read_text()
    assert server.token not in said
    assert f"http://127.0.0.1:{server.port}/api/v1" in said
    assert server.get("/health")["status"] == "ok"
    started.stop()
    started.stop()
    assert tokens() == []
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", server.port))


def test_the_user_sets_the_token(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRISEEK_MEMORY_TOKEN", "short")
    with pytest.raises(InvalidRequest, match="16 or more"):
        companion.start("127.0.0.1:0", memory)
    monkeypatch.setenv("TRISEEK_MEMORY_TOKEN", "chosen-by-somebody")
    started = companion.start("127.0.0.1:0", memory)
    server = Server(
        started, capsys.readouterr().err.replace("$TRISEEK_MEMORY_TOKEN", "chosen-by-somebody")
    )
    assert server.get("/health")["status"] == "ok"
    assert tokens() == []
    started.stop()


def test_it_ends_within_two_seconds_with_streams_and_idle_connections(server: Server) -> None:
    with server.feed() as stream, socket.create_connection((server.host, server.port)) as idle:
        stream.frame()
        began = time.monotonic()
        server.companion.stop()
        assert time.monotonic() - began < 2.0
        assert stream.answer.read() == b""
        assert idle.recv(1) == b""
    assert not server.companion._thread.is_alive()


def test_a_running_request_is_finished(
    server: Server, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.create("mine")
    begun, remember = threading.Event(), memory.remember

    def slow(palace: str, draft: Draft) -> object:
        begun.set()
        time.sleep(0.4)
        return remember(palace, draft)

    monkeypatch.setattr(memory, "remember", slow)
    statuses: list[int] = []

    def store() -> None:
        body = b'{"content": "the last one"}'
        media_type = {"Content_Type": "application/json"}
        path = "/api/v1/palaces/mine/drawers"
        with server.request("POST", path, body, **media_type) as answer:
            statuses.append(answer.status)

    thread = threading.Thread(target=store)
    thread.start()
    assert begun.wait(10)
    server.companion.stop()
    thread.join(10)
    assert statuses == [201]
    assert [drawer.text for drawer in memory.listed("mine")] == ["the last one"]


def test_a_body_that_does_not_come_is_given_up(
    server: Server, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "BODY_S", 0.2)
    with socket.create_connection((server.host, server.port), timeout=10) as slow:
        slow.sendall(
            f"POST /api/v1/palaces HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
            'Content-Length: 100\r\n\r\n{"name": "mine'.encode()
        )
        answer = b"".join(iter(lambda: slow.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'{"error":"the body has not arrived' in answer
    assert not memory.exists()


def test_a_body_that_is_announced_too_large_is_not_awaited(server: Server) -> None:
    with socket.create_connection((server.host, server.port), timeout=10) as large:
        large.sendall(
            f"POST /api/v1/palaces HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
            "Content-Length: 99999999999\r\n\r\n{".encode()
        )
        answer = b"".join(iter(lambda: large.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_head_that_does_not_come_is_given_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_S", 0.2)
    with socket.create_connection((server.host, server.port), timeout=10) as silent:
        assert silent.recv(1) == b""


def test_eight_clients_write_at_once(server: Server, memory: Memory) -> None:
    memory.create("mine")
    each, failures = 15, []

    def write(client: int) -> None:
        for number in range(each):
            body = f'{{"content": "{client} {number}"}}'.encode()
            with server.request(
                "POST", "/api/v1/palaces/mine/drawers", body, Content_Type="application/json"
            ) as answer:
                if answer.status != 201:
                    failures.append(answer.read())

    threads = [threading.Thread(target=write, args=(client,)) for client in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    written = {drawer.text for drawer in memory.listed("mine", limit=1_000)}
    assert written == {f"{client} {number}" for client in range(8) for number in range(each)}


def test_who_started_it_is_told_that_it_has_failed(memory: Memory) -> None:
    failed = threading.Event()
    server = companion.start("127.0.0.1:0", memory, failed.set)
    assert server._loop is not None
    server._loop.call_soon_threadsafe(server._loop.stop)
    assert failed.wait(5)
    server.stop()
