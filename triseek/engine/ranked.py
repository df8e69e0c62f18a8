"""A page of a search's results, in an order that helps who can only read a page.

Files are ordered by

1. what they define: first those that define exactly what was matched; then source files that
   define something of which the match is a part; then all others;
2. their class (`pathclass`): source, tests, docs, vendored, generated;
3. how often and how lately they were used, where scores are given;
4. their path, as everywhere (`files.walk.path_order`).

Matching lines are dealt out in rounds, and a page is a stretch of that one fixed order:

1. of each file the lines that define exactly what was matched, `SHARE` at most;
2. of each file what is left of its `SHARE`: other definitions, then lines from the top;
3. of each file all others.

So one file with 500 matches does not fill the first page, and pages of any size, put together, show
every line once. On a page the lines of a file stand together and rise.

A file has at least one line in the first two rounds, so the first n lines are in the best n files:
more are never held, and of each not more lines than may be needed.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek.engine.definitions import Defines, Definitions
from triseek.engine.pathclass import PathClass, path_class
from triseek.errors import InvalidRequest, OutOfTime
from triseek.files.walk import path_order
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from triseek.engine.backends.base import Batch, Nul
    from triseek.engine.engine import Engine
    from triseek.engine.search import Search
    from triseek.model.search import Route, SearchRequest, Totals

Array: TypeAlias = np.ndarray[Any, Any]

SHARE = 4
"""Lines of a file that are shown before every file has had its turn."""
REACH_MAX = 10_000
"""Offset and limit together, at most: so much is held in memory."""
MATCHED_MAX = 20_000
"""Beyond so many matching paths they are not told."""
BINARY_MAX = 5
"""So many binary files that match are named."""
STOPPED = "stopped before the end; totals and order cover what was searched"


class Line(NamedTuple):
    """A line of a file; in multiline mode the lines that a run of touching matches covers."""

    number: int
    """Of its first line, from 1."""
    column: int
    """Byte column of the first match, from 1; 0 for context."""
    text: bytes
    """Without its terminator."""
    context: bool
    definition: bool
    """Whether it defines what was matched, or something of which the match is a part."""


class File(NamedTuple):
    """A file with those of its lines that are on the page."""

    path: bytes
    count: int  # type: ignore[assignment] # hides tuple.count, which nobody calls
    """All its matching lines; in the modes that count or list files, as the search counts."""
    lines: list[Line]
    """Rising; none in the modes that count or list files."""
    kind: PathClass
    defines: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One page."""

    files: list[File]
    totals: Totals
    """Of the whole search, whatever the page."""
    route: Route
    notes: tuple[str, ...]
    more: bool
    """Whether something lies behind this page."""
    matched: frozenset[bytes] | None
    """Every matching path; None if they are more than `MATCHED_MAX`."""
    binary: Mapping[bytes, Nul]
    """The first `BINARY_MAX` binary files that match, whose lines behind a NUL are not shown; none
    in the modes that count or list files."""
    shorter: Callable[[int], list[File]]
    """`files` as they would be with another, smaller `limit`."""


def ranked(
    engine: Engine,
    request: SearchRequest,
    *,
    limit: int,
    offset: int = 0,
    scores: Mapping[bytes, float],
    stop: Callable[[], bool],
    seconds: float = float("inf"),
) -> Ranked:
    """Search, and return the page behind the first `offset` results, of at most `limit`.

    Results are matching lines; in the modes that count or list files, files. The same tree, request
    and scores give the same page, whatever the road.

    Args:
        engine: The repository.
        request: Its `limit` and `passthru` mean nothing here.
        limit: Results on the page.
        offset: Results on the pages before.
        scores: `Engine.scores`, the same for all pages of one answer.
        stop: Asked behind every batch. If it says yes, the search ends and what was found so far is
            the answer; `totals.incomplete` says so. What it raises ends the search, and is raised.
        seconds: What understanding the pattern and searching may take: as if `stop` said yes, but
            at any place.

    Raises:
        InvalidRequest: `limit` or `offset` is negative, or both together pass `REACH_MAX`.
        OutOfTime: The time was over before anything could be searched.
        TriseekError: As `Search` does.
    """
    if limit < 0 or offset < 0 or limit + offset > REACH_MAX:
        raise InvalidRequest(
            f"limit {limit} and offset {offset} reach beyond 0 to {REACH_MAX} results",
            next_step="Narrow the search with a path, a glob or a longer pattern.",
        )
    by_line = request.mode == "lines"
    with budget.limited(seconds):
        search = engine.search(_asked(request))
        best = _Best(search, offset + limit, scores, by_line=by_line)
        stopped = _searched(search, best, stop)
    if stopped:
        search.totals.incomplete = search.totals.incomplete or STOPPED

    def shorter(most: int) -> list[File]:
        reach = offset + min(most, limit)
        return best.page(offset, reach) if by_line else best.files(offset, reach)

    return Ranked(
        files=shorter(limit),
        totals=search.totals,
        route=search.route,
        notes=search.notes,
        more=best.total > offset + limit,
        matched=best.matched,
        binary=best.binary,
        shorter=shorter,
    )


