"""Evidence for a goal in one file: term counts, names, lines, and how close together terms are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from triseek.engine.context_pack.terms import PHRASE_WEIGHT, split
from triseek.engine.context_pack.words import occurrences
from triseek.engine.ranking.definition_names import defined_name, family_of, line_finder

if TYPE_CHECKING:
    from triseek.engine.context_pack.terms import Goal
    from triseek.engine.ranking.definition_names import Span

OCCURRENCES_MAX = 100
"""Occurrences of a term counted in one file; more add no information."""
WINDOW_BYTES = 1_200
"""About thirty lines: a function."""
_LINE_BYTES_MAX = 400
"""Length of a line written to be read; longer ones are data."""
_IN_NAME_MIN = 3
"""Minimum length of a stem, in bytes, to be looked for in defined names."""
_NOWHERE = (0, 0)
_IMPORT = re.compile(rb"\s*(?:import|from|use|using|require|include|#\s*include|package)\b")


@dataclass(slots=True)
class EvidenceLine:
    """A line that matches some of the goal."""

    start: int
    """Offset of its first byte."""
    end: int
    """Offset after its last byte, without the line terminator."""
    first: int
    """Offset of the first match."""
    terms: dict[int, float] = field(default_factory=dict)
    """By term number: the highest worth of its occurrences."""
    defines: set[int] = field(default_factory=set)
    """Terms in the name that the line defines."""
    exact: float = 0.0
    """Sum of the weights of phrases and pairs."""

    def score(self, weights: list[float]) -> float:
        """Return the line's score; terms that are rare in the tree count most."""
        total = sum(weights[number] * worth for number, worth in self.terms.items())
        total += sum(weights[number] for number in self.defines)
        return total + self.exact


@dataclass(slots=True)
class Evidence:
    """The evidence in one file."""

    size: int
    """Bytes of text."""
    text: list[float]
    """Per term: sum of the worths of its occurrences."""
    definitions: list[float]
    """Per term: the same, in names defined here only."""
    name: list[float]
    """Per term: its share of the words in the file's name."""
    folders: list[float]
    """Per term: its share of the words in the names of its folders."""
    pairs: list[int]
    """Per pair of the goal: how often the two words are adjacent."""
    phrases: list[int]
    near: list[int]
    """Terms in the window with the highest total weight."""
    lines: list[EvidenceLine]


def gather(path: bytes, text: bytes, goal: Goal, weights: list[float]) -> Evidence:
    """Gather the evidence of a file.

    weights: Weight of each term of the goal in this tree.
    """
    lower = text.lower()
    names = _defined(text, path, goal)
    lines = _Lines(text)
    hits: list[tuple[int, int]] = []
    counts, defined = [0.0] * len(goal.terms), [0.0] * len(goal.terms)
    for number, term in enumerate(goal.terms):
        for at, worth in occurrences(text, lower, term.stem, OCCURRENCES_MAX):
            counts[number] += worth
            hits.append((at, number))
            line = lines.at(at)
            line.terms[number] = max(worth, line.terms.get(number, 0.0))
            begin, end = names.get(line.start, _NOWHERE)
            if begin <= at < end:
                line.defines.add(number)
                defined[number] += worth
    folder, _, name = path.rpartition(b"/")
    return Evidence(
        size=len(text),
        text=counts,
        definitions=defined,
        name=_in_words(name.rpartition(b".")[0] or name, goal),  # without its extension
        folders=_in_words(folder, goal),
        pairs=[_pairs(lower, pair, lines, weights, goal) for pair in goal.pairs],
        phrases=[
            # A phrase ranks its line above every line with only some of the words.
            _exact(re.escape(phrase), lower, lines, 10 * PHRASE_WEIGHT)
            for phrase in goal.phrases
        ],
        near=_nearest(sorted(hits), weights),
        lines=lines.found(),
    )


