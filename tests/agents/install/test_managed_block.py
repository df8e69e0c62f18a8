"""Our block comes and is replaced; no other byte of the file changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.agents.install.managed_block import BEGIN, END, put
from triseek.errors import InvalidRequest

LINES = st.lists(
    st.sampled_from(
        [
            b"# Title", b"", b"  text", b"\xff\xfe raw", "é ü".encode(), b"<!-- comment -->", b"\t",
            b"```", b"TRISEEK:BEGIN", b"\x00", b"a\rb", b"<!-- TRISEEK:BEGIN other -->",
        ]
    ),
    max_size=12,
)  # fmt: skip
FILES = st.builds(
    lambda lines, newline, last: newline.join(lines) + (newline if last else b""),
    LINES, st.sampled_from([b"\n", b"\r\n"]), st.booleans(),
)  # fmt: skip
BLOCKS = st.text(max_size=200) | st.sampled_from([END.decode(), BEGIN.decode(), "a\nb\n", "\n"])


@given(FILES, BLOCKS, BLOCKS)
def test_what_is_outside_keeps_every_byte(text, first, second):
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        with pytest.raises(InvalidRequest):
            put(text, first)
        return
    once = put(text, first)

    assert once.startswith(text)
    assert put(once, first) == once
    twice = put(once, second)
    assert put(twice, first) == once
    begin = once.index(BEGIN)
    tail = once[once.index(END) + len(END) :]
    assert twice[:begin] == once[:begin]
    assert twice[twice.index(END) + len(END) :] == tail


def test_it_is_replaced_where_it_stands():
    text = put(b"# Mine\n", "old") + b"\n## After\n"
    assert put(text, "new\nlines") == (
        b"# Mine\n\n" + BEGIN + b"\nnew\nlines\n" + END + b"\n\n## After\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        BEGIN, END, END + b"\n" + BEGIN, BEGIN + BEGIN + END, BEGIN + END + END,
        BEGIN + b"\n" + END + b"\n" + BEGIN + b"\n" + END,
    ],
)  # fmt: skip
def test_half_a_block_is_not_guessed_at(text):
    with pytest.raises(InvalidRequest, match="not one whole block"):
        put(text, "new")


def test_a_block_cannot_hold_the_marks_itself():
    text = put(b"", f"x\n{END.decode()}\n{BEGIN.decode()}\ny")
    assert text.count(BEGIN) == text.count(END) == 1
    assert put(text, "z") == BEGIN + b"\nz\n" + END + b"\n"
