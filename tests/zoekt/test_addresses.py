"""Addresses of hosts."""

from __future__ import annotations

import pytest

from triseek.errors import InvalidRequest
from triseek.zoekt.addresses import parse


def test_addresses_are_separated_by_commas_and_kept_once():
    text = " http://a:6070/ ,https://code.example/zoekt,, http://a:6070 "

    assert [(address.name, address.url) for address in parse(text)] == [
        ("a:6070", "http://a:6070"),
        ("code.example/zoekt", "https://code.example/zoekt"),
    ]


def test_a_user_name_and_password_become_a_header_and_are_shown_nowhere():
    address = parse("https://me:p%3Aw@[::1]:6070#weight=2.5", "Bearer other")[0]

    assert address.authorization == "Basic bWU6cDp3"
    assert (address.name, address.url) == ("[::1]:6070", "https://[::1]:6070")
    assert address.weight == 2.5
    assert "p%3Aw" not in repr(address)
    assert "bWU6" not in repr(address)


def test_the_authorization_of_the_settings_is_for_hosts_without_their_own():
    assert parse("http://a", "Bearer x")[0].authorization == "Bearer x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no host that runs Zoekt is set"),
        (" , ", "no host"),
        ("a:6070", "address 1 of zoekt.api_url does not begin with http"),
        ("http://a, ftp://me:secret@b", "address 2 .* does not begin with http"),
        ("http://", "does not begin"),
        ("http://a:0", "does not begin"),
        ("http://a:99999", "is no URL"),
        ("http://[::1", "is no URL"),
        ("http://a b", "characters that no URL has"),
        ("http://é", "characters that no URL has"),
        ("http://me:secret@a?x=1", "has a query"),
        ("http://me:secret@a#weight=0", "weight= and a number"),
        ("http://a#weight=nan", "weight="),
        ("http://a#2", "weight="),
        (",".join(f"http://h{i}" for i in range(1_001)), "more than 1,000 hosts"),
    ],
)
def test_what_is_no_address_is_refused_without_its_password(text, message):
    with pytest.raises(InvalidRequest, match=message) as error:
        parse(text)

    assert "secret" not in error.value.message + error.value.next_step