def _searched(search: Search, best: _Best, stop: Callable[[], bool]) -> bool:
    """Take in what is found; whether the search was stopped before its end."""
    try:
        for batch in search:
            best.take(batch)
            if stop():
                return True
    except OutOfTime:
        return True
    finally:
        search.close()
    return False


def _asked(request: SearchRequest) -> SearchRequest:
    """Return the request with all that is needed to rank what it finds.

    Whether a file defines something is seen in its lines only. In multiline mode a count is of
    matches, so that must be asked for itself.
    """
    plain = replace(request, limit=None, passthru=False, line_numbers=True, count_all=True)
    if request.mode in ("files", "count") and not (request.invert or request.pattern.multiline):
        return replace(plain, mode="lines", before=0, after=0)
    return plain


class _Match(NamedTuple):
    """A matching line that may be shown."""

    number: int
    text: bytes
    defines: int
    around: tuple[Line, ...]
    """The lines of its context, matching ones too."""


@dataclass(slots=True)
class _Kept:
    """A file that may be shown."""

    rank: tuple[int, int, float, bytes]
    path: bytes
    count: int
    kind: PathClass
    defines: int
    matches: list[_Match]
    """In the order in which they are dealt out: better definitions first, then from the top."""

    @property
    def edges(self) -> tuple[int, int, int, int]:
        """Where the rounds begin and end in `matches`."""
        share = min(SHARE, len(self.matches))
        exact = sum(match.defines == Defines.EXACTLY for match in self.matches[:share])
        return 0, exact, share, len(self.matches)


