"""Questions made by a program: identifiers of a repository, drawn by how many lines have them."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, NamedTuple

from bench import command, corpora, sampling
from bench.model import Faulty

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

FEW = 20
"""Lines of rg up to which a question counts as one with few."""
CLASSES = ((1, 1, 5), (2, 5, 5), (6, FEW, 5), (FEW + 1, 100, 2), (101, 300, 2), (301, 1_000, 1))
"""The least and the most lines that rg prints, and how many questions of each repository have so
many. There are none with more lines: they would flatter triseek, which shows the best 20 of any."""
_NAME = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)+|[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)+")
"""Names of several words. The others in a repository are mostly prose and checksums."""
LINE_MAX = 500
"""Bytes of a line that rg prints. Questions with longer lines, of generated files, would flatter
triseek, too: it cuts lines."""


class Question(NamedTuple):
    """An identifier, and what rg prints of it."""

    name: str
    rg: str
    """The output of `rg -n NAME`."""

    @property
    def lines(self) -> int:
        """The lines that rg prints."""
        return self.rg.count("\n")


def questions(root: Path, rg: str, seed: str) -> list[Question]:
    """Draw the questions of a repository.

    Raises:
        Faulty: it has too few identifiers that are as frequent as the classes ask for.
    """
    draw = random.Random(seed)
    frequency = sampling.frequency(root, corpora.listing(root, rg))
    return [one for bounds in CLASSES for one in _of_class(root, rg, frequency, bounds, draw)]


def _of_class(
    root: Path, rg: str, frequency: Counter[str], bounds: tuple[int, int, int], draw: random.Random
) -> Iterator[Question]:
    low, high, number = bounds
    names = sorted(
        name for name, count in frequency.items() if low <= count <= high and _NAME.fullmatch(name)
    )
    draw.shuffle(names)
    for name in names:
        if not number:
            return
        question = asked(root, rg, name)
        long = any(len(line) > LINE_MAX for line in question.rg.splitlines())
        if low <= question.lines <= high and not long:
            number -= 1
            yield question
    if number:
        raise Faulty(f"{root}: too few identifiers in {low} to {high} lines")


def asked(root: Path, rg: str, name: str) -> Question:
    """Return the question for a name: what an agent's shell would print of it."""
    output = command.run([rg, "--no-config", "-n", name], cwd=root, keep=True).output
    return Question(name, output.decode(errors="replace"))
