"""Who is refused by the headers of a request."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from triseek.loopback.address import Address
from triseek.loopback.host_guard import ServerNames, knows, only

NAMES = ServerNames(Address("127.0.0.2", 8700))


def headers(**values: str) -> Headers:
    return Headers(values)


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST", "[::1]", "127.0.0.2"])
def test_the_servers_own_names_and_pages_are_accepted(host):
    assert NAMES.refusal(headers(host=f"{host}:8700")) is None
    assert NAMES.refusal(headers(host=f"{host}:8700", origin=f"http://{host}:8700")) is None


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (headers(), 421),
        (headers(host="localhost"), 421),
        (headers(host="localhost:1"), 421),
        (headers(host="evil.example:8700"), 421),
        (headers(host="localhost:8700", origin="https://localhost:8700"), 403),
        (headers(host="localhost:8700", origin="null"), 403),
        (Headers(raw=[(b"host", b"localhost:8700"), (b"host", b"localhost:8700")]), 421),
    ],
)
def test_other_hosts_and_foreign_pages_are_refused(asked, status):
    assert NAMES.refusal(asked).status == status


@pytest.mark.parametrize(
    ("authorization", "is_known"),
    [("Bearer s3cret", True), ("bearer  s3cret ", True), ("Basic s3cret", False),
     ("Bearer s3cre", False), ("Bearer é", False), ("", False)],
)  # fmt: skip
def test_a_token_is_a_bearers(authorization, is_known):
    sent = Headers(raw=[(b"authorization", authorization.encode("latin-1"))])

    assert knows(sent, "s3cret") is is_known


def test_a_header_counts_if_there_is_one_of_it():
    twice = Headers(raw=[(b"x-a", b"1"), (b"x-a", b"2"), (b"x-b", b"3")])

    assert (only(twice, "x-a"), only(twice, "x-b"), only(twice, "x-c")) == ("", "3", "")
