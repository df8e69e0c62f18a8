"""Scores of lines and files, so that results of several repositories have one order.

They have the shape and the scale of Zoekt's default scorer: a match that is a whole word, or lies
in the name of a definition or at the end of a path, raises the score of its line; the best line
and the number of texts that matched make the score of the file. What defines a name is told by the
forms of its language (`engine.ranking`). The class of the file's path breaks ties.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from triseek.engine.ranking.definition_names import defined_name, family_of
from triseek.engine.ranking.definitions import LINE_BYTES_MAX, Defines, level_of
from triseek.engine.ranking.path_class import PATH_CLASSES, PathClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.engine.repositories.atoms import Span
    from triseek.model.symbol import Symbol

WORD, WORD_EDGE = 500.0, 50.0
"""Of a match with word boundaries on both sides, on one side."""
ALL_OF_NAME, EDGE_OF_NAME, IN_NAME = 7000.0, 5500.0, 4000.0
"""Of a match that covers the name of a file or a definition, shares one end, lies inside."""
KIND = 100.0
TEXTS = 400.0
"""Approached by a file in which many of the query's texts match."""
FILE_SCALE = 10_000_000
"""What is added to this many times the score of a file only breaks ties."""
TIE = 10.0

KINDS = {
    "class": 10.0, "struct": 9.5, "enum": 9.0, "interface": 8.0, "trait": 8.0, "type": 8.0,
    "function": 7.0, "method": 7.0, "field": 5.5, "constant": 5.0, "variable": 4.0,
}  # fmt: skip
"""By the kind of a definition; all others 1."""
LEVELS = {Defines.TYPE: 10.0, Defines.GLOBAL: 7.0, Defines.MEMBER: 5.5}


def _class_of(byte: int) -> int:
    """Return the class of a byte. Between two bytes of different classes is a word boundary."""
    char = chr(byte)
    if char in " \n":
        return 5
    if char in ".,;\"'":
        return 3
    if not char.isascii() or not char.isalnum():
        return 4
    return 2 if char.isdigit() else int(char.isupper())


_CLASSES = bytes(map(_class_of, range(256)))


def of_word(text: bytes, begin: int, end: int, first: int = 0, last: int | None = None) -> float:
    """Return the score of the word boundaries at the ends of a match in text[first:last]."""
    last = len(text) if last is None else last
    classes = _CLASSES
    at_begin = begin < last and (begin == first or classes[text[begin - 1]] != classes[text[begin]])
    at_end = end > first and (end == last or classes[text[end - 1]] != classes[text[end]])
    return WORD if at_begin and at_end else WORD_EDGE if at_begin or at_end else 0.0


def of_name(path: bytes, spans: Sequence[Span]) -> float:
    """Return the score of matches in a path."""
    base = path.rfind(b"/") + 1
    best = 0.0
    for begin, end in spans:
        score = of_word(path, begin, end)
        edges = (begin == base) + (end == len(path))
        if edges:
            score += ALL_OF_NAME if edges == 2 else EDGE_OF_NAME
        elif begin >= base:
            score += IN_NAME
        best = max(best, score)
    return best


def of_line(line: bytes, spans: Sequence[Span], family: str | None) -> float:
    """Return the score of a line. `family` is the language family of its file, if it has one."""
    best = max(of_word(line, begin, end) for begin, end in spans)
    name = defined_name(line[:LINE_BYTES_MAX], family) if family is not None else None
    if name is None:
        return best
    kind = KIND * LEVELS[level_of(line, name)]
    for begin, end in spans:
        if begin < name[1] and name[0] < end:
            best = max(best, of_word(line, begin, end) + _of_overlap(name, (begin, end)) + kind)
    return best


def of_symbol(line: bytes, span: Span, symbol: Symbol, offset: int) -> float:
    """Return the score of a match in the name of a definition; `offset` is that of the line."""
    name = (symbol.begin - offset, symbol.end - offset)
    score = of_word(line, *span) + _of_overlap(name, span)
    return score + KIND * KINDS.get(symbol.kind, 1.0)


def of_file(path: bytes, best_line: float, texts: int) -> float:
    """Return the score of a file in which so many texts of the query match."""
    score = best_line + TEXTS * (1.0 - 1.0 / max(texts, 1))
    quality = 1.0 - PATH_CLASSES[path] / len(PathClass)
    return math.trunc(score) * FILE_SCALE + TIE * quality


def _of_overlap(name: Span, match: Span) -> float:
    edges = (match[0] == name[0]) + (match[1] == name[1])
    return (IN_NAME, EDGE_OF_NAME, ALL_OF_NAME)[edges]


__all__ = ["family_of", "of_file", "of_line", "of_name", "of_symbol", "of_word"]
