"""Rows that are taken apart are written as in bulk; what is too long is cut or left out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.render.rendering import found_in, rendered
from triseek.cli.render.rows import Prelude, escaped
from triseek.cli.render.style import OutputStyle, Palette

ESCAPE = re.compile(rb"\x1b\[[0-9;]*m")


looks = st.fixed_dictionaries(
    {
        "path": st.booleans(),
        "heading": st.booleans(),
        "line_number": st.booleans(),
        "byte_offset": st.booleans(),
        "context": st.booleans(),
        "context_separator": st.sampled_from([b"--", b"", None, b"%d"]),
        "field_match_separator": st.sampled_from([b":", b"", b"%"]),
        "path_terminator": st.sampled_from([b"", b"\0"]),
    }
)


@given(
    looks,
    st.lists(st.sampled_from(["", "x", "abc", "axxb x", "100%d"]), min_size=1, max_size=12),
    st.data(),
)
def test_taking_rows_apart_writes_what_formatting_in_bulk_writes(
    fields: dict[str, object], lines: list[str], data: st.DataObject
) -> None:
    """Statistics need every match located; they change nothing else about the output."""
    ended = data.draw(st.booleans()) or not lines[-1]
    text = "\n".join(lines).encode() + (b"\n" if ended else b"")
    chosen = data.draw(st.lists(st.integers(0, len(lines) - 1), min_size=1, unique=True))
    found = found_in(text, sorted(chosen))

    bulk = rendered(OutputStyle(**fields), found)  # type: ignore[arg-type]
    apart = rendered(OutputStyle(**fields, stats=True), found)  # type: ignore[arg-type]
    coloured = rendered(OutputStyle(**fields, palette=Palette([])), found)  # type: ignore[arg-type]

    assert apart == bulk
    assert ESCAPE.sub(b"", coloured) == bulk


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        ({"only_matching": True}, b"xx\nx\n"),
        ({"per_match": True, "column": True}, b"2:axx bx c\n6:axx bx c\n"),
        ({"max_columns": 4}, b"[Omitted long matching line]\n"),
        ({"max_columns": 4, "column": True}, b"2:[Omitted long line with 2 matches]\n"),
        ({"max_columns": 4, "max_columns_preview": True}, b"axx  [... omitted end of long line]\n"),
        (
            {"max_columns": 4, "max_columns_preview": True, "stats": True},
            b"axx  [... 1 more match]\n",
        ),
    ],
)
def test_matches_stand_alone_and_long_lines_are_cut_as_ripgrep_does(
    style: dict[str, object], shown: bytes
) -> None:
    look = OutputStyle(path=False, **style)  # type: ignore[arg-type]

    assert rendered(look, found_in(b"axx bx c\n", [0])) == shown


def test_leading_white_space_is_trimmed() -> None:
    assert rendered(OutputStyle(path=False, trim=True), found_in(b" \t x y\n", [0])) == b"x y\n"


# What comes before the text of a line

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
    prelude = Prelude(style)
    before_match, before_context = prelude.leads(b"a%b")

    assert before_match + prelude.fields(7, 3, 90, context=False) == match
    assert before_context + prelude.fields(7, None, 90, context=True) == context


def test_the_formats_for_many_lines_write_the_same() -> None:
    look = OutputStyle(path=True, line_number=True, byte_offset=True, palette=Palette([]))
    prelude = Prelude(look)
    figures = prelude.figures(found_in(b"x\nb\n", [0, 1]).rows)

    assert figures == [[1, 2], [0, 2]]
    for kind, lead in enumerate(prelude.leads(b"a%b")):
        fields = prelude.fields(7, None, 90, context=bool(kind))
        form = escaped(lead) + prelude.form(kind) + b"%b"
        assert form % (7, 90, b"text") == lead + fields + b"text"
