"""Random histories of a followed tree during which any system call of its watching may fail.

Run as a module it goes on until so many faults have been injected, and prints the seeds:
`python -m tests.engine.faulty_histories --count 10000 --seed 1`.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import tests.conftest  # noqa: F401 - where kernels are kept between runs
from tests.engine import answers
from tests.engine.conftest import WORDS
from tests.engine.faults import Faults
from tests.engine.freshness.test_tracker import Vandal, seen, truth
from triseek import errors
from triseek.daemon.index_jobs import IndexJobs
from triseek.daemon.root_maintainer import RootMaintainer
from triseek.engine.engine import Engine
from triseek.index.build import build
from triseek.index.update import update
from triseek.kernels import cache
from triseek.kernels.jit import warm
from triseek.model.index import no_progress
from triseek.model.search import PatternSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Collection

STEPS = 24
"""Steps of one history with faults; as many again without follow."""
RATES = (0.002, 0.01, 0.05)
"""Shares of the calls that fail. Of a look some ten to a hundred are made."""
TURNS_MAX = 6
"""Turns of the maintainer after which a root has to be watched again, once nothing fails."""


@dataclass
class Seen:
    """What histories came to."""

    answers: Counter[str] = field(default_factory=Counter)
    """By freshness; `fell back`: another backend answered."""
    faults: Counter[str] = field(default_factory=Counter)
    watched_again: int = 0
    wrong: list[str] = field(default_factory=list)
    false_synced: list[str] = field(default_factory=list)
    false_unchanged: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        """Everything that must not be."""
        return self.wrong + self.false_synced + self.false_unchanged


class _InProcess(IndexJobs):
    """Does in this process what the daemon has done by others."""

    def __init__(self, index_dir: str, faults: Faults) -> None:
        super().__init__()
        self.warm.set()
        self._index_dir, self._faults = index_dir, faults

    def run(self, verb: str, root: str | None = None) -> None:
        assert verb == "update"
        assert root is not None
        rate, self._faults.rate = self._faults.rate, 0.0
        try:
            update(root, self._index_dir)
        finally:
            self._faults.rate = rate


class History:
    """One tree, its index, its maintainer, and what is done to them."""

    def __init__(self, folder: str, seed: int, result: Seen) -> None:
        self.seed, self.result, self.step = seed, result, 0
        self.root, index_dir = f"{folder}/root", f"{folder}/index"
        os.environ["TRISEEK_HOME"] = f"{folder}/home"
        os.makedirs(f"{self.root}/.git")
        files = {
            f"d{i}/s{j}/f{k}.txt": f"{WORDS[k % 4]} {i} {j}\n"
            for i in range(3) for j in range(2) for k in range(4)
        }  # fmt: skip
        answers.write(self.root, {**files, "top.txt": "needle\n", ".gitignore": "*.log\nbuild/\n"})
        build(self.root, index_dir)
        self.engine = Engine(self.root, index_dir=index_dir)
        self.faults = Faults(seed)
        self.vandal = Vandal(self.root, seed)
        self.chance = self.vandal.chance
        index_jobs = _InProcess(index_dir, self.faults)
        self.maintainer = RootMaintainer(
            self.engine, index_jobs, may_build=False, folders_max=1 << 12
        )
        self._known = None

    def run(self, faults: int | None = None) -> None:
        """Live through it; with `faults` until there were so many."""
        with self.faults.installed():
            try:
                self._turn()
                while self.step < STEPS or (faults is not None and self.faults.total < faults):
                    self.faults.rate = self.chance.choice(RATES)
                    self._live()
                self.faults.rate = 0.0
                self._recover()
                for _ in range(STEPS):
                    self._live()
                    if self.engine.trouble is not None or self.engine.watched is None:
                        self._recover()  # a mount on a busy machine
            finally:
                self.faults.rate = 0.0
                self.engine.unwatch()
                self.result.faults.update(self.faults.count)

    def _live(self) -> None:
        self.step += 1
        if self.chance.random() < 0.1:
            self._switch()
        for _ in range(self.chance.choice((0, 1, 1, 3))):
            self.vandal.do()
        for _ in range(self.chance.choice((1, 1, 2))):
            self._search() if self.chance.random() < 0.4 else self._look()
        if self.chance.random() < 0.5:
            self._turn()

    def _switch(self) -> None:
        """Change much at once, as another branch does."""
        for path in self.vandal.files():
            fate = self.chance.random()
            if fate < 0.15:
                os.unlink(path)
            elif fate < 0.4 and not path.endswith(("ignore", ".git")):
                with open(path + "~", "w", encoding="utf-8") as file:
                    file.write(self.vandal.text())
                os.replace(path + "~", path)
        for number in range(self.chance.randrange(8)):
            name = f"branch{number}/{self.chance.randrange(3)}/file.txt"
            answers.write(self.root, {name: self.vandal.text()})

    def _turn(self) -> None:
        """Let the maintainer do its work, as its thread would."""
        self.maintainer._watch_again = 0.0
        dead = self.engine.watched is None
        try:
            self.maintainer._turn()
        except errors.Busy:
            return
        except (
            errors.TriseekError,
            OSError,
            RuntimeError,
        ) as error:  # as `RootMaintainer._keep_on`
            self.maintainer._after(error)
        self.result.watched_again += dead and self.engine.watched is not None

    def _look(self) -> None:
        """What a search would look at is what the tree holds."""
        diff = self.engine.indexed().tree_diff()
        if diff.freshness == "unverified":
            self.result.answers["fell back"] += 1
            assert diff.problem
            return
        self.result.answers[diff.freshness] += 1
        expected = truth(self.engine)
        looked_at = seen(self.engine, diff)
        if looked_at != expected:
            self._blame(diff.freshness, looked_at.items() ^ expected.items())
        self._ask_journal(diff.freshness, expected)

    def _search(self) -> None:
        """A whole search, on whatever backend."""
        word = self.chance.choice(WORDS)
        request = SearchRequest(pattern=PatternSpec(patterns=(word,)))
        search = self.engine.search(request)
        found = {path for batch in search for path in batch.paths}
        self.result.answers["fell back" if search.route.fell_back else search.totals.freshness] += 1
        holding = self._holding(word)
        if found != holding:
            self._blame(f"{search.totals.freshness} {search.route}", found ^ holding)

    def _holding(self, word: str) -> set[bytes]:
        holding = set()
        for path in truth(self.engine):
            with open(os.path.join(os.fsencode(self.root), path), "rb") as file:
                if word.encode() in file.read():
                    holding.add(path)
        return {path for path in holding if not path.startswith(b".") and b"/." not in path}

    def _ask_journal(self, freshness: str, expected: dict[bytes, int]) -> None:
        """Nothing that changed since a clock is left out of what the journal says."""
        watch = self.engine.watched
        if watch is None or freshness != "synced":
            return
        if self._known is not None:
            clock, before = self._known
            since = watch.journal.since(clock)
            told = {path for batch in since.batches for path in batch.changes}
            changed = {p for p in before | expected if before.get(p) != expected.get(p)}
            whole = since.kind == "unknown" or any(batch.everything for batch in since.batches)
            if not whole and not changed <= told:
                missing = sorted(changed - told)[:3]
                self.result.false_unchanged.append(f"{self._where()}: {since.kind} {missing}")
        self._known = (watch.journal.clock, expected)

    def _blame(self, how: str, differing: Collection[object]) -> None:
        into = self.result.false_synced if how.startswith("synced") else self.result.wrong
        into.append(f"{self._where()}: {how}: {sorted(map(repr, differing))[:4]}")

    def _where(self) -> str:
        return f"seed {self.seed} step {self.step}"

    def _recover(self) -> None:
        """Once nothing fails any more, the root is watched again without anybody's help."""
        for _ in range(TURNS_MAX):
            self._turn()
            diff = self.engine.indexed().tree_diff()
            watched = self.engine.watched is not None and self.engine.trouble is None
            if watched and diff.freshness == "synced":
                return
        self.result.wrong.append(f"{self._where()}: not synced again: {self.maintainer.trouble}")


