"""The host's side of the channel, to which a script sends what it likes."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from triseek.workflows.box.channel import BrokenProtocol, Channel
from triseek.workflows.box.functions import Caller

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 10.0


class Ends:
    """A channel whose only function waits, and the script's end of it."""

    def __init__(self) -> None:
        ours, self.script = socket.socketpair()
        self.script.settimeout(PATIENCE_S)
        self.go = threading.Event()
        self.channel = Channel(ours, Caller({"wait": self.wait}))
        self.send({"ready": True})

    def wait(self, x: object) -> int:
        """Return the length of an argument, later."""
        self.go.wait(PATIENCE_S)
        return len(x)  # type: ignore[arg-type]

    def send(self, message: object) -> None:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.raw(len(body).to_bytes(4, "big") + body)

    def raw(self, data: bytes) -> None:
        """Send bytes, and have the channel read them."""
        for at in range(0, len(data), 1 << 15):
            self.script.sendall(data[at : at + (1 << 15)])
            assert self.channel.read()

    def reply(self) -> dict[str, object]:
        length = int.from_bytes(self.script.recv(4, socket.MSG_WAITALL), "big")
        document: dict[str, object] = json.loads(self.script.recv(length, socket.MSG_WAITALL))
        return document


@pytest.fixture
def ends() -> Iterator[Ends]:
    both = Ends()
    yield both
    both.go.set()
    both.channel.close()
    both.script.close()


def test_long_calls_wait_in_the_socket(ends: Ends) -> None:
    call = {"id": 1, "name": "wait", "arguments": {"x": [[]] * 150_000}}
    count = 0
    while ends.channel.wants_more():
        ends.send(call)
        count += 1
        assert count < 10

    ends.go.set()
    replies = [ends.reply() for _ in range(count)]
    deadline = time.monotonic() + PATIENCE_S
    while not ends.channel.wants_more():
        assert time.monotonic() < deadline

    assert count == 4
    assert replies == [{"id": 1, "result": 150_000}] * count


def test_a_slow_call_does_not_hold_up_those_that_are_answered(ends: Ends) -> None:
    ends.send({"id": 0, "name": "wait", "arguments": {"x": []}})
    for number in range(1, 200):
        assert ends.channel.wants_more()
        ends.send({"id": number, "name": "none", "arguments": {}})
        assert ends.reply()["id"] == number


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"1", b"null", b"{", b"\xff", b"[" * 100_000, b'{"id": ' + b"9" * 5000 + b"}",
        b'{"id": 1.0, "name": "wait"}', b'{"id": true}', b'{"id": "1"}', b'{"id": null}', b"{}",
    ],
    ids=lambda body: repr(body[:12]),
)  # fmt: skip
def test_what_is_no_call_ends_the_script(body: bytes, ends: Ends) -> None:
    with pytest.raises(BrokenProtocol):
        ends.send(body)


@pytest.mark.parametrize("length", [1 << 20 | 1, 0xFFFFFFFF])
def test_a_call_that_announces_too_much_ends_the_script(length: int, ends: Ends) -> None:
    with pytest.raises(BrokenProtocol, match="at most"):
        ends.raw(length.to_bytes(4, "big"))


def test_calls_in_parts_and_of_one_number_are_each_answered(ends: Ends) -> None:
    ends.go.set()
    body = b'{"id": 7, "id": 8, "name": "wait", "arguments": {"x": [1], "x": [1, 2]}}'
    frame = len(body).to_bytes(4, "big") + body
    for byte in frame * 2:
        ends.raw(bytes([byte]))

    assert [ends.reply(), ends.reply()] == [{"id": 8, "result": 2}] * 2
