"""Candidates for a context pack: the files that may be in it, their scores, and the reasons."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from operator import mul
from typing import TYPE_CHECKING

from triseek.engine.context_pack import bm25, evidence
from triseek.engine.ranking.definition_names import family_of
from triseek.engine.ranking.path_class import PathClass, path_class
from triseek.files.tree.text import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.engine.context_pack.evidence import Evidence
    from triseek.engine.context_pack.terms import Goal
    from triseek.model.context_pack import Intent, Reason

READ_BYTES = 1 << 18
"""Bytes read of a file, at most; longer files are data."""
_TEXT = bm25.Field(weight=1.0, length_share=0.6)
_DEFINITIONS = bm25.Field(weight=3.0, length_share=0.3)
_NAME = bm25.Field(weight=6.0, length_share=0.0)
_FOLDERS = bm25.Field(weight=1.5, length_share=0.0)
_NEAR = 0.5
"""Score of terms that occur within a few lines of each other, as a share of their weights."""
_NAMED = 0.7
"""Score of a file name made of the goal's words, as a share of their weights: `retry.py` is what a
goal about retries is about, however often other files use the word."""
_PAIR = 0.5
_ASKED_FOR = 0.65
"""Minimum prior of a class that the goal names."""
_NO_CODE = 0.6
"""Factor for data and settings, relative to code."""
_PHRASE = 4.0
_CONFIGURATIONS = (b".toml", b".yaml", b".yml", b".ini", b".cfg", b".conf", b".json", b".env")
_FIXTURES = (b"fixture", b"testdata", b"test-data", b"test_data", b"snapshots", b"cassettes")

PRIORS: dict[Intent, dict[PathClass, float]] = {
    "bugfix": {
        PathClass.SOURCE: 1.0,
        PathClass.TEST: 0.5,
        PathClass.DOCS: 0.4,
        PathClass.VENDORED: 0.3,
        PathClass.GENERATED: 0.25,
    },
    "review": {
        PathClass.SOURCE: 1.0,
        PathClass.TEST: 0.8,
        PathClass.DOCS: 0.5,
        PathClass.VENDORED: 0.3,
        PathClass.GENERATED: 0.25,
    },
}
"""Score factor per path class for each intent: how likely such a file is wanted."""
_NAMING: dict[PathClass, frozenset[str]] = {
    PathClass.TEST: frozenset(("test", "tests", "testing", "spec", "fixture", "fixtures")),
    PathClass.DOCS: frozenset(
        ("doc", "docs", "documentation", "docstring", "readme", "changelog", "example", "examples")
    ),
    PathClass.VENDORED: frozenset(("vendor", "vendored")),
    PathClass.GENERATED: frozenset(("generated", "lockfile")),
}
"""Words in a goal that name a path class."""


@dataclass(slots=True)
class Candidate:
    """A file that may be in the pack."""

    path: bytes
    score: float = 0.0
    reasons: set[Reason] = field(default_factory=set)
    text: bytes = b""
    evidence: Evidence | None = None
    line: int = 0
    """Line number that the goal names; 0 if none."""

    def holds(self, texts: Iterable[bytes]) -> bool:
        """Return whether the path or text contains any of these lower-case texts, in any case."""
        path, text = self.path.lower(), self.text.lower()
        return any(wanted in path or wanted in text for wanted in texts)


class Files:
    """Reader of a tree's text files; reads at most the first `READ_BYTES` of each."""

    def __init__(self, root: str) -> None:
        self._lead = os.fsencode(root) + b"/"

    def read(self, path: bytes) -> bytes | None:
        """Return a file's text; None if it cannot be read or is not text."""
        try:
            # The path may have become a link out of the tree, or a pipe without a writer.
            flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            file = os.open(self._lead + path, flags)
        except OSError:
            return None
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return None
            data = _up_to(file, READ_BYTES)
        except OSError:
            return None
        finally:
            os.close(file)
        text = decode(data)
        return None if text is None else text.data


