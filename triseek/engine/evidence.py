"""What one file says of a goal: how often, in which names, on which lines, how close together."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triseek.engine.definition_names import defined_name, family_of, line_finder
from triseek.engine.occurrences import occurrences
from triseek.engine.terms import split

if TYPE_CHECKING:
    from triseek.engine.definition_names import Span
    from triseek.engine.terms import Goal

OCCURRENCES_MAX = 100
"""Of a term in one file; more say nothing new."""
WINDOW_BYTES = 1_200
"""About thirty lines: a function."""
_LINE_BYTES_MAX = 400
"""Nobody wrote a longer line to be read."""
_IN_NAME_MIN = 3
"""Bytes of a stem that says something of a name that holds it."""
_NOWHERE = (0, 0)
_IMPORT = re.compile(rb"\s*(?:import|from|use|using|require|include|#\s*include|package)\b")


@dataclass(slots=True)
class Line:
    """A line with something of the goal on it."""

    start: int
    """Its first byte."""
    end: int
    """Behind its last byte, without the line's end."""
    first: int
    """Where the first match begins."""
    terms: dict[int, float] = field(default_factory=dict)
    """By number of the term: the best worth of its occurrences."""
    defines: set[int] = field(default_factory=set)
    """Terms in the name that is defined here."""
    exact: float = 0.0
    """Phrases and pairs, each with its weight."""

    def score(self, weights: list[float]) -> float:
        """How much the line says; terms rare in the tree say most."""
        said = sum(weights[number] * worth for number, worth in self.terms.items())
        said += sum(weights[number] for number in self.defines)
        return said + self.exact


@dataclass(slots=True)
class Evidence:
    """What one file says."""

    size: int
    """Bytes of text."""
    text: list[float]
    """Per term: occurrences, each by its worth."""
    definitions: list[float]
    """Per term: occurrences in names defined here."""
    name: list[float]
    """Per term: its share of the words in the file's name."""
    folders: list[float]
    """Per term: its share of the words in the names of its folders."""
    pairs: list[int]
    """Per pair of the goal: how often the two stand together."""
    phrases: list[int]
    near: list[int]
    """Terms of the window that has most of the goal's weight."""
    lines: list[Line]


def gather(path: bytes, text: bytes, goal: Goal, weights: list[float]) -> Evidence:
    """Collect what a file says.

    weights: per term of the goal, what it is worth in this tree.
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
        name=_in_words(_bare(name), goal),
        folders=_in_words(folder, goal),
        pairs=[_pairs(lower, pair, lines, weights, goal) for pair in goal.pairs],
        phrases=[_phrases(lower, phrase.text, lines, phrase.weight) for phrase in goal.phrases],
        near=_nearest(sorted(hits), weights),
        lines=lines.found(),
    )


def _defined(text: bytes, path: bytes, goal: Goal) -> dict[int, Span]:
    """Where the names stand that are defined and hold a term, by where their lines begin."""
    family = family_of(path)
    stems = tuple(term.stem for term in goal.terms if len(term.stem) >= _IN_NAME_MIN)
    if family is None or not stems:
        return {}
    find = line_finder(family, stems, whole=False, any_case=True)
    found: dict[int, Span] = {}
    start = find(text, 0, len(text))
    while start is not None:
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        span = defined_name(text[start : min(end, start + _LINE_BYTES_MAX)], family)
        if span is not None:
            found[start] = (start + span[0], start + span[1])
        start = find(text, end + 1, len(text)) if end < len(text) else None
    return found


class _Lines:
    """The lines that have something, by where they begin."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._lines: dict[int, Line] = {}

    def at(self, at: int) -> Line:
        """The line around a byte, which is a match's first."""
        start = self._text.rfind(b"\n", 0, at) + 1
        line = self._lines.get(start)
        if line is None:
            end = self._text.find(b"\n", at)
            line = Line(start, end if end >= 0 else len(self._text), at)
            self._lines[start] = line
        line.first = min(line.first, at)
        return line

    def found(self) -> list[Line]:
        """All of them that a person might read, in order."""
        return [
            line
            for _, line in sorted(self._lines.items())
            if line.end - line.start <= _LINE_BYTES_MAX
        ] or [line for _, line in sorted(self._lines.items())]


def is_import(text: bytes, line: Line) -> bool:
    """Whether a line only brings in names that are made elsewhere."""
    return _IMPORT.match(text, line.start, line.end) is not None


def _in_words(name: bytes, goal: Goal) -> list[float]:
    """Per term, what share of a name's words begin with it; all of it for a name as written."""
    words = [word.encode() for word in split(name.decode(errors="replace"))]
    share = 1 / max(len(words), 1)
    return [
        1.0
        if _holds(name, term.stem)
        else min(share * sum(word.startswith(term.stem) for word in words), 1.0)
        for term in goal.terms
    ]


def _bare(name: bytes) -> bytes:
    """A file's name without its extension."""
    return name.rpartition(b".")[0] or name


def _holds(name: bytes, stem: bytes) -> bool:
    """Whether a name holds an identifier of several parts."""
    return (b"_" in stem or len(stem) > 12) and stem in name.lower()


def _pairs(
    lower: bytes, pair: tuple[bytes, bytes], lines: _Lines, weights: list[float], goal: Goal
) -> int:
    """How often two words stand together, as words or as parts of one name."""
    pattern = re.escape(pair[0]) + rb"[a-z]{0,5}[ _./:-]{0,2}" + re.escape(pair[1])
    stems = [term.stem for term in goal.terms]
    worth = sum(weights[stems.index(each)] for each in pair if each in stems) / 2
    count = 0
    for found in re.finditer(pattern, lower):
        lines.at(found.start()).exact += worth
        count += 1
        if count == OCCURRENCES_MAX:
            break
    return count


def _phrases(lower: bytes, phrase: bytes, lines: _Lines, weight: float) -> int:
    count, at = 0, lower.find(phrase)
    while at >= 0 and count < OCCURRENCES_MAX:
        lines.at(at).exact += 10 * weight  # before every line that has some of the words alone
        count += 1
        at = lower.find(phrase, at + len(phrase))
    return count


def _nearest(hits: list[tuple[int, int]], weights: list[float]) -> list[int]:
    """Numbers of the terms in the best window of `WINDOW_BYTES`, rising."""
    inside: Counter[int] = Counter()
    best, said, most, first = [], 0.0, 0.0, 0
    for at, number in hits:
        inside[number] += 1
        said += weights[number] if inside[number] == 1 else 0.0
        while hits[first][0] < at - WINDOW_BYTES:
            gone = hits[first][1]
            inside[gone] -= 1
            said -= weights[gone] if inside[gone] == 0 else 0.0
            first += 1
        if said > most + 1e-9:
            most, best = said, sorted(each for each, count in inside.items() if count)
    return best
