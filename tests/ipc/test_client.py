"""What a client makes of answers, of which some are not answers."""

from __future__ import annotations

import threading

import pytest

from tests import sockets
from triseek import errors, paths
from triseek.ipc import client, folder, wire


@pytest.fixture
def answering(home):
    """A daemon of one answer: the bytes it will send."""
    folder.ensure()
    threads = []

    def answer(data: bytes) -> None:
        listener = sockets.bound(f"{paths.daemon()}/daemon.sock")
        listener.listen(1)

        def once() -> None:
            sock, _ = listener.accept()
            with listener, sock:
                wire.receive(sock, wire.REQUEST_LIMIT)
                sock.sendall(data)

        threads.append(threading.Thread(target=once))
        threads[-1].start()

    yield answer
    for thread in threads:
        thread.join()


def test_a_result_is_returned(answering):
    answering(wire.pack(b'{"ok": true, "result": {"a": "\\udc80"}}'))

    assert client.ask("x") == {"a": "\udc80"}


def test_an_error_is_raised_as_the_class_of_its_code(answering):
    answering(
        wire.pack(
            b'{"ok": false, "error": {"code": "INDEX_STALE", "message": "old", '
            b'"retryable": true, "next_step": "wait"}}'
        )
    )
    with pytest.raises(errors.IndexStale, match="old") as raised:
        client.ask("x")
    assert raised.value.next_step == "wait"


def test_an_error_of_a_later_version_keeps_its_code(answering):
    answering(
        wire.pack(
            b'{"ok": false, "error": {"code": "NEW", "message": "m", '
            b'"retryable": true, "next_step": ""}}'
        )
    )
    with pytest.raises(errors.TriseekError, match="m") as raised:
        client.ask("x")
    assert (raised.value.code, raised.value.retryable) == ("NEW", True)
    assert errors.TriseekError.code == "INTERNAL"


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (b"busy", errors.Busy),
        (b"version 9", errors.VersionMismatch),
        (b"other", errors.DaemonUnreachable),
    ],
)
def test_what_is_declined_is_raised(reason, kind, answering):
    answering(wire.pack(b"-" + reason))

    with pytest.raises(kind):
        client.ask("x")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0",
        b"\0\0\0\x09{",
        b"HTTP/1.1 400 Bad Request\r\n",
        wire.pack(b"{"),
        wire.pack(b"\xff"),
        wire.pack(b"{}"),
        wire.pack(b"[]"),
        wire.pack(b'{"ok": true, "result": 3}'),
        wire.pack(b'{"ok": true}'),
        wire.pack(b'{"ok": false, "error": {"code": "BUSY"}}'),
        wire.pack(b'{"ok": false, "error": 3}'),
        wire.pack(b"1out"),
    ],
)
def test_nonsense_is_an_unreachable_daemon(data, answering):
    answering(data)

    with pytest.raises(errors.DaemonUnreachable):
        client.ask("x")


def test_silence_is_an_unreachable_daemon(home):
    folder.ensure()
    with sockets.bound(f"{paths.daemon()}/daemon.sock") as listener:
        listener.listen(1)
        with pytest.raises(errors.DaemonUnreachable, match="does not answer"):
            client.ask("x", timeout_s=0.1)


def test_no_daemon_is_an_unreachable_daemon():
    with pytest.raises(errors.DaemonUnreachable, match="no daemon is running"):
        client.ask("x")
