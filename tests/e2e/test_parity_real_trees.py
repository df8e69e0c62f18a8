"""On real trees, every backend prints byte for byte what `rg --sort path` prints.

`TRISEEK_PARITY_TREES` names more trees for the full run, `TRISEEK_PARITY_RG` another rg to
measure by. What differs on purpose is in docs/reference/differences.md, and `EXPLAINED` below
says how ripgrep is asked for the same.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests import rg
from tests.cli.running import Outcome, triseek
from tests.cli.test_parity import without_times
from tests.e2e import real_trees
from tests.e2e.parity_queries import searches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.e2e.real_trees import Tree

pytestmark = [pytest.mark.rg, pytest.mark.long]

BACKENDS = ("index", "scan", "rg")
SHARE = 60
"""Searches of the default run, over all trees."""
EXPLAINED = {("interface{}", "-c"): [r"interface\{\}", "-c"]}
"""Searches that ripgrep refuses and triseek answers, and how ripgrep must be asked for the same."""
REFUSALS = ("the index cannot tell", "the index does not hold")
"""What an index cannot answer; asked for by name it says so, and `auto` takes another backend."""


class Difference(NamedTuple):
    words: list[str]
    backend: str
    mine: Outcome
    its: Outcome

    def __str__(self) -> str:
        return f"{shlex.join(self.words)} [{self.backend}]: {first_difference(self.mine, self.its)}"


@pytest.fixture(autouse=True)
def _state(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRISEEK_HOME", str(state))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    # The backend through rg must take the rg that is the measure.
    monkeypatch.setenv("PATH", os.path.dirname(measure()) + os.pathsep + os.environ["PATH"])


@pytest.mark.parametrize("name", real_trees.NAMES)
def test_a_share_of_the_searches_is_answered_as_ripgrep_does(
    name: str, real_tree: Callable[[str], Tree]
) -> None:
    tree = real_tree(name)
    every = searches(tree)
    number = real_trees.NAMES.index(name)
    share = every[number :: len(every) * len(real_trees.NAMES) // SHARE]

    differing = list(compare(tree, share))

    assert not differing, "\n".join(map(str, differing))


@pytest.mark.slow
@pytest.mark.parametrize("name", real_trees.names())
def test_every_search_is_answered_as_ripgrep_does(
    name: str, real_tree: Callable[[str], Tree]
) -> None:
    tree = real_tree(name)
    every = searches(tree)
    assert len(every) >= 500

    differing = list(compare(tree, every))

    print(f"\n{name}: {len(every)} searches x {len(BACKENDS)} backends, {len(differing)} differ")
    assert not differing, "\n".join(map(str, differing))


def compare(tree: Tree, queries: Sequence[list[str]]) -> Iterator[Difference]:
    for words in queries:
        its = ripgrep(EXPLAINED.get(tuple(words), words), tree.root)
        for backend in BACKENDS:
            mine = answer(backend, words, tree.root)
            if not same(words, mine, its):
                yield Difference(words, backend, mine, its)


def answer(backend: str, words: list[str], root: Path) -> Outcome:
    mine = triseek([f"--engine={backend}", *words], root)
    if backend == "index" and mine.status == 2 and any(each in mine.err for each in REFUSALS):
        return triseek(["--engine=auto", *words], root)
    return mine


def same(words: list[str], mine: Outcome, its: Outcome) -> bool:
    if mine.status != its.status:
        return False
    if "--json" in words and its.status != 2:
        return without_times(mine.out) == without_times(its.out)
    return mine.out == its.out


def measure() -> str:
    return os.environ.get("TRISEEK_PARITY_RG") or rg.program()


def ripgrep(words: list[str], root: Path) -> Outcome:
    done = subprocess.run(
        [measure(), "--no-config", "--sort=path", *words],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def first_difference(mine: Outcome, its: Outcome) -> str:
    if mine.status != its.status:
        return f"status {mine.status}, not {its.status}; {mine.err[:200]!r}, {its.err[:200]!r}"
    ours, theirs = mine.out.split(b"\n"), its.out.split(b"\n")
    for number, (left, right) in enumerate(zip(ours, theirs, strict=False), 1):
        if left != right:
            return f"line {number} is {left[:200]!r}, not {right[:200]!r}"
    return f"{len(ours)} lines, not {len(theirs)}"
