"""Matches in Zoekt's two forms say what the file says."""

from __future__ import annotations

import base64
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from triseek.compat.matches import Content, chunk_matches, limited, line_matches
from triseek.model.code_search import CodeFile, CodeLine

TEXTS = st.lists(st.sampled_from([b"a", b"ab", b"\n", b"\r\n", "é".encode(), b"\xff", b" "])).map(
    b"".join
)


def _file(content: bytes, *, known: bool = True) -> CodeFile:
    lines: list[CodeLine] = []
    offset = 0
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", content), 1):
        text = line.removesuffix(b"\n")
        if spans := tuple(match.span() for match in re.finditer(b"a", text)):
            lines.append(CodeLine(number=number, text=text, spans=spans, offset=offset, score=1.5))
        offset += len(line)
    return CodeFile(
        repository="r", path=b"p/a", lines=tuple(lines), content=content if known else None
    )


def _decoded(text: str) -> bytes:
    return base64.b64decode(text)


@given(TEXTS, st.integers(0, 3))
def test_lines_are_those_of_the_file(content: bytes, context: int) -> None:
    file = _file(content)
    for match in line_matches(file, file.lines, Content(content), context) if file.lines else ():
        start, end = match["LineStart"], match["LineEnd"]

        assert _decoded(match["Line"]) == content[start:end]
        assert content[:start].count(b"\n") == match["LineNumber"] - 1
        for fragment in match["LineFragments"]:
            assert content[fragment["Offset"] :][: fragment["MatchLength"]] == b"a"
            assert fragment["Offset"] == start + fragment["LineOffset"]
        if context:
            before, after = _decoded(match["Before"]), _decoded(match["After"])
            assert content[:start].endswith(before)
            assert before.count(b"\n") == min(context, match["LineNumber"] - 1)
            assert content[end:].startswith(after)
            assert after.count(b"\n") <= context


@given(TEXTS, st.integers(0, 3))
def test_chunks_are_parts_of_the_file_and_do_not_overlap(content: bytes, context: int) -> None:
    file = _file(content)
    chunks = chunk_matches(file, file.lines, Content(content), context) if file.lines else []
    behind = 0
    ranges: list[tuple[int, int]] = []
    for chunk in chunks:
        start = chunk["ContentStart"]["ByteOffset"]
        text = _decoded(chunk["Content"])

        assert content[start : start + len(text)] == text
        assert start >= behind
        assert content[:start].count(b"\n") == chunk["ContentStart"]["LineNumber"] - 1
        behind = start + len(text)
        for each in chunk["Ranges"]:
            ranges.append((each["Start"]["ByteOffset"], each["End"]["ByteOffset"]))
            _check_place(content, each["Start"])
            _check_place(content, each["End"])
    assert ranges == [match.span() for match in re.finditer(b"a", content)]


def _check_place(content: bytes, place: dict[str, Any]) -> None:
    begin = content.rfind(b"\n", 0, place["ByteOffset"]) + 1
    text = content[begin : place["ByteOffset"]]
    assert place["LineNumber"] == content[:begin].count(b"\n") + 1
    assert place["Column"] == len(text.decode("utf-8", "surrogateescape")) + 1


@given(TEXTS, st.integers(1, 5), st.booleans())
def test_no_more_matches_are_shown_than_asked_for(content: bytes, most: int, known: bool) -> None:
    files = [_file(content, known=known) for _ in range(3)]
    total = sum(len(line.spans) for file in files for line in file.lines)
    if not total:
        return

    cut = [line for _, lines in limited(files, most) for line in lines]
    whole = [line for _, lines in limited(files, 0) for line in lines]

    assert sum(len(line.spans) for line in cut) == min(most, total)
    assert whole == [line for file in files for line in file.lines]


def test_a_name_is_shown_where_nothing_else_is() -> None:
    (line,) = line_matches(_file(b""), (), Content(b""), 3)
    (chunk,) = chunk_matches(_file(b""), (), Content(b""), 3)

    assert (line["FileName"], line["LineNumber"]) == (True, 0)
    assert line["LineFragments"][0]["MatchLength"] == len(b"p/a")
    assert (chunk["FileName"], _decoded(chunk["Content"])) == (True, b"p/a")


def test_a_file_that_changed_meanwhile_is_shown_as_it_was_searched() -> None:
    file = _file(b"x\nab a\ny\n")
    for content in (b"", b"x\nother\n", b"x\na"):
        (match,) = line_matches(file, file.lines, Content(content), 0)
        (chunk,) = chunk_matches(file, file.lines, Content(content), 0)

        assert _decoded(match["Line"]) == b"ab a\n"
        assert b"ab a" in _decoded(chunk["Content"])


def test_the_columns_of_a_long_line_are_counted_once() -> None:
    text = b"a " * 200_000
    line = CodeLine(
        number=1, text=text, spans=tuple((at, at + 1) for at in range(0, len(text), 2)), offset=0
    )
    file = CodeFile(repository="r", path=b"p", lines=(line,))

    (chunk,) = chunk_matches(file, file.lines, Content(text), 0)

    assert chunk["Ranges"][-1]["Start"]["Column"] == len(text) - 1


def test_the_context_of_a_file_is_bounded() -> None:
    content = b"a" + b"b" * 10_000 + b"\n"
    file = _file(content * 400)
    matches = line_matches(file, file.lines, Content(content * 400), 100)
    sizes = [len(match["Before"] or "") + len(match["After"] or "") for match in matches]

    assert len(matches) == 400
    assert sizes[0] > 1_000_000
    assert sizes[-1] == 0
    assert sum(sizes) < 20 << 20
