"""Colours become escape sequences; mistakes in them are told; paths have their separators."""

from __future__ import annotations

import pytest

from triseek.cli.render.style import OutputStyle, Palette
from triseek.errors import InvalidRequest


@pytest.mark.parametrize(
    ("spec", "escape"),
    [
        ("match:none", b"\x1b[0m"),
        ("match:fg:blue", b"\x1b[0m\x1b[1m\x1b[34m"),
        ("match:bg:7", b"\x1b[0m\x1b[1m\x1b[31m\x1b[48;5;7m"),
        ("match:style:nobold", b"\x1b[0m\x1b[31m"),
        ("match:style:intense", b"\x1b[0m\x1b[1m\x1b[38;5;9m"),
        ("match:fg:0x10,0,255", b"\x1b[0m\x1b[1m\x1b[38;2;16;0;255m"),
    ],
)
def test_colour_specifications_become_escape_sequences(spec: str, escape: bytes) -> None:
    assert Palette([spec]).match_on == escape


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("word:fg:red", "'word' is no element"),
        ("path:fg:mauve", "'mauve' is no colour"),
        ("path:fg:256", "'256' is no colour"),
        ("path:fg:1,2", "'1,2' is no colour"),
        ("path:style:loud", "give path:fg:COLOR"),
        ("path", "give path:fg:COLOR"),
    ],
)
def test_a_colour_that_is_none_is_refused(spec: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        Palette([spec])


def test_a_palette_without_escapes_keeps_all_else() -> None:
    blank = Palette([]).unseen()

    assert blank.path(b"a") == b"a"
    assert blank.marks


def test_a_path_has_the_separator_and_the_colour_asked_for() -> None:
    plain = OutputStyle(path=True, path_separator=b"\\")
    coloured = OutputStyle(path=True, palette=Palette(["path:none"]))

    assert plain.colored_path(b"a/b") == b"a\\b"
    assert coloured.colored_path(b"a/b") == b"\x1b[0ma/b\x1b[0m"
