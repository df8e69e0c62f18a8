"""Where the daemon listens: long paths, no daemon, no permission, TCP."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import sockets
from triseek import paths
from triseek.ipc import address, lock, wire

if TYPE_CHECKING:
    import socket


@pytest.fixture
def listening(home):
    opened = []

    def listen():
        lock.ensure_folder()
        opened.append(address.listen())
        return opened[-1]

    yield listen
    for listener, _, _ in opened:
        listener.close()


def greet(listener: socket.socket) -> bytes:
    """Connect, say something, and return what the other side hears."""
    client = address.connect(5)
    server, _ = listener.accept()
    with server:
        wire.send(client, b"{}")
        client.close()
        return wire.receive(server, 100)


def test_a_connection_reaches_the_listener(listening):
    listener, place, token = listening()

    assert greet(listener) == b"{}"
    assert place == f"unix:{paths.daemon()}/daemon.sock"
    assert token == ""


def test_only_the_owner_may_open_the_socket(listening):
    listening()

    assert stat.S_IMODE(os.stat(paths.daemon()).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(f"{paths.daemon()}/daemon.sock").st_mode) == 0o600


@pytest.mark.parametrize("extra", [b"x", "ü".encode(), b"\xff"])
@pytest.mark.parametrize("length", [60, 90, 200])
def test_a_home_of_any_length_and_spelling_is_reached(
    length, extra, listening, tmp_path, monkeypatch
):
    name = extra + b"h" * (length - len(extra))
    monkeypatch.setenv("TRISEEK_HOME", os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))
    listener, _, _ = listening()

    assert greet(listener) == b"{}"


def test_a_path_too_long_for_the_system_is_said_with_what_to_do(listening, tmp_path, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / ("h" * 200)))
    exists = os.path.isdir
    monkeypatch.setattr(os.path, "isdir", lambda path: "/proc" not in str(path) and exists(path))

    with pytest.raises(address.Forbidden, match="point TRISEEK_HOME at a shorter one"):
        listening()


@pytest.mark.parametrize("length", [20, 200])
def test_no_folder_no_socket_and_a_dead_socket_all_mean_that_none_runs(
    length, listening, tmp_path, monkeypatch
):
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / ("h" * length)))
    with pytest.raises(address.Absent):
        address.connect(1)
    lock.ensure_folder()
    with pytest.raises(address.Absent):
        address.connect(1)
    listening()[0].close()
    assert os.path.exists(f"{paths.daemon()}/daemon.sock")
    with pytest.raises(address.Absent):
        address.connect(1)


def test_a_stale_socket_makes_room_for_a_new_one(listening):
    listening()[0].close()

    assert greet(listening()[0]) == b"{}"


def test_what_is_no_socket_is_not_taken_for_a_missing_daemon(home):
    (home / "daemon").write_text("a file\n")

    with pytest.raises(address.Forbidden):
        address.connect(1)


def test_a_full_queue_is_not_taken_for_a_missing_daemon(home):
    lock.ensure_folder()
    with sockets.bound(f"{paths.daemon()}/daemon.sock") as listener:
        listener.listen(0)
        first = address.connect(1)
        with pytest.raises(address.Stuck):
            address.connect(1)
        first.close()


class TestTcp:
    @pytest.fixture(autouse=True)
    def _tcp(self, monkeypatch):
        monkeypatch.setenv(address.TRANSPORT, "tcp")
        lock.ensure_folder()
        self.held = lock.take()
        yield
        if self.held is not None:
            os.close(self.held)

    def record(self, place: str, token: str = "secret") -> None:
        lock.ensure_folder()
        with open(f"{paths.daemon()}/daemon.json", "w", encoding="utf-8") as file:
            file.write(f'{{"address": "{place}", "token": "{token}"}}')

    def test_the_token_is_shown_before_anything_else(self, listening):
        listener, place, token = listening()
        self.record(place, token)
        client = address.connect(5)
        server, _ = listener.accept()
        with server:
            wire.send(client, b"{}")

            assert wire.receive(server, 100) == b"#" + token.encode()
            assert wire.receive(server, 100) == b"{}"
        client.close()
        assert len(token) == 64
        assert place.startswith("tcp:127.0.0.1:")

    def test_the_port_of_a_dead_daemon_is_not_used(self, listening):
        listener, place, token = listening()
        self.record(place, token)
        os.close(self.held)
        self.held = None
        listener.settimeout(0.1)

        with pytest.raises(address.Absent):
            address.connect(1)
        with pytest.raises(TimeoutError):
            listener.accept()

    def test_two_listeners_have_two_tokens(self, listening):
        assert listening()[2] != listening()[2]

    @pytest.mark.parametrize("place", ["", "tcp:", "tcp:127.0.0.1:x", "unix:/tmp/x", "tcp:::"])
    def test_a_record_that_names_no_port_means_that_none_runs(self, place):
        self.record(place)

        with pytest.raises(address.Absent):
            address.connect(1)

    def test_no_record_and_a_port_nobody_has_mean_that_none_runs(self, listening):
        with pytest.raises(address.Absent):
            address.connect(1)
        listener, place, token = listening()
        self.record(place, token)
        listener.close()
        with pytest.raises(address.Absent):
            address.connect(1)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b"null"])
def test_a_record_that_makes_no_sense_is_an_empty_one(content, home):
    lock.ensure_folder()
    with open(f"{paths.daemon()}/daemon.json", "wb") as file:
        file.write(content)

    assert address.record() == {}


@pytest.mark.root
def test_a_daemon_of_another_user_is_not_used(home):
    """Whoever listened is asked of the kernel, so a socket put in our folder is found out."""
    lock.ensure_folder()
    code = (
        "import os\nfrom tests import sockets\n"
        f"sock = sockets.bound({paths.daemon() + '/daemon.sock'!r})\n"
        "os.seteuid(65534)\nsock.listen()\nprint('listens', flush=True)\ninput()"
    )
    pipe = subprocess.PIPE
    words, root = [sys.executable, "-c", code], Path(__file__).parents[2]
    with subprocess.Popen(words, cwd=root, stdin=pipe, stdout=pipe) as child:
        assert child.stdout.readline() == b"listens\n"
        with pytest.raises(address.Forbidden, match="belongs to another user"):
            address.connect(5)
        child.communicate(b"\n")
