"""`-r`: groups hold what they hold in ripgrep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.running import rg, triseek
from tests.cli.test_parity import without_times
from triseek.cli.render.replace import Replacer
from triseek.engine.search.backends.spanning import SpanWindow
from triseek.model.search import PatternSpec
from triseek.query.pattern import compile as compile_pattern

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("replacement", "text"),
    [
        (b"$$1", b"a $1 b $1"),
        (b"<$0>", b"a <x1> b <x22>"),
        (b"${n}$9$no", b"a 1 b 22"),
        (b"$nx", b"a  b "),
        (b"$", b"a $ b $"),
    ],
)
def test_references_are_groups_by_number_and_name(replacement: bytes, text: bytes) -> None:
    replacer = Replacer(replacement, compile_pattern(PatternSpec(patterns=(r"x(?P<n>\d+)",))))
    line = b"a x1 b x22"

    replaced, places = replacer.replaced(SpanWindow(line, 0, len(line)))

    assert replaced == text
    assert b"a " + b" b ".join(replaced[begin:end] for begin, end in places) == text


FOREIGN = "na\u00efve word\n\u00c9t\u00e9 k\nbanana aab\nabab\r\n\n".encode() + b"a\xc3b\xffc"


GROUPS = [
    r"(\w+)(.*)", r"(\w+) (\w+)", r"\b", r"\B(.)", r"(\p{Script=Latin})(\w)?", r"((?-u:\xc3)|b)",
    r"(e|d|b)$", "(?i)(\u00c9)|(k)", r"(?P<n>\w)(\w)?", "(?:(a)|b)*", "(a*)*(|b)*",
    r"(a|b){0}(\w)", "((a)|(b)){2}", "(?u)", r"([[:^ascii:]]+)", r"(a+?)(b?)", r"(?-u:(.)(\w))",
]  # fmt: skip


@pytest.mark.rg
@pytest.mark.usefixtures("needs_rg")
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


@pytest.mark.rg
@pytest.mark.usefixtures("needs_rg")
def test_a_match_that_ends_behind_its_row_is_replaced_as_by_ripgrep(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\nb\n" + b"c" * 40 + b"\nd\n" * 60)
    for pattern in (r"(a\n)(?:b\n|$)", r"(?s)(a.+?)c", r"(b)\n(c+)"):
        words = ["-U", "-n", "-r", "<$1>", pattern, "f"]
        mine, its = triseek(["--engine=scan", *words], tmp_path), rg(words, tmp_path)
        assert mine == its, pattern
