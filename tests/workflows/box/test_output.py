"""Streams of a script: caps, and the line of the result, in whatever parts they come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from triseek.workflows.box.output import Output

_PIECES = st.sampled_from(
    [b"__RESULT_JSON__=", b"__RESULT_", b"JSON__=", b"_", b"\n", b"\r", b"\r\n", b"1", b"[]", b"a "]
)  # fmt: skip


def whole(data: bytes, cap: int = 1000, result_cap: int = 1000) -> Output:
    """The stream, come in one part."""
    output = Output("stdout", cap, result_cap)
    output.feed(data)
    return output


@given(st.lists(_PIECES, max_size=30))
def test_parts_make_no_difference(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    parts, single = Output("stdout", 20, 8), Output("stdout", 20, 8)
    for piece in pieces:
        parts.feed(piece)
    for place in range(len(data)):
        single.feed(data[place : place + 1])
    expected = whole(data, 20, 8)
    for output in (parts, single):
        assert output.result == expected.result
        assert output.text() == expected.text()


@given(st.lists(_PIECES, max_size=30))
def test_the_last_line_that_begins_with_the_marker_is_the_result(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    lines = [line for line in data.split(b"\n") if line.startswith(b"__RESULT_JSON__=")]
    result = whole(data).result
    assert (result is None) == (not lines)
    if result is not None:
        assert result.rstrip(b"\n") == lines[-1][len(b"__RESULT_JSON__=") :]


def test_what_is_kept_is_bounded() -> None:
    output = Output("stdout", 10, 10)
    for _ in range(1000):
        output.feed(b"x" * 1000)
    assert output.text() == "x" * 10 + "\n[stdout truncated at 10 bytes]"
    assert (output.bytes_seen, len(output._text)) == (1_000_000, 10)
    output.feed(b"\n__RESULT_JSON__=" + b"1" * 11)
    assert (output.result, output.has_marker, output.result_too_long) == (None, True, True)
    output.feed(b"1" * 100_000)
    assert len(output._result or b"") == 0
    output.feed(b"\n__RESULT_JSON__=2")
    assert output.result == b"2"


def test_errors_have_no_results() -> None:
    output = Output("stderr", 100)
    output.feed(b"__RESULT_JSON__=1\n\xff")
    assert (output.result, output.text()) == (None, "__RESULT_JSON__=1\n\ufffd")
