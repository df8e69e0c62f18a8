"""The patterns of a command: the first word, -e, and the lines of files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from triseek.cli.args import parse
from triseek.cli.resolve import read_patterns
from triseek.errors import InvalidQuery, InvalidRequest
from triseek.terminal.command_context import CommandContext

if TYPE_CHECKING:
    from pathlib import Path

FED = CommandContext(
    terminal=False, width=80, plain=False, stdin_readable=True, read_stdin=lambda: b"p\n\nq"
)


def patterns(*words: str) -> tuple[str, ...]:
    low = parse(words)
    return read_patterns(low, low.positional, FED)[0]


def test_a_file_of_patterns_gives_one_pattern_a_line_and_none_twice(tmp_path: Path) -> None:
    path = tmp_path / "patterns"
    path.write_bytes("a\r\né\n\na".encode())

    assert patterns("-f", str(path), "-e", "b", "-e", "a") == ("a", "é", "", "b")


def test_a_file_of_patterns_that_is_no_text_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "patterns"
    path.write_bytes(b"a\nb\xff\n")

    with pytest.raises(InvalidQuery, match=re.escape("line 2 is not valid UTF-8 at byte 2")):
        patterns("-f", str(path))


def test_no_pattern_is_an_error_and_so_is_one_that_is_not_utf8() -> None:
    with pytest.raises(InvalidQuery, match="no pattern given"):
        patterns()
    with pytest.raises(InvalidQuery, match="not valid UTF-8"):
        patterns("\udcff")


def test_standard_input_is_read_once_and_reported() -> None:
    low = parse(["-f-", "-ex", "a.txt"])

    assert read_patterns(low, low.positional, FED) == (("p", "", "q", "x"), True)
    assert low.positional == ["a.txt"]
    with pytest.raises(InvalidRequest, match="already been read"):
        patterns("-f-", "-f-")


def test_the_first_word_is_taken_from_the_operands() -> None:
    low = parse(["x", "a.txt"])

    assert read_patterns(low, low.positional, FED) == (("x",), False)
    assert low.positional == ["a.txt"]


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"-f .*none: No such file"):
        patterns("-f", str(tmp_path / "none"))
