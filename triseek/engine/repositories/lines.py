"""The matching lines of a file, from the spans of its matches."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.repositories import scores
from triseek.model.code_search import CodeLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from triseek.engine.repositories.atoms import Atom, Span
    from triseek.engine.repositories.evaluate import Hits
    from triseek.model.symbol import Symbol


class Shown(NamedTuple):
    """The matches of a file that are shown: in its content, or else in its name."""

    spans: list[Span]
    """In ascending order, not overlapping; they may span lines."""
    symbols: dict[Span, Symbol]
    in_name: bool
    atoms: tuple[Atom, ...] = ()
    """The texts that match in the content."""


def shown(path: bytes, hits: Sequence[Hits]) -> Shown:
    """Choose the matches to show. If no text matched, as for `lang:`, it is the whole name."""
    symbols: dict[Span, Symbol] = {}
    for hit in hits:
        symbols.update(zip(hit.spans, hit.symbols, strict=False))
    content = [hit for hit in hits if not hit.in_name and hit.spans]
    if content:
        atoms = tuple(hit.wanted for hit in content)
        return Shown(_apart([hit.spans for hit in content]), symbols, False, atoms)
    names = [hit.spans for hit in hits if hit.in_name and hit.spans]
    return Shown(_apart(names) if names else [(0, len(path))], {}, True)


def _apart(lists: list[list[Span]]) -> list[Span]:
    """Merge lists of spans; of those that overlap keep the first, of equal begin the longest."""
    if len(lists) == 1:
        return lists[0]
    kept: list[Span] = []
    last = 0
    for begin, end in sorted(
        (span for spans in lists for span in spans), key=lambda span: (span[0], -span[1])
    ):
        if begin >= last or not kept:
            kept.append((begin, end))
            last = end
    return kept


class Lines:
    """The matching lines of a file: how many there are, the score of the best, and the lines.

    Most files of a common word are counted and not shown, so lines are made on demand.
    """

    def __init__(
        self, text: bytes, chosen: Shown, *, family: str | None, context: int, offset_base: int
    ) -> None:
        """Locate the lines of matches in a text."""
        self._text = text
        self._chosen = chosen
        self._family = family
        self._context = context
        self._offset_base = offset_base
        self._places = list(_by_line(text, chosen.spans))
        self._lines = [text[begin:end] for begin, end, _ in self._places]
        self._defining = (
            _defining(self._lines, chosen.atoms, family) if family is not None else set[int]()
        )

    def __len__(self) -> int:
        return len(self._places)

    @property
    def bytes(self) -> int:
        """Size of the text that is kept for them."""
        return len(self._text)

    @property
    def best(self) -> float:
        """The highest score of a line; 0 if there is none."""
        if self._chosen.symbols:
            return max((line.score for line in self.made()), default=0.0)
        defining = (self._score(place) for place in self._defining)
        return max(self._best_word(), max(defining, default=0.0))

    def _best_word(self) -> float:
        best = 0.0
        for begin, end, spans in self._places:
            for start, stop in spans:
                best = max(best, scores.of_word(self._text, start, stop, begin, end))
                if best == scores.WORD:  # as high as it can be
                    return best
        return best

    def _score(self, place: int) -> float:
        family = self._family if place in self._defining else None
        return scores.of_line(self._lines[place], self._inside(place), family)

    def _inside(self, place: int) -> tuple[Span, ...]:
        begin, _, spans = self._places[place]
        return tuple([(start - begin, stop - begin) for start, stop in spans])

    def made(self) -> list[CodeLine]:
        """Return the lines in ascending order, each with its score.

        A match that spans lines is shown on each of them.
        """
        lines: list[CodeLine] = []
        text, symbols = self._text, self._chosen.symbols
        number, counted, symbol = 1, 0, None
        for place, (begin, end, spans) in enumerate(self._places):
            number += text.count(b"\n", counted, begin)
            counted = begin
            if symbols:
                symbol = next((symbols[span] for span in spans if span in symbols), None)
            line, inside = self._lines[place], self._inside(place)
            score = (
                self._score(place)
                if symbol is None
                else scores.of_symbol(line, inside[0], symbol, begin)
            )
            lines.append(
                CodeLine(
                    number=number, text=line, spans=inside, offset=begin + self._offset_base,
                    before=_before(text, begin, self._context),
                    after=_after(text, end, self._context),
                    symbol=symbol, score=score,
                )
            )  # fmt: skip
        return lines


def _defining(lines: list[bytes], atoms: Iterable[Atom], family: str) -> set[int]:
    """Return the places of the lines that may define what a text of the query matches."""
    places: set[int] = set()
    joined, ends = b"\n".join((*lines, b"")), list(accumulate(len(line) + 1 for line in lines))
    for wanted in atoms:
        find, at = wanted.definition_finder(family), 0
        while find is not None and (begin := find(joined, at, len(joined))) is not None:
            place = bisect_right(ends, begin)
            places.add(place)
            at = ends[place]
            if at >= len(joined):
                break
    return places


def _by_line(text: bytes, spans: Iterable[Span]) -> Iterator[tuple[int, int, list[Span]]]:
    """Yield begin and end of each line that has matches, with the parts of them that lie in it."""
    begin, end = 0, -1
    current: list[Span] = []
    for start, stop in spans:
        while start < stop:
            if start > end:
                if current:
                    yield begin, end, current
                    current = []
                begin = text.rfind(b"\n", 0, start) + 1
                end = text.find(b"\n", start)
                if end < 0:
                    end = len(text)
            if start < end:
                current.append((start, min(stop, end)))
            start = end + 1
    if current:
        yield begin, end, current


def _before(text: bytes, begin: int, count: int) -> tuple[bytes, ...]:
    lines: list[bytes] = []
    while len(lines) < count and begin > 0:
        end = begin - 1
        begin = text.rfind(b"\n", 0, end) + 1
        lines.append(text[begin:end])
    return tuple(reversed(lines))


def _after(text: bytes, end: int, count: int) -> tuple[bytes, ...]:
    lines: list[bytes] = []
    while len(lines) < count and end + 1 < len(text):
        begin = end + 1
        end = text.find(b"\n", begin)
        if end < 0:
            end = len(text)
        lines.append(text[begin:end])
    return tuple(lines)
