"""What is piped is byte for byte what `rg --sort path` prints for the same words."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.running import rg, triseek

pytestmark = [pytest.mark.rg, pytest.mark.usefixtures("needs_rg")]

PATTERNS = ["-e needle -e foo", "-F 'foo('", r"'\bfoo\b'", "-w needle", "-i NEEDLE"]

GOLDEN = Path(__file__).parents[1] / "golden" / "cli"


def words_of(name: str) -> list[str]:
    return (GOLDEN / f"{name}.txt").read_text().splitlines()


SHOWN, SCOPES, TOGETHER = map(words_of, ("shown", "scopes", "together"))
"""Ways to show, things to search, and whole commands."""

MATRIX = [
    *(f"{shown} needle" for shown in SHOWN),
    *(
        f"{shown} {pattern}"
        for shown, pattern in zip(SHOWN, itertools.cycle(PATTERNS), strict=False)
    ),
    *(f"needle {scope}" for scope in SCOPES),
    *(f"-n -C1 foo {scope}" for scope in SCOPES[::2]),
    *(f"-c needle {scope}" for scope in SCOPES[1::2]),
    *TOGETHER,
]


@pytest.mark.parametrize("words", list(dict.fromkeys(MATRIX)))
def test_output_and_status_are_ripgreps(words: str, tree: Path) -> None:
    check(words, tree, "scan")


@pytest.mark.slow
@pytest.mark.parametrize("words", list(dict.fromkeys(MATRIX)))
def test_output_and_status_are_ripgreps_by_way_of_rg(words: str, tree: Path) -> None:
    check(words, tree, "rg")


@pytest.mark.slow
@pytest.mark.parametrize("words", list(dict.fromkeys(MATRIX)))
def test_output_and_status_are_ripgreps_by_way_of_an_index(words: str, indexed_tree: Path) -> None:
    check(words, indexed_tree, "auto")


@pytest.mark.parametrize("words", ["needle", "-c foo", "--files", "-n -C1 needle a", "-l ("])
def test_the_backend_chosen_by_itself_answers_the_same(words: str, tree: Path) -> None:
    check(words, tree, "auto")


def check(words: str, tree: Path, backend: str) -> None:
    (tree / "pats.txt").write_text("needle\nfoo.\n")
    given = shlex.split(words)

    mine, its = triseek([f"--engine={backend}", *given], tree), rg(given, tree)

    if "--json" in given and "--no-json" not in given:
        said = words.encode()
        assert without_times(mine.out, said) == without_times(its.out, said)
    else:
        assert mine.out == its.out
    assert mine.status == its.status
    if mine.status == 2 and "--no-messages" not in given:
        assert mine.err
        assert its.err


def without_times(messages: bytes, words: bytes = b"") -> bytes:
    """JSON Lines with what differs from run to run, or backend to backend, taken out."""
    timeless = re.sub(rb'"elapsed(_total)?":\{[^}]*\}', b'"elapsed":{}', messages)
    if b"-m" in words:  # where in its buffer ripgrep stood when it had enough
        timeless = re.sub(rb'"bytes_searched":\d+', b"", timeless)
    head, _, last = timeless.rstrip(b"\n").rpartition(b"\n")
    for name in (b"searches", b"bytes_searched"):  # what a backend had to open
        last = re.sub(rb'"%b":\d+' % name, b"", last)
    return head + b"\n" + last
