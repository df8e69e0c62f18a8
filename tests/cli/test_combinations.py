"""Flags thrown together at random: two ways to show, a pattern, and something to search.

Left out, because ripgrep itself is odd there: an empty match at the very end of a file under
`-U` shows lines of context for a match that is never shown (`-U '^$' -C1`), and `--binary -c`
counts lines as if NUL were a line end.
"""

from __future__ import annotations

import random
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import rg, triseek
from tests.cli.test_parity import SCOPES, SHOWN

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.rg, pytest.mark.usefixtures("needs_rg")]

PATTERNS = [
    "needle", "'needle|foo'", "-w foo", "'x*'", "'^'", "'$'", "-i needle", "'[a-z]+ needle'",
    "-e foo -e needle", r"'\s+'", "-x needle", "e", "'.*'", r"-U 'e\n'", "-U '(?s)e.n'",
    r"-U '\s+'", "'(n)(e)+'",
]  # fmt: skip

PANICKED = 101
"""Exit status of a Rust program that panicked."""


@pytest.mark.parametrize(
    "seed",
    [*range(100), *(pytest.param(each, marks=pytest.mark.slow) for each in range(100, 1000))],
)
def test_flags_thrown_together_mean_what_they_mean_to_ripgrep(seed: int, tree: Path) -> None:
    choose = random.Random(seed).choice
    scopes = [scope for scope in SCOPES if scope not in ("--binary", "-uuu")]
    words = " ".join([choose(SHOWN), choose(SHOWN), choose(PATTERNS), choose(scopes)])
    given = shlex.split(words)

    mine, its = triseek(["--engine=scan", *given], tree), rg(given, tree)

    if its.status == PANICKED:  # `-v -U -m2` with context and `--column` does that to rg 15.1
        pytest.skip("rg panics")
    assert (mine.status, mine.out) == (its.status, its.out), words
