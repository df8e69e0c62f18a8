"""Where words begin, against a slow and obvious twin."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.context_pack.words import LOOSE, occurrences


def found(text: bytes, stem: bytes, most: int = 100) -> list[tuple[int, float]]:
    return [tuple(each) for each in occurrences(text, text.lower(), stem, most)]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (b"cookie jar", [(0, 1.0)]),
        (b"get_cookies getCookies COOKIES", [(4, 1.0), (15, 1.0), (23, 1.0)]),
        (b"cookieJar CookieJar", [(0, 1.0), (10, 1.0)]),
        (b"HTTPCookie", [(4, 1.0)]),
        (b"2cookies", [(1, 1.0)]),
        (b"cookiecutter", [(0, LOOSE)]),
        (b"Xcookie XCOOKIE recookie", []),
    ],
)
def test_words_begin_at_humps_and_after_what_is_no_letter(text, places):
    assert found(text, b"cooki") == places


def test_no_more_are_given_than_asked_for():
    assert len(found(b"port " * 50, b"port", most=7)) == 7


@given(st.text("aAbB_ 1", max_size=40).map(str.encode))
def test_they_are_those_of_a_regular_expression(text):
    begins = rb"(?:(?<![A-Za-z])[Aa]|(?<=[a-z])A|(?<=[A-Z])A(?=[a-z]))[Bb]"

    expected = [match.start() for match in re.finditer(begins, text)]

    assert [at for at, _ in found(text, b"ab")] == expected
