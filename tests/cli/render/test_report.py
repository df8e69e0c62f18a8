"""What ends a search: ripgrep's statistics, or a line about it on a terminal."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import rg, triseek
from triseek.cli.render.report import SearchReport, footer
from triseek.model.search import Route

if TYPE_CHECKING:
    from pathlib import Path

STATS = [
    "needle", "-n -C1 needle", "-o needle", "-c needle", "-q needle", "-l needle", "-v needle",
    "--count-matches needle", "-m1 needle", "--heading needle", r"-U 'foo\nbar'", "needle a.txt",
]  # fmt: skip


@pytest.mark.rg
@pytest.mark.usefixtures("needs_rg")
@pytest.mark.parametrize("words", STATS)
def test_statistics_are_ripgreps_as_far_as_backends_can_agree(words: str, tree: Path) -> None:
    """How many files and bytes were read, and how long it took, is a backend's own affair."""
    given = ["--stats", *shlex.split(words)]

    mine, its = triseek(given, tree), rg(given, tree)

    assert comparable(mine.out) == comparable(its.out)


def comparable(out: bytes) -> bytes:
    own = rb"^[\d.]+ (seconds.*|bytes searched|files searched)$"
    return re.sub(own, rb"", out, flags=re.MULTILINE)


def test_on_a_terminal_files_are_headings_and_a_footer_says_what_was_done(tree: Path) -> None:
    outcome = triseek(["needle", "a"], tree, terminal=True)

    lines = outcome.out.decode().splitlines()
    assert lines[0] == "\x1b[0m\x1b[35ma/b.txt\x1b[0m"
    assert lines[1].startswith("\x1b[0m\x1b[32m1\x1b[0m:")
    assert "4 lines in 2 files · " in lines[-1]
    assert lines[-1].endswith("\x1b[0m")


@pytest.mark.parametrize(
    ("lines", "files", "text"),
    [(0, 0, "no matching lines"), (1, 1, "1 line in 1 file"), (1200, 2, "1,200 lines in 2 files")],
)
def test_a_footer_counts_what_was_found(lines: int, files: int, text: str) -> None:
    report = SearchReport()
    report.totals.lines, report.totals.files_matched = lines, files

    shown = footer(report, 1.5, colored=False).decode()

    assert shown.strip() == f"{text} · 1.50 s"


def test_a_footer_names_the_backend_and_what_was_left_out() -> None:
    report = SearchReport()
    report.totals.lines, report.totals.files_matched = 1, 1
    report.totals.truncated, report.totals.dirty = True, 3
    report.route = Route(backend="ripgrep", reason="large files", fell_back="index is damaged")
    report.totals.freshness = "swept"

    assert footer(report, 0.0042, colored=False).decode() == (
        "\n1 line in 1 file, more were left out by --limit · rg (large files), after another "
        "failed: index is damaged · swept, 3 dirty · 4.2 ms\n"
    )
