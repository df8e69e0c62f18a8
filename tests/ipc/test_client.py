"""What a client makes of answers, of which some are not answers."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time

import pytest

from tests import sockets
from triseek import errors, paths
from triseek.ipc import address, client, lock, wire


@pytest.fixture
def answering(home):
    """A daemon of one answer: the bytes it will send."""
    lock.ensure_folder()
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
    lock.ensure_folder()
    with sockets.bound(f"{paths.daemon()}/daemon.sock") as listener:
        listener.listen(1)
        with pytest.raises(errors.DaemonUnreachable, match="does not answer"):
            client.ask("x", timeout_s=0.1)


def test_no_daemon_is_an_unreachable_daemon():
    with pytest.raises(errors.DaemonUnreachable, match="no daemon is running"):
        client.ask("x")


class Listener:
    """Accepts connections, answers pings if it lives, and anything else after a while or never."""

    def __init__(self, *, lives, answers_after_s=None):
        lock.ensure_folder()
        self._socket = sockets.bound(f"{paths.daemon()}/daemon.sock")
        self._socket.listen(16)
        self._lives, self._after = lives, answers_after_s
        self.asked = []
        self._held = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self._socket.accept()
            except OSError:
                return
            self._held.append(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        verb = json.loads(wire.receive(sock, wire.REQUEST_LIMIT))["verb"]
        self.asked.append(verb)
        if verb == "ping" and self._lives:
            sock.sendall(wire.pack(b'{"ok": true, "result": {}}'))
        elif verb != "ping" and self._after is not None:
            time.sleep(self._after)
            sock.sendall(wire.pack(b'{"ok": true, "result": {"late": 1}}'))

    def close(self):
        for sock in (self._socket, *self._held):
            sock.close()


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(address, "SILENCE_S", 0.1)
    monkeypatch.setattr(address, "ALIVE_S", 0.1)


def test_a_daemon_that_answers_nobody_is_given_up_and_not_asked_again(home, short, monkeypatch):
    # The daemon's process is this one, whose own work must not count as a sign of life.
    monkeypatch.setattr(address, "_WORKING_SHARE", 10.0)
    listener = Listener(lives=False)
    with contextlib.closing(listener):
        for _ in range(3):
            with pytest.raises(errors.DaemonUnreachable, match="does not answer") as raised:
                client.ask("session_list", timeout_s=600)
            assert raised.value.next_step == "Run `triseek daemon restart --force`."

    assert listener.asked == ["session_list", "ping"]


def test_a_daemon_that_works_on_it_is_waited_for_while_it_lives(home, short):
    listener = Listener(lives=True, answers_after_s=0.5)
    with contextlib.closing(listener):
        assert client.ask("session_list", timeout_s=600) == {"late": 1}

    assert listener.asked.count("ping") >= 2


def test_a_daemon_that_works_too_hard_to_answer_is_waited_for(home, short):
    """Its process uses CPU time: the machine is overloaded, or kernels are being compiled."""
    listener, over = Listener(lives=False, answers_after_s=0.6), threading.Event()

    def work():
        while not over.is_set():
            sum(range(1_000))

    worker = threading.Thread(target=work)
    worker.start()
    with contextlib.closing(listener):
        try:
            assert client.ask("session_list", timeout_s=600) == {"late": 1}
        finally:
            over.set()
            worker.join()

    assert "ping" in listener.asked


def test_a_queue_that_is_full_is_no_reason_to_wait(home, short, monkeypatch):
    monkeypatch.setattr(address, "CONNECT_S", 0.1)
    lock.ensure_folder()
    where = f"{paths.daemon()}/daemon.sock"
    with sockets.bound(where) as listener, contextlib.ExitStack() as waiting:
        listener.listen(0)
        for _ in range(2):  # nobody accepts: the queue takes one or two
            sock = waiting.enter_context(socket.socket(socket.AF_UNIX))
            sock.setblocking(False)
            with contextlib.suppress(BlockingIOError), sockets.short(where) as name:
                sock.connect(name)
        with pytest.raises(errors.DaemonUnreachable, match="does not answer"):
            client.ask("status", timeout_s=600)


def test_the_longest_wait_is_below_five_seconds():
    assert 2 * address.CONNECT_S + address.SILENCE_S + address.ALIVE_S < 5