def read(
    paths: Iterable[bytes], files: Files, goal: Goal, weights: list[float], stop: Callable[[], bool]
) -> list[Candidate]:
    """Read files and gather their evidence; files that cannot be read are left out.

    weights: Weight of each term of the goal in this tree.
    """
    candidates = []
    for path in dict.fromkeys(paths):
        if stop():
            break
        text = files.read(path)
        if text is not None:
            file_evidence = evidence.gather(path, text, goal, weights)
            candidates.append(Candidate(path, text=text, evidence=file_evidence))
    return candidates


def rate(
    candidates: list[Candidate],
    goal: Goal,
    intent: Intent,
    weights: list[float],
    phrase_idf: list[float],
) -> None:
    """Set the score of each candidate from its evidence, and add the reasons."""
    sizes = [item.evidence.size for item in candidates if item.evidence is not None]
    size_mean = sum(sizes) / max(len(sizes), 1)
    classes = _classes_asked_for(goal)
    for candidate in candidates:
        file_evidence = candidate.evidence
        if file_evidence is None:
            continue
        score = _terms_score(file_evidence, weights, size_mean)
        score += _NEAR * sum(weights[number] for number in file_evidence.near)
        score += _NAMED * sum(map(mul, weights, file_evidence.name))
        score += _pairs_score(file_evidence, goal, weights)
        score += sum(
            _PHRASE * weight * bm25.saturated(count)
            for count, weight in zip(file_evidence.phrases, phrase_idf, strict=True)
        )
        candidate.score = score * _prior(candidate.path, intent, classes)
        candidate.reasons |= _reasons(candidate.path, file_evidence)


def _prior(path: bytes, intent: Intent, classes: set[PathClass]) -> float:
    kind = path_class(path)
    prior = PRIORS[intent][kind]
    if kind in classes:
        prior = max(prior, _ASKED_FOR)
    return prior * (_NO_CODE if kind is PathClass.SOURCE and not is_code(path) else 1.0)


def is_code(path: bytes) -> bool:
    """Return whether a file is in a language that defines names, and is not configuration."""
    return family_of(path) is not None and not path.lower().endswith(_CONFIGURATIONS)


def _terms_score(data: Evidence, weights: list[float], size_mean: float) -> float:
    worths = [
        (
            bm25.normalised(_TEXT, data.text[number], data.size, size_mean),
            bm25.normalised(_DEFINITIONS, data.definitions[number], data.size, size_mean),
            bm25.normalised(_NAME, float(data.name[number] > 0), 1, 1),
            bm25.normalised(_FOLDERS, float(data.folders[number] > 0), 1, 1),
        )
        for number in range(len(weights))
    ]
    return bm25.score(worths, weights)


def _pairs_score(data: Evidence, goal: Goal, weights: list[float]) -> float:
    weight_of = {term.stem: weight for term, weight in zip(goal.terms, weights, strict=True)}
    return sum(
        _PAIR * (weight_of.get(first, 0.0) + weight_of.get(second, 0.0)) / 2 * bm25.saturated(count)
        for (first, second), count in zip(goal.pairs, data.pairs, strict=True)
    )


def _classes_asked_for(goal: Goal) -> set[PathClass]:
    words = {term.word for term in goal.terms}
    return {kind for kind, names in _NAMING.items() if words & names}


def _reasons(path: bytes, data: Evidence) -> set[Reason]:
    reasons: set[Reason] = set()
    if any(data.text) or any(data.phrases):
        reasons.add("content_match")
    if any(data.definitions):
        reasons.add("definition")
    if any(data.name) or any(data.folders):
        reasons.add("path_match")
    lower = path.lower()
    if lower.endswith(_CONFIGURATIONS) or b"config" in lower.rpartition(b"/")[2]:
        reasons.add("config_like")
    if any(mark in lower for mark in _FIXTURES):
        reasons.add("fixture_like")
    return reasons


def _up_to(file: int, most: int) -> bytes:
    pieces, left = [], most
    while left and (piece := os.read(file, left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