def live(seed: int, result: Seen, faults: int | None = None) -> None:
    """One history, in a folder of its own."""
    home = os.environ.get("TRISEEK_HOME")
    folder = tempfile.mkdtemp(prefix="triseek-faults-")
    try:
        History(folder, seed, result).run(faults)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if home is None:
            del os.environ["TRISEEK_HOME"]
        else:
            os.environ["TRISEEK_HOME"] = home


def main() -> int:
    """Live through histories until there were enough faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="faults in all")
    parser.add_argument("--seed", type=int, default=1, help="of the first history; to resume")
    options = parser.parse_args()
    logging.disable()
    if not cache.is_ready():
        warm(no_progress)
    result, seed, began = Seen(), options.seed, time.monotonic()
    while sum(result.faults.values()) < options.count:
        before = len(result.failures)
        live(seed, result)
        print("".join(f"{line}\n" for line in result.failures[before:]), end="", flush=True)
        if (seed - options.seed) % 20 == 0:
            total = sum(result.faults.values())
            print(f"seed {seed}: {total:,} faults, {time.monotonic() - began:.0f} s", flush=True)
        seed += 1
    print(f"seeds {options.seed} to {seed - 1}: {sum(result.faults.values()):,} faults", end="; ")
    print(", ".join(f"{name} {count:,}" for name, count in result.faults.most_common()))
    answers = ", ".join(f"{name} {count:,}" for name, count in result.answers.most_common())
    print(f"answers: {answers}; watched again {result.watched_again:,} times")
    print(f"{len(result.wrong)} wrong, {len(result.false_synced)} false synced, "
          f"{len(result.false_unchanged)} false unchanged")  # fmt: skip
    return 1 if result.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
