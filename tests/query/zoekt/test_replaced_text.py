"""Texts with bytes that are not UTF-8, as Go reads them."""

from __future__ import annotations

import pytest

from triseek.query.zoekt.replaced_text import replaced_text


@pytest.mark.parametrize("text", [b"", b"plain", "é 日本 \ufffd".encode()])
def test_text_in_utf8_stays_as_it_is(text: bytes) -> None:
    assert replaced_text(text) is None


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (b"a\xffb", "a\ufffdb"),
        (b"\xe2\x82x", "\ufffd\ufffdx"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        ("é\ufffd".encode() + b"\xc3", "é\ufffd\ufffd"),
    ],
)
def test_each_wrong_byte_becomes_a_character(text: bytes, data: str) -> None:
    replaced = replaced_text(text)
    assert replaced is not None
    assert replaced.data.decode() == data


def test_spans_are_those_of_the_original_text() -> None:
    text = "é".encode() + b"a\xff\xfeb" + "\ufffd".encode() + b"\xe9c"
    replaced = replaced_text(text)
    assert replaced is not None
    characters = [text[:2], b"a", b"\xff", b"\xfe", b"b", "\ufffd".encode(), b"\xe9", b"c"]
    at = begin = 0
    for character, shown in zip(characters, replaced.data.decode(), strict=True):
        span = (at, at + len(shown.encode()))
        assert replaced.original(span) == (begin, begin + len(character))
        at, begin = span[1], begin + len(character)
