"""Lines of a stream that arrives in pieces."""

from __future__ import annotations

from triseek.mcp.wire_lines import LineBuffer


def test_a_line_is_complete_at_its_end_and_not_before() -> None:
    lines = LineBuffer()

    assert list(lines.add(b"be")) == []
    assert list(lines.add(b"gun\n\nnext\nre")) == [b"begun", b"", b"next"]
    assert lines.rest() == b"re"
    assert list(lines.add(b"st\n")) == [b"rest"]
    assert lines.rest() == b""


def test_a_long_line_is_cut_and_takes_no_more_room() -> None:
    lines = LineBuffer(4)

    assert list(lines.add(b"123456\n12345678")) == [b"1234"]
    assert lines.rest() == b"1234"
    assert list(lines.add(b"9\n5\n")) == [b"1234", b"5"]


def test_what_has_begun_can_be_forgotten() -> None:
    lines = LineBuffer()
    assert list(lines.add(b"half of")) == []
    lines.clear()

    assert list(lines.add(b"whole\n")) == [b"whole"]
