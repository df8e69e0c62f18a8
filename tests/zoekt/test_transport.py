"""Deadlines, caps and connections, with servers that misbehave."""

from __future__ import annotations

import asyncio
import os
import threading
import time

import pytest

from tests.zoekt import hosts
from tests.zoekt_programs import free_port
from triseek.errors import Cancelled
from triseek.zoekt.addresses import parse
from triseek.zoekt.failure import HostFailure
from triseek.zoekt.transport import Reply, Transport


def send(transport: Transport, url: str, seconds: float = 5.0) -> Reply:
    address = parse(url)[0]
    deadline = time.monotonic() + seconds
    return transport.run(transport.send(address, "GET", "/x", deadline=deadline))


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def transport():
    threads, files = set(threading.enumerate()), descriptors()
    made = Transport(answer_bytes=1 << 20)
    yield made
    made.close()
    until = time.monotonic() + 5  # the servers' own threads and sockets end a little later
    while (set(threading.enumerate()) - threads or descriptors() > files) and (
        time.monotonic() < until
    ):
        time.sleep(0.01)
    assert not [thread for thread in set(threading.enumerate()) - threads if thread.is_alive()]
    assert descriptors() <= files


def test_connections_are_kept_for_the_next_request(transport):
    with hosts.serving(hosts.always(200, "{}")) as host:
        for _ in range(5):
            assert send(transport, host.url) == Reply(200, "application/json", b"{}")

        assert (len(host.requests), host.connections) == (5, 1)
        transport.close()


@pytest.mark.parametrize("behaviour", [hosts.hang, hosts.drip, hosts.drip_header])
def test_a_deadline_ends_whatever_a_request_waits_for(transport, behaviour):
    with hosts.serving(behaviour) as host:
        started = time.monotonic()
        with pytest.raises(HostFailure, match="no answer within the time limit") as failure:
            send(transport, host.url, 0.3)

        assert failure.value.state == "timeout"
        assert time.monotonic() - started < 1.5
        transport.close()


@pytest.mark.parametrize("behaviour", [hosts.flood, hosts.gzip_bomb])
def test_an_endless_answer_is_cut_at_the_cap(transport, behaviour):
    with hosts.serving(behaviour) as host:
        with pytest.raises(HostFailure, match="longer than 1,048,576 bytes") as failure:
            send(transport, host.url, 30)

        assert failure.value.state == "error"
        transport.close()


def test_an_answer_of_exactly_the_cap_is_read(transport):
    with hosts.serving(hosts.always(200, b"x" * (1 << 20))) as host:
        assert len(send(transport, host.url).body) == 1 << 20
        transport.close()


def test_gzip_is_unpacked(transport):
    with hosts.serving(lambda c, _: c.sendall(hosts.gzipped({"a": 1}))) as host:
        assert send(transport, host.url).body == b'{"a": 1}'
        transport.close()


@pytest.mark.parametrize(
    ("encoding", "cut", "message"),
    [("gzip", 5, "its end is missing"), ("br", 0, "an encoding that was not accepted")],
)
def test_what_cannot_be_unpacked_is_refused(transport, encoding, cut, message):
    body = hosts.gzip.compress(b"{}" * 100)
    data = hosts.response(200, body[: len(body) - cut], Content_Encoding=encoding)
    with hosts.serving(lambda c, _: c.sendall(data)) as host:
        with pytest.raises(HostFailure, match=message):
            send(transport, host.url)
        transport.close()


@pytest.mark.parametrize(
    ("body", "message"),
    [(b"no gzip at all", "it is not gzip"),
     (hosts.gzip.compress(b"{}") + b"x" * 100_000, "behind its end")],
)  # fmt: skip
def test_gzip_with_anything_else_is_refused(transport, body, message):
    def behave(connection, _request):
        connection.sendall(hosts.response(200, body, Content_Encoding="gzip"))

    with hosts.serving(behave) as host:
        with pytest.raises(HostFailure, match=message):
            send(transport, host.url)
        transport.close()


def test_a_reset_is_answered_by_one_more_attempt(transport):
    attempts = []

    def reset_once(connection, request):
        attempts.append(request)
        if len(attempts) == 1:
            hosts.reset(connection, request)
        else:
            connection.sendall(hosts.response(200, "{}"))

    with hosts.serving(reset_once) as host:
        assert send(transport, host.url).body == b"{}"
        assert len(attempts) == 2
        transport.close()


def test_a_host_that_resets_twice_is_down(transport):
    with hosts.serving(hosts.reset) as host:
        with pytest.raises(HostFailure, match="the connection broke") as failure:
            send(transport, host.url)

        assert failure.value.state == "down"
        assert len(host.requests) == 2
        transport.close()


def test_a_connection_that_the_host_closed_meanwhile_is_no_failure(transport):
    def once(connection, _request):
        connection.sendall(hosts.response(200, "{}"))
        connection.close()

    with hosts.serving(once) as host:
        for _ in range(5):
            assert send(transport, host.url).body == b"{}"
            time.sleep(0.02)
        transport.close()


def test_nobody_listening_is_named(transport):
    with pytest.raises(HostFailure, match=r"it cannot be reached: Connection refused") as failure:
        send(transport, f"http://127.0.0.1:{free_port()}")

    assert failure.value.state == "down"


@pytest.mark.parametrize(
    "answer", [b"nonsense\r\n\r\n", b"HTTP/1.1 999999 X\r\n\r\n", b"\x16\x03\x01\x00\x00\r\n\r\n",
               b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
               b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"]
)  # fmt: skip
def test_what_is_no_http_is_a_failure_of_the_host(transport, answer):
    def behave(connection, _request):
        connection.sendall(answer)
        connection.close()

    with hosts.serving(behave) as host:
        with pytest.raises(HostFailure) as failure:
            send(transport, host.url)

        assert failure.value.state == "down"
        transport.close()


def test_a_redirect_is_not_followed(transport):
    with (
        hosts.serving(hosts.always(200, "{}")) as other,
        hosts.serving(hosts.always(302, "", Location=f"{other.url}/y")) as host,
    ):
        reply = send(transport, host.url)

        assert (reply.status, reply.location) == (302, f"{other.url}/y")
        assert other.requests == []
        transport.close()


def test_authorization_is_a_header_of_its_own_host(transport):
    with (
        hosts.serving(hosts.always(200, "{}")) as one,
        hosts.serving(hosts.always(200, "{}")) as two,
    ):
        text = f"{one.url.replace('//', '//me:s%40cret@')},{two.url}"
        for address in parse(text):
            transport.run(transport.send(address, "GET", "/x", deadline=time.monotonic() + 5))

        assert one.requests[0].headers["authorization"] == "Basic bWU6c0BjcmV0"
        assert "authorization" not in two.requests[0].headers
        transport.close()


def test_no_proxy_of_the_environment_is_used_for_this_machine(transport, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    with hosts.serving(hosts.always(200, "{}")) as host:
        assert send(transport, host.url).status == 200
        transport.close()


def test_closing_ends_requests_that_run(transport):
    with hosts.serving(hosts.hang) as host:
        errors = []

        def search():
            try:
                send(transport, host.url, 60)
            except Cancelled as error:
                errors.append(error)

        threads = [threading.Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 5
        while len(host.requests) < 3 and time.monotonic() < until:
            time.sleep(0.01)
        transport.close()
        for thread in threads:
            thread.join(5)

        assert len(errors) == 3


def test_a_closed_transport_refuses_requests(transport):
    transport.close()
    transport.close()

    with pytest.raises(Cancelled, match="closed"):
        transport.run(asyncio.sleep(0))
