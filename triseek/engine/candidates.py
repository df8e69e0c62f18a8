"""Candidates of a context pack: each file that may be in it, what it scores, and why."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from operator import mul
from typing import TYPE_CHECKING

from triseek.engine import bm25, evidence
from triseek.engine.definition_names import family_of
from triseek.engine.pathclass import PathClass, path_class
from triseek.files.text import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.engine.evidence import Evidence
    from triseek.engine.terms import Goal
    from triseek.model.context_pack import Intent, Reason

READ_BYTES = 1 << 18
"""Of a file, at most: a longer one is data."""
_TEXT = bm25.Field(weight=1.0, length_share=0.6)
_DEFINITIONS = bm25.Field(weight=3.0, length_share=0.3)
_NAME = bm25.Field(weight=6.0, length_share=0.0)
_FOLDERS = bm25.Field(weight=1.5, length_share=0.0)
_NEAR = 0.5
"""What all terms within a few lines add to a score, as a share of the terms' weights."""
_NAMED = 0.7
"""What a name made of the goal's words adds, as a share of their weights: `retry.py` is what a
goal that speaks of retries is about, however often other files use the word."""
_PAIR = 0.5
_ASKED_FOR = 0.65
"""The least prior of a class that the goal names."""
_NO_CODE = 0.6
"""What data and settings are worth beside code."""
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
"""How likely a file of each class is what the intent is after."""
_NAMING: dict[PathClass, frozenset[str]] = {
    PathClass.TEST: frozenset(("test", "tests", "testing", "spec", "fixture", "fixtures")),
    PathClass.DOCS: frozenset(
        ("doc", "docs", "documentation", "docstring", "readme", "changelog", "example", "examples")
    ),
    PathClass.VENDORED: frozenset(("vendor", "vendored")),
    PathClass.GENERATED: frozenset(("generated", "lockfile")),
}
"""Words of a goal that ask for a class by name."""


@dataclass(slots=True)
class Candidate:
    """A file that may be in the pack."""

    path: bytes
    score: float = 0.0
    reasons: set[Reason] = field(default_factory=set)
    text: bytes = b""
    evidence: Evidence | None = None
    line: int = 0
    """That the goal names; 0: none."""

    def holds(self, texts: Iterable[bytes]) -> bool:
        """Whether any of these lower-case texts is in the path or the text, in any case."""
        path, text = self.path.lower(), self.text.lower()
        return any(each in path or each in text for each in texts)


class Files:
    """Reads a tree's files: small ones whole, of others the beginning; nothing that is no text."""

    def __init__(self, root: str) -> None:
        self._lead = os.fsencode(root) + b"/"

    def read(self, path: bytes) -> bytes | None:
        """A file's text; None where there is none to be had, for whatever reason."""
        try:
            # A path may have become a link out of the tree, or a pipe nobody writes to.
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
    paths: Iterable[bytes], files: Files, goal: Goal, idf: list[float], stop: Callable[[], bool]
) -> list[Candidate]:
    """Read files and collect what they say; those that have become unreadable are left out."""
    weights = [term.weight * each for term, each in zip(goal.terms, idf, strict=True)]
    found = []
    for path in dict.fromkeys(paths):
        if stop():
            break
        text = files.read(path)
        if text is not None:
            said = evidence.gather(path, text, goal, weights)
            found.append(Candidate(path, text=text, evidence=said))
    return found


def rate(
    candidates: list[Candidate],
    goal: Goal,
    intent: Intent,
    idf: list[float],
    phrase_idf: list[float],
) -> None:
    """Score each candidate by what it says, and give the reasons."""
    weights = [term.weight * each for term, each in zip(goal.terms, idf, strict=True)]
    sizes = [each.evidence.size for each in candidates if each.evidence is not None]
    size_mean = sum(sizes) / max(len(sizes), 1)
    asked = _classes_asked_for(goal)
    for candidate in candidates:
        said = candidate.evidence
        if said is None:
            continue
        score = _terms_score(said, weights, size_mean)
        score += _NEAR * sum(weights[number] for number in said.near)
        score += _NAMED * sum(map(mul, weights, said.name))
        score += _pairs_score(said, goal, weights)
        score += sum(
            _PHRASE * each * bm25.saturated(n)
            for n, each in zip(said.phrases, phrase_idf, strict=True)
        )
        candidate.score = score * _prior(candidate.path, intent, asked)
        candidate.reasons |= _reasons(candidate.path, said)


def _prior(path: bytes, intent: Intent, asked: set[PathClass]) -> float:
    kind = path_class(path)
    prior = PRIORS[intent][kind]
    if kind in asked:
        prior = max(prior, _ASKED_FOR)
    return prior * (_NO_CODE if kind is PathClass.SOURCE and not is_code(path) else 1.0)


def is_code(path: bytes) -> bool:
    """Whether a file is of a language in which names are defined, and not only set."""
    return family_of(path) is not None and not path.lower().endswith(_CONFIGURATIONS)


def _terms_score(said: Evidence, weights: list[float], size_mean: float) -> float:
    worths = [
        {
            "text": bm25.normalised(_TEXT, said.text[number], said.size, size_mean),
            "definitions": bm25.normalised(
                _DEFINITIONS, said.definitions[number], said.size, size_mean
            ),
            "name": bm25.normalised(_NAME, float(said.name[number] > 0), 1, 1),
            "folders": bm25.normalised(_FOLDERS, float(said.folders[number] > 0), 1, 1),
        }
        for number in range(len(weights))
    ]
    return bm25.score(worths, weights)


def _pairs_score(said: Evidence, goal: Goal, weights: list[float]) -> float:
    known = {term.stem: weight for term, weight in zip(goal.terms, weights, strict=True)}
    return sum(
        _PAIR * (known.get(first, 0.0) + known.get(second, 0.0)) / 2 * bm25.saturated(count)
        for (first, second), count in zip(goal.pairs, said.pairs, strict=True)
    )


def _classes_asked_for(goal: Goal) -> set[PathClass]:
    words = {term.word for term in goal.terms}
    return {kind for kind, names in _NAMING.items() if words & names}


def _reasons(path: bytes, said: Evidence) -> set[Reason]:
    reasons: set[Reason] = set()
    if any(said.text) or any(said.phrases):
        reasons.add("content_match")
    if any(said.definitions):
        reasons.add("definition")
    if any(said.name) or any(said.folders):
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
