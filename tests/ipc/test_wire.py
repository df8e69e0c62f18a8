"""Frames, as bytes and over sockets that deliver them in any pieces."""

from __future__ import annotations

import random
import socket
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.ipc import wire

LIMIT = 4096
LONG_S = 30.0
"""Shorter than without a limit of time, and longer than any machine needs."""


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    ours.settimeout(10)
    with ours, theirs:
        yield ours, theirs


def received(data: bytes) -> list[bytes]:
    """The payloads that arrive before the end of the stream."""
    ours, theirs = socket.socketpair()
    ours.settimeout(10)
    payloads = []
    with ours:
        with theirs:
            theirs.sendall(data)
        while payload := wire.receive(ours, LIMIT):
            payloads.append(payload)
    return payloads


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=8))
def test_what_is_packed_is_received_in_order(payloads):
    assert received(b"".join(map(wire.pack, payloads))) == payloads


@given(st.binary(min_size=1, max_size=300), st.data())
def test_a_part_of_a_frame_is_no_frame(payload, data):
    frame = wire.pack(payload)

    with pytest.raises(wire.CutShort):
        received(frame[: data.draw(st.integers(1, len(frame) - 1))])


@pytest.mark.parametrize("head", [b"\0\0\0\0", b"\0\0\x10\x01", b"GET ", b"\xff\xff\xff\xff"])
def test_a_length_of_zero_or_above_the_limit_is_refused_before_its_bytes_are_read(head, pair):
    ours, theirs = pair
    theirs.sendall(head)

    with pytest.raises(wire.TooLarge, match="1 to 4096 are allowed"):
        wire.receive(ours, LIMIT)


def test_frames_arrive_whole_however_the_bytes_are_cut(pair):
    ours, theirs = pair
    chance = random.Random(3)
    payloads = [chance.randbytes(chance.choice((1, 2, 5, 700, LIMIT))) for _ in range(2000)]

    def drip() -> None:
        data = b"".join(map(wire.pack, payloads))
        while data:
            size = chance.choice((1, 3, 4, 50, 5000))
            theirs.sendall(data[:size])
            data = data[size:]
        theirs.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=drip)
    sender.start()
    found = []
    while payload := wire.receive(ours, LIMIT):
        found.append(payload)
    sender.join()

    assert found == payloads


def test_the_end_between_frames_is_no_error(pair):
    ours, theirs = pair
    theirs.close()

    assert wire.receive(ours, LIMIT) == b""


@pytest.mark.parametrize("sent", [b"\0", b"\0\0\0", b"\0\0\0\x05", b"\0\0\0\x05abcd"])
def test_the_end_within_a_frame_is_an_error(sent, pair):
    ours, theirs = pair
    theirs.sendall(sent)
    theirs.close()

    with pytest.raises(wire.CutShort):
        wire.receive(ours, LIMIT)


def test_a_byte_now_and_then_does_not_hold_the_receiver(pair):
    ours, theirs = pair
    done = threading.Event()

    def loris() -> None:
        theirs.sendall(b"\0\0\x0f\0")
        while not done.wait(0.02):
            theirs.sendall(b"x")

    sender = threading.Thread(target=loris)
    sender.start()
    begun = time.monotonic()
    with pytest.raises(TimeoutError, match="took too long"):
        wire.receive(ours, LIMIT, gap_s=1, whole_s=0.2)
    took = time.monotonic() - begun
    done.set()
    sender.join()

    assert took < LONG_S


def test_a_pause_within_a_frame_has_its_own_limit(pair):
    ours, theirs = pair
    theirs.sendall(b"\0\0\x0f\0x")
    begun = time.monotonic()

    with pytest.raises(TimeoutError):
        wire.receive(ours, LIMIT, gap_s=0.05)
    assert time.monotonic() - begun < LONG_S


@pytest.mark.parametrize("size", [0, 1, wire.PIECE_LIMIT, wire.PIECE_LIMIT + 1, 1_000_000])
def test_a_stream_is_sent_in_pieces_no_larger_than_allowed(size, pair):
    ours, theirs = pair
    data = random.Random(size).randbytes(size)

    def send() -> None:
        wire.send_piece(theirs, wire.OUT, data)
        theirs.close()

    sender = threading.Thread(target=send)
    sender.start()
    pieces = []
    while piece := wire.receive(ours, wire.PIECE_LIMIT + 1):
        pieces.append(piece)
    sender.join()

    assert {piece[0] for piece in pieces} <= {wire.OUT}
    assert b"".join(piece[1:] for piece in pieces) == data
    assert len(pieces) == -(-size // wire.PIECE_LIMIT)
