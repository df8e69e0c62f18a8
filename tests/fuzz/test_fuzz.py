"""A share of `make fuzz`, and the fuzzer itself: it finds faults, and its shell lines show them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fuzz import documented
from tests.fuzz.arena import Answer, Arena
from tests.fuzz.case import ROOT, Case, Entry, Tree
from tests.fuzz.generate import CASES_PER_TREE, make_case, tree_of
from tests.fuzz.run import Fuzzer, Limits
from tests.fuzz.shell import printf, report, search_lines, setup_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.rg, pytest.mark.long]


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    with Arena(tmp_path) as made:
        yield made


def test_a_case_depends_on_seed_and_number_alone() -> None:
    made = [make_case(3, number) for number in range(200)]

    assert made[150:] == [make_case(3, number, tree_of(3, number)) for number in range(150, 200)]
    assert made != [make_case(4, number) for number in range(200)]


class _Forgetful(Arena):
    """An arena whose triseek loses every line that holds the word needle."""

    def triseek(self, case: Case, backend: str) -> Answer | None:
        answer = self.ripgrep(case)
        lines = answer.out.splitlines(keepends=True)
        return answer._replace(out=b"".join(line for line in lines if b"needle" not in line))


def test_a_backend_that_loses_lines_is_found_and_made_small(tmp_path: Path) -> None:
    with _Forgetful(tmp_path) as arena:
        fuzzer = Fuzzer(arena, 1, backends=["scan"])
        fuzzer.run(0, Limits(comparisons=200))
        small = fuzzer.shrink(fuzzer.tally.undocumented[0][1])

    assert b"needle" in small.theirs.out
    files = [entry for entry in small.case.tree.entries if entry.kind == "file"]
    assert sum(len(entry.data) for entry in files) <= 20
    assert len(small.case.flags) + len(small.case.operands) <= 1


SEED, CASES = 14, 240
"""A share of `make fuzz` that is the same in every run: some 700 comparisons."""


def test_a_share_of_random_searches_is_answered_as_by_ripgrep(arena: Arena) -> None:
    fuzzer = Fuzzer(arena, SEED)
    tree = tree_of(SEED, 0)
    for number in range(CASES):
        if number % CASES_PER_TREE == 0:
            tree = tree_of(SEED, number)
        fuzzer.one(number, make_case(SEED, number, tree))

    found = fuzzer.tally.undocumented
    assert not found, report(fuzzer.shrink(found[0][1]))
    assert fuzzer.tally.total > 2 * CASES


def test_every_documented_difference_names_a_heading_of_the_page() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "differences.md"
    headings = {line.lstrip("# ") for line in page.read_text().splitlines() if line[:1] == "#"}

    assert {rule.heading for rule in documented.RULES} <= headings


AWKWARD = Tree(
    entries=(
        Entry(b"up", "folder"),
        Entry(ROOT, "folder"),
        Entry(ROOT + b"/-dash 'quoted'", "file", b"100% 'x' \\n \0 \xff needle\n"),
        Entry(ROOT + b"/new\nline", "file", b"-needle"),
        Entry(ROOT + b"/n\xe9", "file", b"needle\n" + b"filler\n" * 20_000 + b"needle\n"),
        Entry(ROOT + b"/link", "link", b"new\nline"),
        Entry(ROOT + b"/gone", "file", b"needle"),
    ),
    edits=(
        Entry(ROOT + b"/gone", "removed"),
        Entry(ROOT + b"/made", "file", "needle é\r\n".encode()),
    ),
)


@pytest.mark.parametrize(
    ("flags", "patterns", "operands", "stdin", "backend"),
    [
        ((("-n",), ("-a",)), ("needle",), (), None, "index"),
        ((), ("-needle", "e\u0301|dle$"), ("-dash 'quoted'", "{base}/up/root/made"), None, "scan"),
        ((("-r$0'",), ("-L",)), ("\\bneedle",), ("link", "nowhere"), None, "scan"),
        ((), ("x",), (), b"x\n-x\n%d\n", "scan"),
    ],
)
def test_the_shell_lines_reproduce_both_answers(
    flags: tuple[tuple[str, ...], ...],
    patterns: tuple[str, ...],
    operands: tuple[str, ...],
    stdin: bytes | None,
    backend: str,
    arena: Arena,
    tmp_path: Path,
) -> None:
    case = Case(AWKWARD, ROOT, flags, patterns, operands, stdin)
    arena.prepare(case.tree, indexed=bool(case.tree.edits))
    theirs, ours = arena.ripgrep(case), arena.triseek(case, backend)
    assert ours is not None
    rg, triseek = search_lines(case, backend)

    lines = [*setup_lines(case, backend), rg, 'echo "=$?=$base="', triseek, 'echo "=$?=$base="']
    said = in_a_shell("\n".join(lines), tmp_path)

    parts = re.split(rb"=(\d)=(.*)=\n", said)
    base = parts[2]
    answers = [(int(parts[at + 1]), parts[at].replace(base, b"BASE")) for at in (0, 3)]
    expected = [
        (each.status, each.out.replace(os.fsencode(arena.base), b"BASE")) for each in (theirs, ours)
    ]
    assert answers == expected


def in_a_shell(lines: str, folder: Path) -> bytes:
    """What the lines print; `triseek` in them is this package."""
    program = f'triseek() {{ "{sys.executable}" -m triseek "$@"; }}\n{lines}\n'
    return subprocess.run(
        ["sh", "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        check=False,
    ).stdout


@pytest.mark.parametrize(
    "data", [b"", b"-", b"%s\\", b"a'b\0c\xff", bytes(range(256)) * 20, b"ab\n" * 5000]
)
def test_printf_writes_any_bytes(data: bytes) -> None:
    assert (
        subprocess.run(["sh", "-c", printf(data)], capture_output=True, check=True).stdout == data
    )
