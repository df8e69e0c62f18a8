"""Rendering by itself: rows in, bytes out, and the two ways through are one."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.cli.render.color import Palette
from triseek.cli.render.found import Found, Rows
from triseek.cli.render.json_lines import JsonLines
from triseek.cli.render.look import Look
from triseek.cli.render.output import Output
from triseek.cli.render.standard import Standard
from triseek.engine.backends.base import ROW
from triseek.errors import Cancelled
from triseek.model import budget
from triseek.model.search import PatternSpec
from triseek.query.pattern import compile as compile_pattern

ESCAPE = re.compile(rb"\x1b\[[0-9;]*m")


class Kept(Output):
    """Output that stays in memory."""

    def flush(self) -> None:
        pass

    def all(self) -> bytes:
        return b"".join(self._pieces)


PATTERN = compile_pattern(PatternSpec(patterns=("x+",)))


def found_in(text: bytes, chosen: list[int]) -> Found:
    """The chosen lines of a text; those without an x are context."""
    rows, offset = [], 0
    for number, line in enumerate(text.splitlines(keepends=True)):
        end = offset + len(line)
        if number in chosen:
            rows.append((0, number + 1, offset, offset, end, b"x" not in line))
        offset = end
    return Found(b"a%b", Rows.of(np.array(rows, ROW)), text, len(rows), PATTERN)


def rendered(look: Look, found: Found) -> bytes:
    out = Kept()
    Standard(look, out).file(found)
    return out.all()


@pytest.mark.parametrize("renderer", [Standard, JsonLines])
def test_nothing_is_written_for_a_client_that_has_gone(
    renderer: type[Standard | JsonLines],
) -> None:
    def ask() -> None:
        raise Cancelled("the client has gone")

    with budget.limited(ask=ask), pytest.raises(Cancelled):
        renderer(Look(path=True, stats=True), Kept()).file(found_in(b"x\n" * 9, list(range(9))))


looks = st.fixed_dictionaries(
    {
        "path": st.booleans(),
        "heading": st.booleans(),
        "line_number": st.booleans(),
        "byte_offset": st.booleans(),
        "context": st.booleans(),
        "context_separator": st.sampled_from([b"--", b"", None, b"%d"]),
        "match_separator": st.sampled_from([b":", b"", b"%"]),
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

    bulk = rendered(Look(**fields), found)  # type: ignore[arg-type]
    apart = rendered(Look(**fields, stats=True), found)  # type: ignore[arg-type]
    coloured = rendered(Look(**fields, palette=Palette([])), found)  # type: ignore[arg-type]

    assert apart == bulk
    assert ESCAPE.sub(b"", coloured) == bulk


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
