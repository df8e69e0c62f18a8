"""Values of flags mean what they mean to ripgrep."""

from __future__ import annotations

import pytest

from triseek.cli.flags import size, unescape


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5", 5), ("5K", 5 << 10), ("5M", 5 << 20), ("5G", 5 << 30)],
)
def test_sizes_have_ripgreps_suffixes(text: str, expected: int) -> None:
    assert size(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", b"a"),
        (r"\t", b"\t"),
        (r"\x7F", b"\x7f"),
        (r"\xZ", rb"\xZ"),
        ("\\", b"\\"),
        ("é", "é".encode()),
    ],
)
def test_separators_are_unescaped_as_ripgrep_does(text: str, expected: bytes) -> None:
    assert unescape(text) == expected
