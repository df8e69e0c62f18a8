"""Output goes to the client in whole pieces, and a client that has left is noticed."""

from __future__ import annotations

import socket
import threading

import pytest

from triseek.daemon.streams import Streams
from triseek.ipc import wire


@pytest.fixture
def pair():
    """The daemon's end of a connection, and the client's."""
    ours, client = socket.socketpair()
    with ours, client:
        client.settimeout(10)
        yield ours, client


def test_each_stream_has_its_own_pieces(pair):
    ours, client = pair
    streams = Streams(ours)
    streams.out(b"result")
    streams.err(memoryview(b"warning"))

    assert wire.receive(client, wire.PIECE_LIMIT) == b"1result"
    assert wire.receive(client, wire.PIECE_LIMIT) == b"2warning"


def test_a_request_can_be_declined_until_something_was_sent(pair):
    streams = Streams(pair[0])
    streams.out(b"")
    assert not streams.started

    streams.out(b"x")
    assert streams.started
    assert wire.receive(pair[1], wire.PIECE_LIMIT) == b"1x"


def test_pieces_of_several_threads_are_not_interleaved(pair):
    ours, client = pair
    streams = Streams(ours)
    sizes = dict.fromkeys(b"abcd", 50000)
    threads = [
        threading.Thread(target=streams.out, args=(bytes((letter,)) * size,))
        for letter, size in sizes.items()
    ]
    for thread in threads:
        thread.start()
    pieces = [wire.receive(client, wire.PIECE_LIMIT) for _ in threads]
    for thread in threads:
        thread.join()

    assert {piece[1]: piece.count(piece[1]) for piece in pieces} == sizes


def test_a_client_is_there_until_it_closes(pair):
    ours, client = pair
    streams = Streams(ours)
    assert not streams.gone()

    client.sendall(b"the next request")
    assert not streams.gone()

    ours.recv(100)
    client.close()
    assert streams.gone()


def test_a_client_that_closes_its_sending_half_is_gone(pair):
    pair[1].shutdown(socket.SHUT_WR)

    assert Streams(pair[0]).gone()


def test_writing_to_a_client_that_has_left_is_a_broken_pipe(pair):
    pair[1].close()

    with pytest.raises(BrokenPipeError, match="the client is gone"):
        Streams(pair[0]).out(bytes(1 << 20))
