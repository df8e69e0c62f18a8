"""Runs many cases, shrinks what differs and groups it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from tests.fuzz import documented
from tests.fuzz.arena import BY_RIPGREP, NO_ANSWER
from tests.fuzz.compare import compared
from tests.fuzz.generate import CASES_PER_TREE, make_case, tree_of
from tests.fuzz.shell import report
from tests.fuzz.shrink import shrunk

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from tests.fuzz.arena import Arena
    from tests.fuzz.case import Case
    from tests.fuzz.compare import Difference

QUICK_BACKENDS = {"scan": 4, "index": 3, "auto": 3, "daemon": 3, "bare": 2, "rg": 2}
"""Backends without a process of their own, and how often each is taken."""
BACKENDS_PER_CASE = 3
CHEAPEST = ("scan", "rg", "bare", "auto", "index", "daemon", "process", "client")
"""In which order backends are tried for shrinking."""


@dataclass
class Tally:
    """What a run has done so far."""

    cases: int = 0
    comparisons: Counter[str] = field(default_factory=Counter)
    """By backend."""
    documented: Counter[str] = field(default_factory=Counter)
    """By heading of differences.md."""
    undocumented: list[tuple[int, Difference]] = field(default_factory=list)
    declined: int = 0
    """Searches the daemon left to its client."""
    slow: int = 0
    """Searches that ripgrep did not end in time; not compared."""

    @property
    def total(self) -> int:
        return sum(self.comparisons.values())


@dataclass(frozen=True)
class Limits:
    """When a run ends; the first that applies."""

    comparisons: int | None = None
    seconds: float | None = None


class Fuzzer:
    """Asks ripgrep and triseek the same, case by case."""

    def __init__(
        self,
        arena: Arena,
        seed: int,
        *,
        backends: Iterable[str] = QUICK_BACKENDS,
        tally: Tally | None = None,
    ) -> None:
        self.arena = arena
        self.seed = seed
        self.tally = tally or Tally()
        self._backends = tuple(backends)

    def backends_of(self, number: int) -> tuple[str, ...]:
        """The backends that case `number` is asked on."""
        random = Random(f"{self.seed}/backends/{number}")
        backends = dict.fromkeys(
            random.choices(
                self._backends,
                [QUICK_BACKENDS.get(backend, 1) for backend in self._backends],
                k=2 * BACKENDS_PER_CASE,
            )
        )
        return tuple(backends)[:BACKENDS_PER_CASE]

    def run(self, first: int, limits: Limits, progress: TextIO | None = None) -> int:
        """Do cases from `first` on; the number of the first that was not done."""
        started = said = time.monotonic()
        number, tree = first, None
        while not self._over(limits, started):
            if tree is None or number % CASES_PER_TREE == 0:
                tree = tree_of(self.seed, number)
            before = len(self.tally.undocumented)
            self.one(number, make_case(self.seed, number, tree))
            if progress is not None:
                for _, difference in self.tally.undocumented[before:]:
                    print(f"case {number}: {kind_of(difference)}", file=progress, flush=True)
            number += 1
            if progress is not None and time.monotonic() - said > 10:
                said = time.monotonic()
                print(self._progress(number, said - started), file=progress, flush=True)
        return number

    def _over(self, limits: Limits, started: float) -> bool:
        if limits.comparisons is not None and self.tally.total >= limits.comparisons:
            return True
        return limits.seconds is not None and time.monotonic() - started > limits.seconds

    def _progress(self, number: int, seconds: float) -> str:
        tally = self.tally
        return (
            f"case {number}: {tally.total} comparisons, {tally.total / seconds:.0f}/s, "
            f"{len(tally.undocumented)} different, {tally.documented.total()} documented"
        )

    def one(self, number: int, case: Case, backends: Iterable[str] | None = None) -> None:
        """Compare one case on its backends."""
        self.arena.prepare(case.tree, indexed=False)
        try:
            theirs = self.arena.ripgrep(case)
        except subprocess.TimeoutExpired:
            self.tally.slow += 1
            return
        self.tally.cases += 1
        for backend in backends or self.backends_of(number):
            ours = self.arena.triseek(case, backend)
            if ours is None:
                self.tally.declined += 1
                continue
            if ours.status == NO_ANSWER and backend in BY_RIPGREP:
                self.tally.slow += 1
                continue
            self.tally.comparisons[backend] += 1
            difference = compared(case, backend, ours, theirs)
            if difference is not None:
                self._note(number, difference)

    def _note(self, number: int, difference: Difference) -> None:
        heading = documented.heading_of(difference)
        if heading is not None:
            self.tally.documented[heading] += 1
        else:
            self.tally.undocumented.append((number, difference))

    def check(self, case: Case, backend: str) -> Difference | None:
        """The undocumented difference of a case on a backend."""
        self.arena.prepare(case.tree, indexed=False)
        try:
            theirs = self.arena.ripgrep(case)
        except subprocess.TimeoutExpired:
            return None
        ours = self.arena.triseek(case, backend)
        found = compared(case, backend, ours, theirs) if ours is not None else None
        return None if found is None or documented.heading_of(found) else found

    def shrink(self, difference: Difference, seconds: float = 20.0) -> Difference:
        """The difference made small, on the cheapest backend that shows it."""
        backend = difference.backend
        for cheaper in CHEAPEST[: CHEAPEST.index(backend)]:
            found = self.check(difference.case, cheaper)
            if found is not None and found.aspects == difference.aspects:
                difference = found
                break
        return shrunk(difference, lambda case: self.check(case, difference.backend), seconds)


def kind_of(difference: Difference) -> str:
    """A short name for differences that probably have one cause: what is left when shrunk."""
    case = difference.case
    flags = sorted(
        flag[0].split("=")[0][:2] if not flag[0].startswith("--") else flag[0].split("=")[0]
        for flag in case.flags
    )
    what = ",".join(difference.aspects)
    if "status" in difference.aspects:
        what += f" {difference.theirs.status}→{difference.ours.status}"
    return f"{what} · {' '.join(flags) or 'no flags'}"


def summary(tally: Tally, shrunken: list[tuple[int, Difference]], out: TextIO = sys.stdout) -> None:
    """Print counts by backend, documented differences by heading, others with shell lines."""
    backends = ", ".join(f"{backend} {count}" for backend, count in tally.comparisons.items())
    print(f"\n{tally.total} comparisons in {tally.cases} cases ({backends})", file=out)
    if tally.declined:
        print(f"{tally.declined} left by the daemon to its client", file=out)
    if tally.slow:
        print(f"{tally.slow} not compared: ripgrep did not end in time", file=out)
    for heading, count in tally.documented.most_common():
        print(f"documented: {count} × {heading}", file=out)
    print(f"undocumented differences: {len(tally.undocumented)}", file=out)
    groups: dict[str, list[tuple[int, Difference]]] = defaultdict(list)
    for number, difference in shrunken:
        groups[kind_of(difference)].append((number, difference))
    for kind, members in sorted(groups.items(), key=lambda group: -len(group[1])):
        numbers = " ".join(str(number) for number, _ in members[:10])
        print(f"\n## {len(members)} × {kind}   (cases {numbers})", file=out)
        smallest = min((member[1] for member in members), key=lambda each: len(report(each)))
        print(f"backend {smallest.backend}\n{report(smallest)}", file=out)
