"""Addresses to listen on."""

from __future__ import annotations

import pytest

from triseek.errors import Busy, InvalidRequest
from triseek.loopback.address import Address, listening


@pytest.mark.parametrize("text", ["", "80", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                                  "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:٣"])  # fmt: skip
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        Address.parse(text)


@pytest.mark.parametrize("text", ["127.0.0.1:0", "[::1]:8080", "localhost:65535"])
def test_an_address_of_this_machine_is_accepted(text: str) -> None:
    address = Address.parse(text)

    assert Address.parse(address.authority) == address


def test_a_port_in_use_is_refused_by_name() -> None:
    sock, address = listening(Address("127.0.0.1", 0))
    with sock, pytest.raises(Busy, match=f"cannot listen on 127.0.0.1:{address.port}"):
        listening(address)
