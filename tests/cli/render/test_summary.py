"""Counts, paths and silence, and what statistics count behind them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.render.rendering import Kept, found_in
from triseek.cli.render.file_matches import Renderer
from triseek.cli.render.style import OutputStyle
from triseek.cli.render.summary import CountLines, PathLines, Tallied
from triseek.engine.search.backends.base import Batch, Nul

FOUND = found_in(b"xx x\nb\nx\n", [0, 1, 2])


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        (OutputStyle(path=True), b"a%b:3\n"),
        (OutputStyle(path=False), b"3\n"),
        (OutputStyle(path=True, path_terminator=b"\0"), b"a%b\x003\n"),
    ],
)
def test_a_count_follows_its_path(style: OutputStyle, shown: bytes) -> None:
    out = Kept()
    CountLines(style, out).file(FOUND)

    assert out.all() == shown


@pytest.mark.parametrize("lines", [CountLines, PathLines])
def test_many_files_at_once_are_written_as_one_by_one(
    lines: type[CountLines | PathLines],
) -> None:
    single, together = Kept(), Kept()
    one, many = (lines(OutputStyle(path=True), out) for out in (single, together))
    for path, hits in ((b"a", 2), (b"b", 0)):
        one.file(FOUND._replace(path=path, hits=hits))
    many.batch(Batch([b"a", b"b"], np.array([2, 0])), bytes)

    assert together.all() == single.all() != b""
    assert many.counts.files_matched == one.counts.files_matched == 1


def test_silence_only_counts_files() -> None:
    silence = Renderer()
    silence.file(FOUND)
    silence.file(FOUND._replace(hits=0))

    assert silence.counts.files_matched == 1


@pytest.mark.parametrize(("matches", "shown"), [(False, b"2\n"), (True, b"3\n")])
def test_matches_are_tallied_and_lines_or_matches_shown(matches: bool, shown: bytes) -> None:
    out = Kept()
    style = OutputStyle(path=False)
    tallied = Tallied(CountLines(style, out), style, matches=matches)
    tallied.file(FOUND)

    assert out.all() == shown
    assert (tallied.counts.matches, tallied.counts.matched_lines) == (3, 2)


def test_a_binary_file_that_ended_the_search_is_counted_and_not_shown() -> None:
    out = Kept()
    style = OutputStyle(path=False)
    tallied = Tallied(CountLines(style, out), style, matches=False)
    tallied.file(FOUND._replace(nul=Nul(offset=9, stopped=True, shown=2, searched=9)))

    assert out.all() == b""
    assert tallied.counts.files_matched == 1