class _Best:
    """The best files of the batches it was given, as many as a page and those before may need."""

    def __init__(
        self, search: Search, reach: int, scores: Mapping[bytes, float], *, by_line: bool
    ) -> None:
        """Results are lines, or else files; `reach` is how many of them may be asked for."""
        self.total = 0
        """Results of all batches."""
        self.binary: dict[bytes, Nul] = {}
        """`Ranked.binary`."""
        self._request = search.request
        self._pattern = search.pattern
        self._reach = reach
        self._scores = scores
        self._by_line = by_line
        looked_at = search.request.mode == "lines" and not search.request.invert
        self._definitions = Definitions(search.pattern) if looked_at else None
        self._kept: list[_Kept] = []
        self._held = 0
        self._matched: set[bytes] | None = set()

    @property
    def matched(self) -> frozenset[bytes] | None:
        """Every path of all batches, where they are not too many."""
        return None if self._matched is None else frozenset(self._matched)

    def take(self, batch: Batch) -> None:
        """Keep what of a batch is among the best so far."""
        if self._matched is not None:
            self._matched.update(batch.paths)
            if len(self._matched) > MATCHED_MAX:
                self._matched = None
        defines = self._defines(batch)
        edges = np.searchsorted(batch.rows["file"], np.arange(len(batch.paths) + 1))
        results = _matches_in(batch, edges) if self._by_line else [1] * len(batch.paths)
        self.total += sum(results)
        if self._by_line:
            binary = [(batch.paths[number], nul) for number, nul in sorted(batch.nuls.items())]
            self.binary.update(binary[: BINARY_MAX - len(self.binary)])
        best = _highest(defines, edges)
        for number in self._hopeful(batch.paths, best):
            if results[number]:  # a binary file that matches may have no line to show
                first, last = int(edges[number]), int(edges[number + 1])
                self._offer(batch, number, best[number], slice(first, last), defines)

    def files(self, offset: int, reach: int) -> list[File]:
        """Return the files offset..reach-1, without their lines."""
        return [_file(kept, []) for kept in self._kept[offset:reach]]

    def page(self, offset: int, reach: int) -> list[File]:
        """Return the files of the lines offset..reach-1, with these."""
        dealt = [
            (place, number)
            for turn in range(3)
            for place, kept in enumerate(self._kept)
            for number in range(*kept.edges[turn : turn + 2])
        ]
        shown: dict[int, list[_Match]] = {}
        for place, number in dealt[offset:reach]:
            shown.setdefault(place, []).append(self._kept[place].matches[number])
        return [_file(self._kept[place], self._lines(shown[place])) for place in sorted(shown)]

    def _defines(self, batch: Batch) -> Array:
        if self._definitions is None:
            return np.zeros(len(batch.rows), np.uint8)
        return self._definitions.of(batch)

    def _hopeful(self, paths: list[bytes], defines: list[int]) -> Iterable[int]:
        """Return which files of a batch may be among the best.

        Once these are there, most of what comes behind them in path order has only its path to
        be ranked by; there may be 40,000 such files.
        """
        plain = (2, PathClass.SOURCE, 0.0, path_order(paths[0]))
        if len(self._kept) < self._reach or not self._kept or plain < self._kept[-1].rank:
            return range(len(paths))
        scores = self._scores
        return [n for n, path in enumerate(paths) if defines[n] or path in scores]

    def _offer(self, batch: Batch, number: int, best: int, rows: slice, defines: Array) -> None:
        """Keep a file of a batch if it is among the best; `rows` are its own."""
        path = batch.paths[number]
        kind = path_class(path)
        rank = (_tier(best, kind), kind, -self._scores.get(path, 0.0), path_order(path))
        if len(self._kept) >= self._reach and not (self._kept and rank < self._kept[-1].rank):
            return
        matches = self._matches(batch, rows, defines[rows]) if self._by_line else []
        self._keep(_Kept(rank, path, int(batch.counts[number]), kind, best, matches))

    def _matches(self, batch: Batch, which: slice, defines: Array) -> list[_Match]:
        """Return those matches of a file's rows that may be shown."""
        rows = batch.rows[which]
        places = np.flatnonzero(~rows["context"])
        order = np.argsort(-defines[places].astype(np.int8), kind="stable")
        most = SHARE + max(0, self._reach - len(self._kept))
        return [
            self._match(batch.text, rows, place, int(defines[place]))
            for place in places[order[:most]].tolist()
        ]

    def _match(self, text: bytes, rows: Array, place: int, defines: int) -> _Match:
        number, line = self._line(text, rows[place])
        before, after = self._request.before, self._request.after
        if not (before or after):
            return _Match(number, line, defines, ())
        numbers = rows["number"]
        begin = int(np.searchsorted(numbers, max(number - before, 0)))
        end = int(np.searchsorted(numbers, number + line.count(b"\n") + after, "right"))
        around = [self._line(text, rows[other]) for other in range(begin, end) if other != place]
        return _Match(number, line, defines, tuple(_context(*other) for other in around))

    def _line(self, text: bytes, row: Any) -> tuple[int, bytes]:  # noqa: ANN401 (np.void)
        _, number, _, begin, end, _ = row.item()
        line = text[begin:end].removesuffix(b"\n")
        return number, line.removesuffix(b"\r") if self._pattern.spec.crlf else line

    def _keep(self, kept: _Kept) -> None:
        insort(self._kept, kept, key=attrgetter("rank"))
        self._held += len(kept.matches)
        if len(self._kept) > self._reach:
            self._held -= len(self._kept.pop().matches)
        if self._held > 2 * (SHARE + 1) * self._reach:
            self._trim()

    def _trim(self) -> None:
        """Let go of lines that no page can reach, whatever comes.

        The first rounds take at least a line of each file held, and files held never get fewer.
        """
        left = self._reach - len(self._kept)
        for kept in self._kept:
            rest = min(left, max(0, len(kept.matches) - SHARE))
            left -= rest
            del kept.matches[SHARE + rest :]
        self._held = sum(len(kept.matches) for kept in self._kept)

    def _lines(self, matches: Sequence[_Match]) -> list[Line]:
        """Return the lines to show of a file, rising: matches, and what stands around them."""
        shown = {line.number: line for match in matches for line in match.around}
        for match in matches:
            column = self._column(match.text)
            shown[match.number] = Line(
                match.number, column, match.text, context=False, definition=match.defines > 0
            )
        return [shown[number] for number in sorted(shown)]

    def _column(self, text: bytes) -> int:
        """Return where the first match begins.

        The first column if no match is what was asked, or if there is no time to look for it.
        """
        if self._pattern.spec.multiline:
            text += b"\n"  # which may be part of the match
        try:
            found = None if self._request.invert else next(self._pattern.finditer(text), None)
        except OutOfTime:
            return 1
        return 1 if found is None else found[0] - text.rfind(b"\n", 0, found[0])


def _tier(defines: int, kind: PathClass) -> int:
    """Return what definitions make of a file's rank.

    Names of tests repeat what they test (`test_get`), and of vendored code nobody asks for parts.
    """
    if defines == Defines.EXACTLY:
        return 0
    return 1 if defines == Defines.PARTLY and kind is PathClass.SOURCE else 2


def _matches_in(batch: Batch, edges: Array) -> list[int]:
    """Return how many rows of each file are matches; its rows begin and end at two `edges`."""
    before = np.concatenate(([0], np.cumsum(~batch.rows["context"])))
    hits: list[int] = np.diff(before[edges]).tolist()
    return hits


def _highest(values: Array, edges: Array) -> list[int]:
    """Return the highest of values[edges[n]:edges[n + 1]] for each n; 0 where there is none."""
    found = np.zeros(len(edges) - 1, values.dtype)
    some = edges[1:] > edges[:-1]
    if some.any():
        found[some] = np.maximum.reduceat(values, edges[:-1][some])
    return [int(value) for value in found]


def _file(kept: _Kept, lines: list[Line]) -> File:
    return File(kept.path, kept.count, lines, kept.kind, kept.defines > 0)


def _context(number: int, text: bytes) -> Line:
    return Line(number, 0, text, context=True, definition=False)
