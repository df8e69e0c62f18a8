"""Ways to go from a goal to a ranked list of files: the pack's, and what it must beat."""

from __future__ import annotations

import math
import re
import subprocess
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Protocol

from bench.corpora import listing
from bench.pack.tasks import is_source

if TYPE_CHECKING:
    from pathlib import Path

    from triseek.engine.engine import Engine

DEPTH = 12
"""Files of a list that are looked at: the most a pack may have."""
BYTES_MAX = 1 << 20
"""Larger files are not read by the peers, which costs them no file of any task."""


class Ranker(Protocol):
    """Ranks a tree's files for a goal."""

    name: str
    about: str

    def rank(self, goal: str) -> list[str]:
        """Return the best files first, at most `DEPTH`."""
        ...


class ContextPack:
    """What we ship."""

    name = "context_pack"
    about = "`triseek context-pack`, intent bugfix, nothing but the goal"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def rank(self, goal: str) -> list[str]:
        """Return what a call gives that allows as many files as there may be."""
        from triseek.engine.context_pack.pack import context_pack
        from triseek.model.context_pack import BUDGET_TOKENS_MAX, FILES_MAX, ContextPackRequest

        request = ContextPackRequest(
            goal=goal, budget_tokens=BUDGET_TOKENS_MAX, max_files=FILES_MAX
        )
        return [item.path for item in context_pack(self._engine, request).items]


class Bm25:
    """BM25 (k1 1.2, b 0.75) over the tokens of whole files, names split as well as whole."""

    def __init__(self, root: Path, rg: str, *, sources_only: bool) -> None:
        self.name = "BM25, sources" if sources_only else "BM25"
        self.about = "plain BM25 over whole files" + (
            ", told beforehand which files are sources: what no tool knows" if sources_only else ""
        )
        self._counts: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._paths: list[str] = []
        self._lengths: list[int] = []
        for raw in listing(root, rg):
            path = raw.decode("utf-8", "surrogateescape")
            if not sources_only or is_source(path):
                self._add(path, root / path)

    def _add(self, path: str, file: Path) -> None:
        if file.stat().st_size > BYTES_MAX:
            return
        counts = Counter(tokens(file.read_bytes().decode("utf-8", "replace")))
        for token, count in counts.items():
            self._counts[token].append((len(self._paths), count))
        self._paths.append(path)
        self._lengths.append(counts.total())

    def rank(self, goal: str) -> list[str]:
        """Return the files by their score; equal ones by path."""
        total, mean = len(self._paths), sum(self._lengths) / len(self._paths)
        scores: dict[int, float] = defaultdict(float)
        for token in dict.fromkeys(tokens(goal)):
            found = self._counts.get(token, [])
            idf = math.log1p((total - len(found) + 0.5) / (len(found) + 0.5))
            for number, count in found:
                length = 1 - 0.75 + 0.75 * self._lengths[number] / mean
                scores[number] += idf * count * 2.2 / (count + 1.2 * length)
        order = sorted(scores, key=lambda number: (-scores[number], self._paths[number]))
        return [self._paths[number] for number in order[:DEPTH]]


class Ripgrep:
    """rg of the goal's longest word, the files with the most matching lines first."""

    name = "rg"
    about = "`rg -i -F -c` of the goal's longest word, files by matching lines"

    def __init__(self, root: Path, rg: str) -> None:
        self._root = root
        self._rg = rg

    def rank(self, goal: str) -> list[str]:
        """Return the files by count; equal ones by path."""
        word = max(re.findall(r"\w+", goal), key=len)
        argv = [self._rg, "--no-config", "-i", "-F", "-c", "--null", "-e", word, "."]
        done = subprocess.run(argv, cwd=self._root, capture_output=True, check=False)
        rows = [row.split(b"\0") for row in done.stdout.splitlines() if b"\0" in row]
        order = sorted(rows, key=lambda row: (-int(row[1]), row[0]))
        return [
            path.removeprefix(b"./").decode("utf-8", "surrogateescape") for path, _ in order[:DEPTH]
        ]


def tokens(text: str) -> list[str]:
    """Return words in lower case: identifiers whole, and their parts at humps and underscores."""
    found = []
    for word in re.findall(r"[^\W_]\w*", text):
        found.append(word.lower())
        parts = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+", word)
        if len(parts) > 1:
            found += [part.lower() for part in parts]
    return found
