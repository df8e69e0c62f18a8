"""Pages of search results, ordered for a reader who reads only one page.

Files are ordered by

1. what they define: first those that define exactly what was matched; then source files that
   define something of which the match is a part; then all others;
2. their class (`path_class`): source, tests, docs, vendored, generated;
3. what kind of thing it is that they define exactly: types, then functions and variables, then
   members of these;
4. whether they are named after it, however its parts are joined; stubs (`.pyi`, `.d.ts`) last;
5. how often and how recently they were used, if scores are given;
6. their path, in the usual path order (`files.tree.walk.path_order`).

Matching lines are ordered in three rounds, and a page is a slice of that fixed order:

1. from each file the lines that define exactly what was matched, at most `SHARE`;
2. from each file the rest of its `SHARE`: other definitions, then lines from the top;
3. from each file all remaining lines.

So one file with 500 matches does not fill the first page, and consecutive pages of any size show
every line exactly once. On a page the lines of a file are grouped and in ascending order.

A file has at least one line in the first two rounds, so the first n lines are in the best n files.
No more files than that are held in memory, and of each no more lines than may be needed.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek.engine.ranking.definitions import Defines, Definitions
from triseek.engine.ranking.find_files import bare, folded
from triseek.engine.ranking.path_class import PATH_CLASSES, PathClass
from triseek.errors import InvalidRequest, OutOfTime
from triseek.files.tree.walk import path_order
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from triseek.engine.engine import Engine
    from triseek.engine.search.backends.base import Batch, Nul
    from triseek.engine.search.search import Search
    from triseek.model.search import SearchRequest

Array: TypeAlias = np.ndarray[Any, Any]

SHARE = 4
"""Lines of one file that come before the remaining lines of any file."""
REACH_MAX = 10_000
"""Maximum of offset plus limit: so many results are held in memory."""
MATCHED_MAX = 20_000
"""Most matching paths for which `Ranked.matched` is set."""
BINARY_MAX = 5
"""Most matching binary files that are named."""
STOPPED = "stopped before the end; totals and order cover what was searched"


class RankedLine(NamedTuple):
    """A line of a file; in multiline mode the lines that a run of adjoining matches covers."""

    number: int
    """Number of its first line, from 1."""
    column: int
    """Byte column of the first match, from 1; 0 for context."""
    text: bytes
    """The line without its terminator."""
    context: bool
    definition: bool
    """Whether it defines what was matched, or something of which the match is a part."""


class RankedFile(NamedTuple):
    """A file with its lines on the page."""

    path: bytes
    count: int  # type: ignore[assignment] # hides tuple.count, which nobody calls
    """Number of all its matching lines; in the modes that count or list files, the search's own
    count."""
    lines: list[RankedLine]
    """In ascending order; empty in the modes that count or list files."""
    kind: PathClass
    defines: bool


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
    """Search, and return a page of at most `limit` results after the first `offset`.

    Results are matching lines; in the modes that count or list files, files. The same tree, request
    and scores give the same page with every backend.

    Args:
        engine: The engine of the repository.
        request: The search; its `limit` and `passthru` are ignored.
        limit: Maximum number of results on the page.
        offset: Number of results on the pages before.
        scores: `Engine.scores`, the same for all pages of one answer.
        stop: Called after every batch. If it returns True, the search ends, the results so far are
            the answer, and `totals.incomplete` is set. An exception from it ends the search and
            propagates.
        seconds: Time limit for compiling the pattern and searching. When it expires, the search
            ends as if `stop` had returned True, but at any point.

    Raises:
        InvalidRequest: `limit` or `offset` is negative, or their sum exceeds `REACH_MAX`.
        OutOfTime: The time expired before anything could be searched.
        TriseekError: As raised by `Search`.
    """
    if limit < 0 or offset < 0 or limit + offset > REACH_MAX:
        raise InvalidRequest(
            f"limit {limit} and offset {offset} reach beyond 0 to {REACH_MAX} results",
            next_step="Narrow the search with a path, a glob or a longer pattern.",
        )
    with budget.limited(seconds):
        search = engine.search(_asked(request))
        page = Ranked(search, offset, limit, scores, by_line=request.mode == "lines")
        stopped = _searched(search, page, stop)
    if stopped:
        search.totals.incomplete = search.totals.incomplete or STOPPED
    page.files = page.shorter(limit)
    return page


def _searched(search: Search, page: Ranked, stop: Callable[[], bool]) -> bool:
    """Feed all batches to `page`; return whether the search was stopped before its end."""
    try:
        for batch in search:
            page.take(batch)
            if stop():
                return True
    except OutOfTime:
        return True
    finally:
        search.close()
    return False


def _asked(request: SearchRequest) -> SearchRequest:
    """Return the request changed so that its results can be ranked.

    Whether a file defines something shows only in its lines, so the modes `files` and `count` are
    run as `lines`. Not in multiline mode, where the count is of matches and needs its own mode.
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
    around: tuple[RankedLine, ...]
    """The lines of its context, including matching ones."""


