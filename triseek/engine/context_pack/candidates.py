"""Candidates for a context pack: the files that may be in it, their scores, and the reasons.

Scores of words are BM25F: Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond" (2009), §3.6. Term frequencies are weighted and normalised per field, summed, and saturated
once, so that a term in both a file's name and its text does not count twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.context_pack import evidence
from triseek.engine.ranking.definition_names import family_of
from triseek.engine.ranking.path_class import PathClass, path_class
from triseek.files.access import open_regular
from triseek.files.tree.text import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.engine.context_pack.evidence import Evidence
    from triseek.engine.context_pack.terms import Goal
    from triseek.model.context_pack import Intent, Reason

SATURATION = 1.2
"""k1: how quickly further occurrences of a term stop counting."""
READ_BYTES = 1 << 18
"""Bytes read of a file, at most; longer files are data."""


class Field(NamedTuple):
    """Parameters of one field that every document has."""

    weight: float
    """Weight of an occurrence in this field."""
    length_share: float
    """b. 0: the field's length has no effect; 1: twice the length halves an occurrence."""


_TEXT = Field(weight=1.0, length_share=0.6)
_DEFINITIONS = Field(weight=3.0, length_share=0.3)
_NAME_WORTH = 6.0
_FOLDER_WORTH = 1.5
_NEAR = 0.5
"""Score of terms that occur within a few lines of each other, as a share of their weights."""
_NAMED = 0.7
"""Score of a file name made of the goal's words, as a share of their weights: `retry.py` is what a
goal about retries is about, however often other files use the word."""
_PAIR = 0.5
_NAMED_CLASS = 0.65
"""Minimum prior of a class that the goal names."""
_NO_CODE = 0.6
"""Factor for data and settings, relative to code."""
_PHRASE = 4.0
_CONFIGURATIONS = (b".toml", b".yaml", b".yml", b".ini", b".cfg", b".conf", b".json", b".env")
_FIXTURES = (b"fixture", b"testdata", b"test-data", b"test_data", b"snapshots", b"cassettes")

_ANY_INTENT = {PathClass.SOURCE: 1.0, PathClass.VENDORED: 0.3, PathClass.GENERATED: 0.25}
PRIORS: dict[Intent, dict[PathClass, float]] = {
    "bugfix": {**_ANY_INTENT, PathClass.TEST: 0.5, PathClass.DOCS: 0.4},
    "review": {**_ANY_INTENT, PathClass.TEST: 0.8, PathClass.DOCS: 0.5},
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


def idf(documents: int, containing: int) -> float:
    """Return the inverse document frequency of a term; never below 0."""
    return math.log1p((documents - containing + 0.5) / (containing + 0.5))


def normalised(field: Field, occurrences: float, length: float, length_mean: float) -> float:
    """Return the length-normalised, weighted term frequency in one field of one document."""
    if not occurrences:
        return 0.0
    ratio = length / length_mean if length_mean > 0 else 1.0
    return field.weight * occurrences / (1 - field.length_share + field.length_share * ratio)


def saturated(worth: float) -> float:
    """Return the share of its idf that a term scores, in [0, 1).

    worth: sum of the term's `normalised` values over all fields.
    """
    return worth / (SATURATION + worth)


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
        return any(each in path or each in text for each in texts)


def read(
    root: bytes, paths: Iterable[bytes], goal: Goal, weights: list[float], stop: Callable[[], bool]
) -> list[Candidate]:
    """Read files and gather their evidence; files that cannot be read are left out.

    root: The tree's folder. weights: Weight of each term of the goal in this tree.
    """
    candidates = []
    for path in dict.fromkeys(paths):
        if stop():
            break
        text = _text_of(root + b"/" + path)
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
    classes = _classes_named_in(goal)
    for candidate in candidates:
        file_evidence = candidate.evidence
        if file_evidence is None:
            continue
        score = _terms_score(file_evidence, weights, size_mean)
        score += _NEAR * sum(weights[number] for number in file_evidence.near)
        score += _NAMED * sum(map(mul, weights, file_evidence.name))
        score += _pairs_score(file_evidence, goal, weights)
        score += sum(
            _PHRASE * weight * saturated(count)
            for count, weight in zip(file_evidence.phrases, phrase_idf, strict=True)
        )
        candidate.score = score * _prior(candidate.path, intent, classes)
        candidate.reasons |= _reasons(candidate.path, file_evidence)


def _text_of(path: bytes) -> bytes | None:
    """Return a file's first `READ_BYTES` as text; None if it cannot be read or is not text."""
    try:
        # The path may have become a link out of the tree, or a pipe without a writer.
        with open(open_regular(path, follow=False), "rb") as file:  # noqa: PTH123 - a descriptor
            text = decode(file.read(READ_BYTES))
    except OSError:
        return None
    return None if text is None else text.data


def _prior(path: bytes, intent: Intent, classes: set[PathClass]) -> float:
    kind = path_class(path)
    prior = PRIORS[intent][kind]
    if kind in classes:
        prior = max(prior, _NAMED_CLASS)
    return prior * (_NO_CODE if kind is PathClass.SOURCE and not is_code(path) else 1.0)


def is_code(path: bytes) -> bool:
    """Return whether a file is in a language that defines names, and is not configuration."""
    return family_of(path) is not None and not path.lower().endswith(_CONFIGURATIONS)


def _terms_score(data: Evidence, weights: list[float], size_mean: float) -> float:
    score = 0.0
    for number, weight in enumerate(weights):
        worth = normalised(_TEXT, data.text[number], data.size, size_mean)
        worth += normalised(_DEFINITIONS, data.definitions[number], data.size, size_mean)
        worth += _NAME_WORTH * (data.name[number] > 0)
        worth += _FOLDER_WORTH * (data.folders[number] > 0)
        score += weight * saturated(worth)
    return score


def _pairs_score(data: Evidence, goal: Goal, weights: list[float]) -> float:
    weight_of = {term.stem: weight for term, weight in zip(goal.terms, weights, strict=True)}
    return sum(
        _PAIR * (weight_of.get(first, 0.0) + weight_of.get(second, 0.0)) / 2 * saturated(count)
        for (first, second), count in zip(goal.pairs, data.pairs, strict=True)
    )


def _classes_named_in(goal: Goal) -> set[PathClass]:
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
