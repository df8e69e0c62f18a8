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
def test_the_road_chosen_by_itself_answers_the_same(words: str, tree: Path) -> None:
    check(words, tree, "auto")


def check(words: str, tree: Path, road: str) -> None:
    (tree / "pats.txt").write_text("needle\nfoo.\n")
    given = shlex.split(words)

    mine, its = triseek([f"--engine={road}", *given], tree), rg(given, tree)

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
    """JSON Lines with what differs from run to run, or road to road, taken out."""
    timeless = re.sub(rb'"elapsed(_total)?":\{[^}]*\}', b'"elapsed":{}', messages)
    if b"-m" in words:  # where in its buffer ripgrep stood when it had enough
        timeless = re.sub(rb'"bytes_searched":\d+', b"", timeless)
    head, _, last = timeless.rstrip(b"\n").rpartition(b"\n")
    for name in (b"searches", b"bytes_searched"):  # what a road had to open
        last = re.sub(rb'"%b":\d+' % name, b"", last)
    return head + b"\n" + last


FOREIGN = "na\u00efve word\n\u00c9t\u00e9 k\nbanana aab\nabab\r\n\n".encode() + b"a\xc3b\xffc"
GROUPS = [
    r"(\w+)(.*)", r"(\w+) (\w+)", r"\b", r"\B(.)", r"(\p{Script=Latin})(\w)?", r"((?-u:\xc3)|b)",
    r"(e|d|b)$", "(?i)(\u00c9)|(k)", r"(?P<n>\w)(\w)?", "(?:(a)|b)*", "(a*)*(|b)*",
    r"(a|b){0}(\w)", "((a)|(b)){2}", "(?u)", r"([[:^ascii:]]+)", r"(a+?)(b?)", r"(?-u:(.)(\w))",
]  # fmt: skip


@pytest.mark.parametrize("flags", ["", "-o", "-w", "-x", "--crlf", "-U", "--json", "-v --passthru"])
def test_groups_hold_what_they_hold_in_ripgrep(flags: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(FOREIGN)
    for pattern in GROUPS:
        words = [*flags.split(), "-r", "[$1|${2}|${n}|$3|${ $0]", pattern, "f"]
        mine, its = triseek(["--engine=scan", *words], tmp_path), rg(words, tmp_path)

        if "--json" in flags:
            assert without_times(mine.out) == without_times(its.out), pattern
        else:
            assert mine.out == its.out, pattern
        assert mine.status == its.status, pattern


def test_a_match_that_ends_behind_its_row_is_replaced_as_by_ripgrep(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\nb\n" + b"c" * 40 + b"\nd\n" * 60)
    for pattern in (r"(a\n)(?:b\n|$)", r"(?s)(a.+?)c", r"(b)\n(c+)"):
        words = ["-U", "-n", "-r", "<$1>", pattern, "f"]
        mine, its = triseek(["--engine=scan", *words], tmp_path), rg(words, tmp_path)
        assert mine == its, pattern