@dataclass(slots=True)
class _Kept:
    """A file that may be shown."""

    rank: tuple[int, int, int, int, float, bytes]
    path: bytes
    count: int
    kind: PathClass
    defines: int
    matches: list[_Match]
    """In the order in which they are taken: better definitions first, then from the top."""

    @property
    def edges(self) -> tuple[int, int, int, int]:
        """Indices in `matches` at which the three rounds begin and end."""
        share = min(SHARE, len(self.matches))
        exact = sum(match.defines >= Defines.MEMBER for match in self.matches[:share])
        return 0, exact, share, len(self.matches)


class Ranked:
    """One page of results, and the best files of all batches: as many as the page needs."""

    def __init__(
        self,
        search: Search,
        offset: int,
        limit: int,
        scores: Mapping[bytes, float],
        *,
        by_line: bool,
    ) -> None:
        """Collect the results offset..offset+limit-1: lines if `by_line`, else files."""
        self.search = search
        """Its totals, route and notes are of the whole search, not of the page."""
        self.files: list[RankedFile] = []
        """The page, once all batches were taken."""
        self.binary: dict[bytes, Nul] = {}
        """The first `BINARY_MAX` matching binary files, whose lines after a NUL are not shown;
        empty in the modes that count or list files."""
        self._total = 0
        self._offset = offset
        self._request = search.request
        self._pattern = search.query.pattern
        self._reach = offset + limit
        self._scores = scores
        self._by_line = by_line
        shows_lines = search.request.mode == "lines" and not search.request.invert
        self._definitions = Definitions(search.query.pattern) if shows_lines else None
        name = self._definitions.name if self._definitions else None
        self._name = None if name is None else bare(folded(name))
        self._kept: list[_Kept] = []
        self._held = 0
        self._matched: set[bytes] | None = set()

    @property
    def more(self) -> bool:
        """Whether there are results after this page."""
        return self._total > self._reach

    @property
    def matched(self) -> frozenset[bytes] | None:
        """Every matching path; None if there are more than `MATCHED_MAX`."""
        return None if self._matched is None else frozenset(self._matched)

    def take(self, batch: Batch) -> None:
        """Keep the files of a batch that are among the best so far."""
        if self._matched is not None:
            self._matched.update(batch.paths)
            if len(self._matched) > MATCHED_MAX:
                self._matched = None
        definitions = self._definitions
        defines = definitions.of(batch) if definitions else np.zeros(len(batch.rows), np.uint8)
        rows_of = np.bincount(batch.rows["file"], minlength=len(batch.paths))
        edges = np.concatenate(([0], np.cumsum(rows_of)))
        results = _matches_in(batch, edges) if self._by_line else [1] * len(batch.paths)
        self._total += sum(results)
        if self._by_line:
            binary = [(batch.paths[number], nul) for number, nul in sorted(batch.nuls.items())]
            self.binary.update(binary[: BINARY_MAX - len(self.binary)])
        best = _highest(defines, edges)
        for number in self._hopeful(batch.paths, best):
            if results[number]:  # a binary file that matches may have no line to show
                first, last = int(edges[number]), int(edges[number + 1])
                self._offer(batch, number, int(best[number]), slice(first, last), defines)

    def shorter(self, limit: int) -> list[RankedFile]:
        """Return `files` as they would be with this limit, if it is smaller.

        Lines are grouped by file; in the modes that count or list files, files have no lines.
        """
        page = slice(self._offset, min(self._offset + limit, self._reach))
        if not self._by_line:
            return [_file(file, []) for file in self._kept[page]]
        entries = [
            (place, number)
            for turn in range(3)
            for place, file in enumerate(self._kept)
            for number in range(*file.edges[turn : turn + 2])
        ]
        matches: dict[int, list[_Match]] = {}
        for place, number in entries[page]:
            matches.setdefault(place, []).append(self._kept[place].matches[number])
        return [_file(self._kept[place], self._lines(matches[place])) for place in sorted(matches)]

    def _hopeful(self, paths: list[bytes], defines: Array) -> Iterable[int]:
        """Return the numbers of the files of a batch that may be among the best.

        Once enough files are held, a later file in path order without definition or score cannot
        rank among them. There may be 40,000 such files.
        """
        plain = (2, PathClass.SOURCE, 0, 0, 0.0, path_order(paths[0]))
        if len(self._kept) < self._reach or not self._kept or plain < self._kept[-1].rank:
            return range(len(paths))
        used = np.fromiter(map(self._scores.__contains__, paths), np.bool_, len(paths))
        hopeful: list[int] = np.flatnonzero(used | (defines > 0)).tolist()
        return hopeful

    def _offer(self, batch: Batch, number: int, best: int, rows: slice, defines: Array) -> None:
        """Keep a file of a batch if it is among the best; `rows` is the slice of its rows."""
        path = batch.paths[number]
        kind = PATH_CLASSES[path]
        level, named = (best, _named_after(path, self._name)) if best >= Defines.MEMBER else (0, 0)
        score = self._scores.get(path, 0.0)
        rank = (_tier(best, kind), kind, -level, named, -score, path_order(path))
        if len(self._kept) >= self._reach and not (self._kept and rank < self._kept[-1].rank):
            return
        matches = self._matches(batch, rows, defines[rows]) if self._by_line else []
        self._keep(_Kept(rank, path, int(batch.counts[number]), PathClass(kind), best, matches))

    def _matches(self, batch: Batch, which: slice, defines: Array) -> list[_Match]:
        """Return the matches of a file's rows that may be shown."""
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
        context = (RankedLine(other, 0, shown, True, False) for other, shown in around)
        return _Match(number, line, defines, tuple(context))

    def _line(self, text: bytes, row: Any) -> tuple[int, bytes]:  # noqa: ANN401 (np.void)
        _, number, _, begin, end, _ = row.item()
        line = text[begin:end].removesuffix(b"\n")
        return number, line.removesuffix(b"\r") if self._pattern.spec.crlf else line

    def _keep(self, file: _Kept) -> None:
        insort(self._kept, file, key=attrgetter("rank"))
        self._held += len(file.matches)
        if len(self._kept) > self._reach:
            self._held -= len(self._kept.pop().matches)
        if self._held > 2 * (SHARE + 1) * self._reach:
            self._trim()

    def _trim(self) -> None:
        """Drop lines that no page can reach, whichever batches follow.

        The first rounds take at least one line of each held file, and the number of held files
        never decreases.
        """
        left = self._reach - len(self._kept)
        for file in self._kept:
            rest = min(left, max(0, len(file.matches) - SHARE))
            left -= rest
            del file.matches[SHARE + rest :]
        self._held = sum(len(file.matches) for file in self._kept)

    def _lines(self, matches: Sequence[_Match]) -> list[RankedLine]:
        """Return the lines to show of a file in ascending order: matches and their context."""
        shown = {line.number: line for match in matches for line in match.around}
        for match in matches:
            column = self._column(match.text)
            defines = match.defines > 0
            shown[match.number] = RankedLine(match.number, column, match.text, False, defines)
        return [shown[number] for number in sorted(shown)]

    def _column(self, text: bytes) -> int:
        """Return the column of the first match, from 1.

        Return 1 if the search is inverted, or if there is no time left to look for the match.
        """
        if self._pattern.spec.multiline:
            text += b"\n"  # the newline may be part of the match
        try:
            span = None if self._request.invert else next(self._pattern.finditer(text), None)
        except OutOfTime:
            return 1
        return 1 if span is None else span[0] - text.rfind(b"\n", 0, span[0])


