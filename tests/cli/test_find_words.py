"""find-files is read without Typer, and as Typer would read it."""

from __future__ import annotations

import random

import pytest

from tests.cli.typer_reading import typers_reading
from triseek.cli.find_words import read

PIECES = [
    "a", "b c", "-", "--", "--json", "--null", "-0", "--no-daemon", "--limit", "--limit=3", "7",
    "--limit=", "--limit=-1", "--limit=x", "-00", "--by-path", "--jso", "--help", "-h", "*.py", "é",
    "\udcff",
    "--limit=1_0", "--limit=٣", "--json=1", "0",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(300))
def test_what_is_read_without_typer_is_what_typer_reads(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = random.Random(seed)
    words = generator.choices(PIECES, k=generator.randrange(6))

    mine, its = read(words), typers_reading(words, "find-files")

    if mine is not None:
        assert its == {
            "query": mine.query, "path": mine.path, "limit": mine.limit, "json": mine.as_json,
            "null": mine.null, "by_path": mine.by_path, "no_daemon": mine.no_daemon,
        }, words  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [["q"], ["q", "p"], ["--limit", "3", "q"], ["q", "--limit=3", "-0", "--json"], ["--", "-q"],
     ["q", "--null", "--no-daemon", "."]],
)  # fmt: skip
def test_plain_words_need_no_typer(words: list[str]) -> None:
    assert read(words) is not None


@pytest.mark.parametrize("words", [[], ["a", "b", "c"], ["--help"], ["q", "--limit"], ["q", "-x"]])
def test_help_and_mistakes_are_left_to_typer(words: list[str]) -> None:
    assert read(words) is None
