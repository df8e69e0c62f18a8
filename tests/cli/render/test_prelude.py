"""What stands before the text of a line."""

from __future__ import annotations

import pytest

from tests.cli.render.rendering import found_in
from triseek.cli.render.prelude import Prelude, PreludeStyle
from triseek.cli.render.style import OutputStyle, Palette

ALL = OutputStyle(path=True, line_number=True, column=True, byte_offset=True)


@pytest.mark.parametrize(
    ("style", "match", "context"),
    [
        (ALL, b"a%b:7:3:90:", b"a%b-7-90-"),
        (OutputStyle(path=True, heading=True, line_number=True), b"7:", b"7-"),
        (OutputStyle(path=True, path_terminator=b"\0"), b"a%b\0", b"a%b\0"),
        (OutputStyle(path=False, byte_offset=True, field_match_separator=b"%"), b"90%", b"90-"),
    ],
)
def test_fields_are_those_asked_for(style: OutputStyle, match: bytes, context: bytes) -> None:
    prelude = Prelude(PreludeStyle(style), b"a%b")

    assert prelude.written(7, 3, 90, context=False) == match
    assert prelude.written(7, None, 90, context=True) == context


def test_the_formats_for_many_lines_write_the_same() -> None:
    look = OutputStyle(path=True, line_number=True, byte_offset=True, palette=Palette([]))
    prelude = Prelude(PreludeStyle(look), b"a%b")
    figures = prelude.figures(found_in(b"x\nb\n", [0, 1]).rows)

    assert figures == [[1, 2], [0, 2]]
    for kind, form in enumerate(prelude.formats()):
        written = prelude.written(7, None, 90, context=bool(kind))
        assert form % (7, 90, b"text") == written + b"text"