def _defined(text: bytes, path: bytes, goal: Goal) -> dict[int, Span]:
    """Return the spans of defined names that contain a term, by the start of their line."""
    family = family_of(path)
    stems = tuple(term.stem for term in goal.terms if len(term.stem) >= _IN_NAME_MIN)
    if family is None or not stems:
        return {}
    find = line_finder(family, stems, whole=False, any_case=True)
    spans: dict[int, Span] = {}
    start = find(text, 0, len(text))
    while start is not None:
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        span = defined_name(text[start : min(end, start + _LINE_BYTES_MAX)], family)
        if span is not None:
            spans[start] = (start + span[0], start + span[1])
        start = find(text, end + 1, len(text)) if end < len(text) else None
    return spans


class _Lines:
    """The lines with matches, by their start."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._lines: dict[int, EvidenceLine] = {}

    def at(self, at: int) -> EvidenceLine:
        """Return the line that contains the first byte of a match."""
        start = self._text.rfind(b"\n", 0, at) + 1
        line = self._lines.get(start)
        if line is None:
            end = self._text.find(b"\n", at)
            line = EvidenceLine(start, end if end >= 0 else len(self._text), at)
            self._lines[start] = line
        line.first = min(line.first, at)
        return line

    def found(self) -> list[EvidenceLine]:
        """Return all lines of readable length, in order; all lines if none is."""
        lines = [line for _, line in sorted(self._lines.items())]
        return [line for line in lines if line.end - line.start <= _LINE_BYTES_MAX] or lines


def is_import(text: bytes, line: EvidenceLine) -> bool:
    """Return whether a line is an import."""
    return _IMPORT.match(text, line.start, line.end) is not None


def _in_words(name: bytes, goal: Goal) -> list[float]:
    """Return, per term, the share of a name's words that begin with it.

    The share is 1 if the name contains the term as an identifier of several parts.
    """
    words = [word.encode() for word in split(name.decode(errors="replace"))]
    share = 1 / max(len(words), 1)
    return [
        1.0
        if _holds(name, term.stem)
        else min(share * sum(word.startswith(term.stem) for word in words), 1.0)
        for term in goal.terms
    ]


def _holds(name: bytes, stem: bytes) -> bool:
    """Return whether a name contains the stem, which must be an identifier of several parts."""
    return (b"_" in stem or len(stem) > 12) and stem in name.lower()


def _pairs(
    lower: bytes, pair: tuple[bytes, bytes], lines: _Lines, weights: list[float], goal: Goal
) -> int:
    """Return how often two words are adjacent, as words or as parts of one name."""
    pattern = re.escape(pair[0]) + rb"[a-z]{0,5}[ _./:-]{0,2}" + re.escape(pair[1])
    stems = [term.stem for term in goal.terms]
    worth = sum(weights[stems.index(word)] for word in pair if word in stems) / 2
    return _exact(pattern, lower, lines, worth)


def _exact(pattern: bytes, lower: bytes, lines: _Lines, worth: float) -> int:
    """Add `worth` to each line with a match of a pattern; return the number of matches."""
    matches = list(islice(re.finditer(pattern, lower), OCCURRENCES_MAX))
    for match in matches:
        lines.at(match.start()).exact += worth
    return len(matches)


def _nearest(hits: list[tuple[int, int]], weights: list[float]) -> list[int]:
    """Return the numbers of the terms in the best window of `WINDOW_BYTES`, in ascending order."""
    inside: Counter[int] = Counter()
    best, weight, most, first = [], 0.0, 0.0, 0
    for at, number in hits:
        inside[number] += 1
        weight += weights[number] if inside[number] == 1 else 0.0
        while hits[first][0] < at - WINDOW_BYTES:
            dropped = hits[first][1]
            inside[dropped] -= 1
            weight -= weights[dropped] if inside[dropped] == 0 else 0.0
            first += 1
        if weight > most + 1e-9:
            most, best = weight, sorted(term for term, count in inside.items() if count)
    return best
