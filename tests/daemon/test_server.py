"""What the server answers, and what it does with clients that misbehave."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests import sockets
from tests.daemon.conftest import eventually
from tests.daemon.serving import (
    CALLS,
    QUICK,
    answer,
    asked,
    pieces,
    serving,
    text,
    until_gone,
    words,
)
from triseek import __version__, logs
from triseek.daemon.server import Handlers, Limits, NotARequest, understand
from triseek.errors import RepoNotDetected
from triseek.ipc import lock, wire


@pytest.fixture
def server(tmp_path):
    with serving(tmp_path / "s") as running:
        yield running


@pytest.fixture
def log(home):
    lock.ensure_folder()
    logs.configure("daemon", "debug")

    def lines(least: int = 1) -> list[dict[str, Any]]:
        """What was logged; a line is written after its answer was sent."""
        until = time.monotonic() + 5
        while True:
            found = Path(logs.path()).read_text(encoding="utf-8").splitlines()
            if len(found) >= least or time.monotonic() > until:
                return [json.loads(line) for line in found]
            time.sleep(0.01)

    yield lines
    logs.close()


@pytest.fixture
def client(server):
    with server.connect() as sock:
        yield sock


def lives(server) -> bool:
    with server.connect() as sock:
        try:
            wire.send(sock, words("echo", "still", "here"))
            return pieces(sock) == [b"1still here", b"=0"]
        except (BrokenPipeError, ConnectionResetError):  # it was told that there are too many
            return False


def closed(sock) -> bool:
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_text_answer_is_pieces_and_then_its_status(client):
    wire.send(client, words("both"))

    assert pieces(client) == [b"1out", b"2err", b"1more", b"=3"]


def test_many_requests_follow_each_other_on_one_connection(client):
    for number in range(50):
        wire.send(client, words("echo", str(number)))
        assert pieces(client) == [b"1%d" % number, b"=0"]


def test_requests_may_be_sent_before_their_answers_are_read(client):
    client.sendall(b"".join(wire.pack(words("echo", str(number))) for number in range(20)))

    assert [pieces(client)[0] for _ in range(20)] == [b"1%d" % number for number in range(20)]


def test_large_output_is_cut_into_pieces(client):
    wire.send(client, words("large", "3000000"))
    found = pieces(client)

    assert max(map(len, found)) == wire.PIECE_LIMIT + 1
    assert sum(len(piece) - 1 for piece in found[:-1]) == 3_000_000


def test_what_is_declined_says_why_and_nothing_else(client):
    wire.send(client, words("decline", "elsewhere"))

    assert pieces(client) == [b"-elsewhere"]


def test_a_handler_that_fails_before_its_first_byte_declines(client, log):
    for word in (("bug", "0"), ("exit",), ("pipe",)):
        wire.send(client, words(*word))
        assert pieces(client) == [b"-internal"]

    assert [line["traceback"].rsplit("\n", 1)[1] for line in log(6) if "traceback" in line] == [
        "ValueError: a bug of ours",
        "SystemExit: 0",
        "BrokenPipeError: another pipe than the client's",
    ]


def test_a_handler_that_fails_later_says_so_and_ends_with_the_status_of_a_bug(client, log):
    wire.send(client, words("bug", "5"))

    said = pieces(client)
    assert said[0] == b"1xxxxx"
    assert said[1].startswith(b"2triseek: the daemon broke off")
    assert said[2] == b"=70"
    assert "a bug of ours" in log()[0]["traceback"]


def test_a_call_answers_with_its_result(client):
    wire.send(client, asked("double", {"number": 21}))

    assert answer(client) == {"ok": True, "result": {"twice": 42}}


def test_an_error_on_purpose_keeps_its_code_and_advice(client):
    wire.send(client, asked("refuse", {"root": "/x"}))

    assert answer(client) == {
        "ok": False,
        "error": {
            "code": "REPO_NOT_DETECTED",
            "message": "/x: no such folder",
            "retryable": False,
            "next_step": "Pass the path of an existing folder.",
            "tool_step": RepoNotDetected.tool_step,
        },
    }


@pytest.mark.parametrize("verb", ["broken", "unsayable"])
def test_a_bug_in_a_call_is_an_internal_error_with_its_traceback_in_the_log(verb, client, log):
    wire.send(client, asked(verb))

    assert answer(client)["error"]["code"] == "INTERNAL"
    wire.send(client, asked("ping"))
    assert answer(client)["ok"]
    assert any("traceback" in line for line in log(2))


def test_an_unknown_verb_is_named(client):
    wire.send(client, asked("x" * 1000))
    told = answer(client)["error"]

    assert told["code"] == "INVALID_REQUEST"
    assert told["message"] == "x" * 40 + ": the daemon knows no such verb"


def test_status_tells_of_the_server_and_what_its_maker_adds(client):
    wire.send(client, asked("status"))
    found = answer(client)["result"]

    assert found["pid"] == os.getpid()
    assert found["version"] == __version__
    assert found["connections"] == found["under_way"] == found["requests"] == 1
    assert found["roots"] == 7


@pytest.mark.parametrize("changed", [{"version": "9.9"}, {"protocol": 2}, {"protocol": "x"}])
def test_another_version_is_told_ours(changed, client):
    wire.send(client, asked("text", {"words": ["echo"]}, **changed))
    assert pieces(client) == [b"-version " + __version__.encode()]

    wire.send(client, asked("double", {"number": 1}, **changed))
    told = answer(client)["error"]
    assert (told["code"], told["retryable"]) == ("VERSION_MISMATCH", True)

    for verb in ("ping", "status"):
        wire.send(client, asked(verb, **changed))
        assert answer(client)["result"]["version"] == __version__


def test_shutdown_forgets_the_record_before_it_answers(tmp_path):
    order = []
    with serving(tmp_path / "s", closing=lambda: order.append("forgotten")) as running:
        with running.connect() as client:
            wire.send(client, asked("shutdown", version="9.9"))
            assert answer(client)["ok"]
            order.append("answered")
        running.thread.join(10)

    assert running.ended == "shutdown"
    assert order == ["forgotten", "answered"]


def test_shutdown_is_done_even_if_nobody_waits_for_the_answer(tmp_path):
    with serving(tmp_path / "s") as running:
        client = running.connect()
        client.sendall(wire.pack(asked("shutdown")))
        client.close()
        running.thread.join(10)

        assert running.ended == "shutdown"


def test_a_request_under_way_is_finished_before_the_end(server):
    with server.connect() as client:
        wire.send(client, words("sleep", "0.2"))
        assert eventually(lambda: server.server._under_way)
        server.server.stop("test")

        assert pieces(client) == [b"1slept", b"=0"]


def test_a_request_that_takes_too_long_does_not_hold_up_the_end(tmp_path):
    going_on, done = threading.Event(), threading.Event()

    def slow(params, streams):
        going_on.wait(20)
        done.set()
        return 0

    with serving(tmp_path / "s", Handlers(slow)) as running, running.connect() as client:
        wire.send(client, words())
        assert eventually(lambda: running.server._under_way)
        begun = time.monotonic()
        running.server.stop("test")
        running.thread.join(10)
        took = time.monotonic() - begun
        cut = closed(client)
        going_on.set()
        assert done.wait(5)
        assert eventually(lambda: not running.server._open)

    assert took < 5
    assert cut


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 20\r\n\r\n" + asked("shutdown"),
        b'{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}\n',
        wire.pack(b"Xanything"),
        wire.pack(b"1out"),
        wire.pack(b"[]"),
        wire.pack(b" {}"),
        wire.pack(b"{}"),
        wire.pack(b"{"),
        wire.pack(b"{" * 1000),
        wire.pack(b'{"a":' * 150_000),
        wire.pack(b'{"a":' + b"9" * 10_000 + b"}"),
        wire.pack(b"\xff\xfe{\0}\0"),
        wire.pack(b'{"verb": "\xff"}'),
        wire.pack(asked("text").replace(b'"params": {}', b'"params": []')),
        wire.pack(asked("text").replace(b'"text"', b"7")),
        wire.pack(asked("text", version=None)),
        wire.pack(b"{" + b" " * wire.REQUEST_LIMIT),
        b"\xff\xff\xff\xff" + b"x" * 100_000,
        b"\0\0\0\0",
        bytes(range(256)) * 400,
    ],
    ids=lambda sent: repr(sent[:20]),
)
def test_what_is_no_request_closes_the_connection_and_nothing_else(sent, server, log):
    with server.connect() as client:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(sent)  # it may be closed before all is said
        assert closed(client)

    assert lives(server)
    assert log()[0]["event"] == "connection closed: no request"
    assert len(json.dumps(log()[0])) < 500


@pytest.mark.parametrize("sent", [b"\0", b"\0\0\0\x10", wire.pack(words("echo"))[:-1]])
def test_half_a_frame_is_given_up_after_a_while(sent, server):
    with server.connect() as client:
        begun = time.monotonic()
        client.sendall(sent)

        assert closed(client)  # within the client's own time-out
        assert time.monotonic() - begun > 0.2
    assert lives(server)


def test_a_slow_loris_is_given_up_though_it_never_stops(server):
    with server.connect() as client:

        def drip() -> None:
            for byte in wire.pack(words("echo", "x" * 10_000)):
                client.sendall(bytes((byte,)))
                time.sleep(0.05)

        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            drip()


def test_a_connection_that_says_nothing_is_closed(tmp_path):
    with serving(tmp_path / "s", limits=Limits(idle_s=0.1)) as running, running.connect() as client:
        assert closed(client)


def test_a_slow_reader_is_waited_for(server):
    """Somebody reads the output in a pager: limits are for requests, not for answers."""
    with server.connect() as client:
        wire.send(client, words("large", "3000000"))
        time.sleep(QUICK.whole_s + QUICK.gap_s)

        assert sum(len(piece) - 1 for piece in pieces(client)[:-1]) == 3_000_000


def test_a_handler_learns_that_its_client_has_left(tmp_path):
    seen = threading.Event()
    with serving(tmp_path / "s", Handlers(until_gone(seen))) as running:
        client = running.connect()
        wire.send(client, words())
        assert wire.receive(client, 100) == b"1begun"
        assert not seen.wait(0.1)
        client.close()

        assert seen.wait(5)


def test_a_client_that_has_sent_more_has_not_left(tmp_path):
    seen = threading.Event()
    with serving(tmp_path / "s", Handlers(until_gone(seen))) as running:
        with running.connect() as client:
            wire.send(client, words())
            wire.send(client, words())
            assert wire.receive(client, 100) == b"1begun"
            assert not seen.wait(0.1)

        assert seen.wait(5)


def test_writing_to_a_client_that_has_left_breaks_the_pipe(tmp_path):
    broken = threading.Event()

    def endless(params, streams):
        try:
            while True:
                streams.out(bytes(100_000))
        except BrokenPipeError:
            broken.set()
            raise

    with serving(tmp_path / "s", Handlers(endless)) as running:
        client = running.connect()
        wire.send(client, words())
        wire.receive(client, wire.ANSWER_LIMIT)
        client.close()

        assert broken.wait(5)
        with running.connect() as another:
            wire.send(another, asked("ping"))
            assert answer(another)["ok"]


def test_above_the_limit_text_is_busy_and_status_still_answers(tmp_path):
    limits = Limits(connections=4, spare=2, gap_s=2)
    with serving(tmp_path / "s", limits=limits) as running:
        held = [running.connect() for _ in range(4)]
        for sock in held:  # each is known to have its thread
            wire.send(sock, asked("ping"))
            answer(sock)

        with running.connect() as fifth:
            wire.send(fifth, words("echo"))
            assert pieces(fifth) == [b"-busy"]
            assert closed(fifth)
        with running.connect() as fifth:
            wire.send(fifth, asked("double", {"number": 1}))
            assert answer(fifth)["error"]["code"] == "BUSY"
            assert closed(fifth)
        with running.connect() as fifth:
            wire.send(fifth, asked("status"))
            assert answer(fifth)["ok"]
            assert closed(fifth)
        spare = [running.connect(), running.connect()]
        time.sleep(0.1)
        with running.connect() as seventh:
            assert wire.receive(seventh, 100) == b"-busy"

        for sock in held + spare:
            sock.close()
        assert eventually(lambda: lives(running))


def test_a_hundred_and_fifty_connections_at_once_all_hear_something(tmp_path):
    with serving(tmp_path / "s", limits=Limits()) as running:
        socks = [running.connect() for _ in range(150)]
        heard = []
        for sock in socks:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                wire.send(sock, words("echo", "x"))
            heard.append(pieces(sock)[-1])
            assert heard[-1] in (b"=0", b"-busy")
        for sock in socks:
            sock.close()

        assert heard.count(b"=0") == 64
        assert heard.count(b"-busy") == 86


def test_thousands_of_frames_good_and_bad_in_any_pieces_each_get_their_own_answer(server):
    """Eight clients, seeded: whole, cut and spoilt frames, some clients leaving midway."""
    failures: list[str] = []

    def misbehave(seed: int) -> None:
        chance = random.Random(seed)
        sock = server.connect()
        for number in range(500):
            kind = chance.random()
            if kind < 0.8:
                expected = f"{seed}-{number}-" + "y" * chance.choice((0, 10, 3000))
                frame = wire.pack(words("echo", expected))
                cut = chance.randrange(1, len(frame))
                sock.sendall(frame[:cut])
                sock.sendall(frame[cut:])
                if pieces(sock) != [b"1" + expected.encode(), b"=0"]:
                    failures.append(expected)
                continue
            if kind < 0.9:
                sock.sendall(wire.pack(words("echo"))[: chance.randrange(1, 40)])
            else:
                sock.sendall(chance.randbytes(chance.randrange(4, 300)))
            sock.close()
            sock = server.connect()
        sock.close()

    threads = [threading.Thread(target=misbehave, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert lives(server)


def test_nothing_asked_for_a_while_ends_it_though_connections_are_open(tmp_path):
    with serving(tmp_path / "s", idle_exit_s=0.3) as running, running.connect():
        running.thread.join(5)

        assert running.ended == "idle"


def test_requests_put_the_idle_exit_off(tmp_path):
    with serving(tmp_path / "s", idle_exit_s=0.4) as running, running.connect() as client:
        for _ in range(8):
            wire.send(client, asked("ping"))
            assert answer(client)["ok"]
            time.sleep(0.1)
        wire.send(client, words("sleep", "0.8"))
        assert pieces(client) == [b"1slept", b"=0"]
        running.thread.join(5)

        assert running.ended == "idle"


def test_a_token_is_asked_for_where_there_is_one(tmp_path, log):
    with serving(tmp_path / "s", token="right") as running:
        for shown in (b"#wrong", b"#", asked("ping"), b"#right "):
            with running.connect() as client:
                wire.send(client, shown)
                assert closed(client)
        with running.connect() as client:
            wire.send(client, b"#right")
            wire.send(client, asked("ping"))
            assert answer(client)["ok"]


@pytest.mark.root
def test_another_user_is_not_listened_to(server, log, tmp_path):
    tmp_path.chmod(0o755)
    for parent in list(tmp_path.parents)[:-2]:
        if parent.stat().st_uid == 0 and parent != parent.parent:
            parent.chmod(parent.stat().st_mode | 0o011)
    os.chmod(server.path, 0o666)
    heard, done = os.pipe()
    child = os.fork()
    if child == 0:
        sock = socket.socket(socket.AF_UNIX)
        with sockets.short(server.path) as name:
            os.setuid(65534)
            sock.connect(name)
        try:
            sock.sendall(wire.pack(asked("ping")))
            said = sock.recv(100)
        except OSError:
            said = b""
        os.write(done, said or b"nothing")
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(heard, 100) == b"nothing"
    os.close(heard)
    os.close(done)
    assert log()[0]["event"] == "connection closed: another user's"


def test_a_request_is_logged_with_an_id_of_its_own(client, log):
    wire.send(client, asked("text", {"words": ["echo", "x"], "cwd": "/some/where"}))
    pieces(client)
    wire.send(client, asked("ping"))
    answer(client)
    wire.send(client, asked("ping"))
    answer(client)

    first, second = log(3)[:2]
    assert (first["event"], first["verb"], first["root"], first["outcome"]) == (
        "request",
        "text",
        "/some/where",
        "exit status 0",
    )
    assert first["ms"] >= 0
    assert first["request"] != second["request"]


@pytest.mark.parametrize("payload", [b"1", b"{", b'{"verb": "ping"}'])
def test_a_payload_that_is_no_request_is_not_understood(payload):
    with pytest.raises(NotARequest):
        understand(payload)


def test_handlers_need_no_calls():
    assert dict(Handlers(text).calls) == {}
    assert "double" in CALLS
