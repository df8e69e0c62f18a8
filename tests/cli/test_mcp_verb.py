"""mcp serve is read without Typer, and as Typer would read it."""

from __future__ import annotations

import random

import pytest

from tests.cli.typer_reading import typers_reading
from triseek.cli.mcp_verb import read

PIECES = [
    "--repo", "--repo=.", "--repo=", "--toolsets", "--toolsets=search", "--http",
    "--http=127.0.0.1:0", "127.0.0.1:0", ".", "a b", "-", "--", "--rep", "--help", "-h", "é",
    "search", "--toolsets=a=b", "-x", "--", "\udcff",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(300))
def test_what_is_read_without_typer_is_what_typer_reads(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = random.Random(seed)
    words = generator.choices(PIECES, k=generator.randrange(6))

    mine, its = read(words), typers_reading(words, "mcp", "serve")

    if mine is not None:
        assert its == mine, words


@pytest.mark.parametrize(
    "words",
    [[], ["--repo", "."], ["--repo=.", "--toolsets", "search"], ["--http", "127.0.0.1:0"],
     ["--toolsets=search", "--http=[::1]:0", "--repo=a b"]],
)  # fmt: skip
def test_plain_words_need_no_typer(words: list[str]) -> None:
    assert read(words) is not None


@pytest.mark.parametrize("words", [["--help"], ["."], ["--repo"], ["--http", "-x"], ["--rep=."]])
def test_help_and_mistakes_are_left_to_typer(words: list[str]) -> None:
    assert read(words) is None
