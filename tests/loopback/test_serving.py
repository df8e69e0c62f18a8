"""Connections that say nothing, or say it slowly, and who comes after them."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

import anyio
import pytest

from triseek.loopback import serving

LONG = 32 << 20
"""Bytes of an answer that no buffer of the system holds."""
ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def hello(scope, receive, send):
    assert scope["type"] == "http"
    if scope["path"] == "/slow":
        await anyio.sleep(4.0)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    body = b"x" * LONG if scope["path"] == "/long" else b"hello"
    await send({"type": "http.response.body", "body": body})


@contextlib.contextmanager
def served():
    """A server in a thread; its address."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        server = serving.server(hello, grace_s=1)
        server.config.lifespan = "off"
        thread = threading.Thread(target=anyio.run, args=(lambda: server.serve([listener]),))
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join()


def ask(address, path="/"):
    with socket.create_connection(address, timeout=30) as sock:
        sock.sendall(ASK.replace(b"/ ", f"{path} ".encode(), 1))
        return sock.recv(1 << 16)


def whole_reply(sock):
    """One answer to its end; it may come in pieces."""
    reply = b""
    while not reply.endswith(b"\r\n0\r\n\r\n"):
        piece = sock.recv(1 << 16)
        assert piece
        reply += piece
    return reply


def test_more_idle_connections_than_there_is_room_for_lock_nobody_out(monkeypatch):
    monkeypatch.setattr(serving, "CONNECTIONS_MAX", 20)
    monkeypatch.setattr(serving, "HEAD_S", 600.0)
    with served() as address, contextlib.ExitStack() as idle:
        socks = [idle.enter_context(socket.create_connection(address, 30)) for _ in range(60)]

        assert ask(address).startswith(b"HTTP/1.1 200")
        assert socks[0].recv(1) == b""  # the oldest made room
        socks[-1].sendall(ASK)
        assert socks[-1].recv(1 << 16).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_a_head_that_does_not_come_ends_the_connection(monkeypatch, begun):
    monkeypatch.setattr(serving, "HEAD_S", 0.2)
    with served() as address, socket.create_connection(address, timeout=60) as sock:
        sock.sendall(begun)

        with contextlib.suppress(ConnectionResetError):
            assert sock.recv(1) == b""


def test_a_head_that_drips_ends_the_connection_as_well(monkeypatch):
    monkeypatch.setattr(serving, "HEAD_S", 0.3)
    with served() as address, socket.create_connection(address, timeout=0.05) as sock:
        sock.sendall(ASK[:-2])
        ended = False
        for _ in range(1_000):
            try:
                sock.sendall(b"X-More: 1\r\n")
                ended = sock.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                ended = True
            if ended:
                break
    assert ended


def test_a_slow_answer_and_the_next_request_are_no_idleness(monkeypatch):
    monkeypatch.setattr(serving, "HEAD_S", 2.0)
    with served() as address:
        assert ask(address, "/slow").startswith(b"HTTP/1.1 200")
        with socket.create_connection(address, timeout=60) as sock:
            for _ in range(2):
                sock.sendall(ASK)
                assert whole_reply(sock).startswith(b"HTTP/1.1 200")
            with contextlib.suppress(ConnectionResetError):
                while sock.recv(1 << 16):
                    pass


def ask_for_long(address):
    sock = socket.create_connection(address, timeout=60)
    sock.sendall(ASK.replace(b"/ ", b"/long ", 1))
    return sock


def test_a_client_that_takes_nothing_is_disconnected(monkeypatch):
    monkeypatch.setattr(serving, "HEAD_S", 0.1)
    monkeypatch.setattr(serving, "STALL_S", 0.5)
    with served() as address, ask_for_long(address) as sock:
        time.sleep(1.5)
        size = 0
        with contextlib.suppress(ConnectionResetError):
            while piece := sock.recv(1 << 20):
                size += len(piece)
        assert size < LONG


def test_a_client_that_takes_its_answer_slowly_gets_all_of_it(monkeypatch):
    monkeypatch.setattr(serving, "HEAD_S", 0.2)
    monkeypatch.setattr(serving, "STALL_S", 0.6)
    with served() as address, ask_for_long(address) as sock:
        size, pauses = 0, 8
        while size < LONG:
            if pauses:
                pauses -= 1
                time.sleep(0.2)
            piece = sock.recv(2 << 20, socket.MSG_WAITALL if pauses else 0)
            assert piece
            size += len(piece)