def _tier(defines: int, kind: int) -> int:
    """Return the first component of a file's rank, which depends on its definitions.

    Partial matches count only in source files: names of tests repeat what they test (`test_get`),
    and nobody searches for parts of names of vendored code.
    """
    if defines >= Defines.MEMBER:
        return 0
    return 1 if defines == Defines.PARTLY and kind == PathClass.SOURCE else 2


def _named_after(path: bytes, name: bytes | None) -> int:
    """Return 0 if a file is named after a name (in lower case, without joints), else 1; 2: stub."""
    if path.endswith(_STUBS):
        return 2
    return int(bare(folded(path[path.rfind(b"/") + 1 :].partition(b".")[0])) != name)


_STUBS = (b".pyi", b".d.ts")
"""Suffixes of files that declare what other files define."""


def _matches_in(batch: Batch, edges: Array) -> list[int]:
    """Return the number of matches of each file; its rows are between two neighbouring `edges`."""
    totals = np.concatenate(([0], np.cumsum(~batch.rows["context"])))
    hits: list[int] = np.diff(totals[edges]).tolist()
    return hits


def _highest(values: Array, edges: Array) -> Array:
    """Return the maximum of values[edges[n]:edges[n + 1]] for each n; 0 for an empty range."""
    highest = np.zeros(len(edges) - 1, values.dtype)
    nonempty = edges[1:] > edges[:-1]
    if nonempty.any():
        highest[nonempty] = np.maximum.reduceat(values, edges[:-1][nonempty])
    return highest


def _file(file: _Kept, lines: list[RankedLine]) -> RankedFile:
    return RankedFile(file.path, file.count, lines, file.kind, file.defines > 0)
