"""A commit as what its author did: searched, read, edited.

The edits are the commit's. The searches and reads are made up, by this rule:

- before the edits: searches for a name on lines that the commit removes, and for one that it
  brings in (is there one of that name?), drawn with a seed by how often they stand there;
- reads of the lines that are changed, with some around them, and of the files that are imported
  where the import's own name stands on a changed line;
- after the edits: a search for a name that the commit removed and nowhere puts back (is one left?).

Whoever begins, at first and again after a cut, searches for the words of the goal.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.handoff import imports
from bench.handoff.branches import git

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

AROUND = 20
"""Lines that are read before and after those that change."""
IMPORTED_MAX = 4
"""Files read in a commit for being imported."""
OPENING_MAX = 4
"""Searches of whoever begins."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{4,60}")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")
_WORD = re.compile(r"[^\W_][\w.-]{3,}")
_DULL = re.compile(
    r"(?i)(?:when|with|from|that|this|have|into|only|also|then|than|some|more|made?|make|does|adds?|"
    r"added|using|instead|should|could|would|about|fix(?:es|ed)?|support|update|improve|remove|allow)"
)


@dataclass(slots=True)
class Change:
    """What a commit does to one file."""

    path: str
    status: str
    """A, M or D."""
    first: int = 0
    """Of the lines that change, as they are before; 0: none, it is new or not text."""
    last: int = 0
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Work:
    """What was done for a commit, in order."""

    commit: str
    asked: tuple[str, ...]
    read: tuple[tuple[str, int, int], ...]
    """Path, first and last line; 0, 0 for all of it."""
    edited: tuple[str, ...]
    checked: tuple[str, ...]


def changes(repository: Path, commit: str) -> list[Change]:
    """What a commit changes, by path."""
    told = git(
        repository, "diff-tree", "-r", "-p", "--root", "-U0", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--no-color", "--no-commit-id", commit,
    )  # fmt: skip
    found: list[Change] = []
    for part in re.split(r"^diff --git ", told, flags=re.MULTILINE)[1:]:
        change = _change(part)
        if change is not None:
            found.append(change)
    return sorted(found, key=lambda change: change.path)


def work(repository: Path, commit: str, files: frozenset[str], seed: str) -> Work:
    """What its author did for a commit.

    Args:
        repository: a clone.
        commit: its hash.
        files: paths of the tree before it.
        seed: of what is drawn.
    """
    found = changes(repository, commit)
    draw = random.Random(f"{seed} {commit}")
    gone = _names(line for change in found for line in change.removed)
    come = _names(line for change in found for line in change.added)
    new = Counter({name: count for name, count in come.items() if name not in gone})
    lost = Counter({name: count for name, count in gone.items() if name not in come})
    asked = [*_drawn(draw, gone, 2), *_drawn(draw, new, 1)]
    reads = [
        (change.path, max(1, change.first - AROUND), change.last + AROUND)
        for change in found
        if change.status != "A" and change.first
    ]
    known = {path for path, _, _ in reads}
    imported = [
        (path, 0, 0)
        for change in found
        for path in imports.used(change.path, [*change.removed, *change.added], files)
        if path not in known
    ]
    return Work(
        commit,
        tuple(dict.fromkeys(asked)),
        tuple(dict.fromkeys([*reads, *imported[:IMPORTED_MAX]])),
        tuple(change.path for change in found),
        tuple(_drawn(draw, lost, 1)),
    )


def openings(goal: str) -> list[str]:
    """What one searches for who knows the goal only: its longer words, and pairs of them."""
    words = [word.strip(".-") for word in _WORD.findall(goal)]
    told = [word for word in words if not _DULL.fullmatch(word) and len(word) > 3]
    longest = sorted(dict.fromkeys(told), key=lambda word: (-len(word), word))[:2]
    pairs = [f"{a} {b}" for a, b in itertools.pairwise(told) if f"{a} {b}" in goal]
    return [*longest, *dict.fromkeys(pairs)][:OPENING_MAX]


def _change(part: str) -> Change | None:
    head, _, body = part.partition("\n@@ ")
    path = _path(head)
    if path is None:
        return None
    status = "A" if "\nnew file mode" in head else "D" if "\ndeleted file mode" in head else "M"
    change = Change(path, status)
    for line in ("@@ " + body).splitlines() if body else ():
        if line.startswith("@@ "):
            _widen(change, line)
        elif line.startswith("+"):
            change.added.append(line[1:])
        elif line.startswith("-"):
            change.removed.append(line[1:])
    return change


def _path(head: str) -> str | None:
    """Of both names in `a/PATH b/PATH`: they are the same where nothing is renamed."""
    line = head.split("\n", 1)[0]
    if line.startswith('"'):
        return None  # a name with a quote or a tab
    half = (len(line) - 1) // 2
    return line[2:half] if line[:1] == "a" else None


def _widen(change: Change, line: str) -> None:
    told = re.match(r"@@ -(\d+)(?:,(\d+))? ", line)
    if told is None or change.status == "A":
        return
    first, count = int(told[1]), int(told[2] or 1)
    last = first + max(count, 1) - 1
    change.first = min(change.first, max(1, first)) if change.first else max(1, first)
    change.last = max(change.last, last, 1)


def _names(lines: Iterable[str]) -> Counter[str]:
    """Identifiers of more than one part, which one would search for, and how often they are."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(name for name in _NAME.findall(line) if _HUMP.search(name))
    return counts


def _drawn(draw: random.Random, counts: Counter[str], most: int) -> list[str]:
    left = dict(counts)
    found: list[str] = []
    while left and len(found) < most:
        name = draw.choices(list(left), list(left.values()))[0]
        found.append(name)
        del left[name]
    return found
