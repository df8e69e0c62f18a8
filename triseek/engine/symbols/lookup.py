"""Definitions and references of a name in a repository, and the outline of a file.

Only files that contain the name are parsed: those that an ordinary search finds, best first (see
`engine.ranking.ranked`), so that a limit leaves out the least likely ones.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.ranking.ranked import ranked
from triseek.engine.symbols.parser import PROCESSES_MAX
from triseek.engine.symbols.symbols import FILE_BYTES_MAX, FileSymbols
from triseek.errors import InvalidRequest, OutOfTime
from triseek.files import containment
from triseek.files.access import open_regular
from triseek.files.tree.text import decode_all, is_binary
from triseek.model import budget
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from triseek.engine.engine import Engine
    from triseek.engine.symbols.symbols import Symbols
    from triseek.model.symbol import Symbol

SECONDS = 5.0
"""Time limit of a lookup."""
FILES_MAX = 500
"""Most files that are parsed for one lookup."""
PLACES_MAX = 200
"""Most places of an answer, unless asked otherwise."""
PROBLEMS_MAX = 5
"""Files that could not be parsed and are named."""
NAME_MAX = 256
"""Most characters of a name."""
_QUALIFIED = re.compile(r"(?:::|[.#])(?=[^.:#]+$)")
_NO_SCOPE = ScopeSpec()


class SymbolPlace(NamedTuple):
    """A definition or a reference."""

    path: bytes
    """Relative to the root."""
    line: int
    """Line number, from 1."""
    column: int
    """Byte column of the name, from 1."""
    text: bytes
    """The line, without its line end."""
    symbol: Symbol | None
    """The definition; of a reference, the innermost definition around it."""


class Lookup(NamedTuple):
    """The places of a name, best first."""

    places: tuple[SymbolPlace, ...] = ()
    files: int = 0
    """Files that were parsed."""
    unparsed: int = 0
    """Files that contain the name and are in no language that has a parser."""
    partial: tuple[str, ...] = ()
    """Why the answer may be incomplete, a sentence each; empty if it is complete."""


class _File(NamedTuple):
    """One candidate: its places, best first, and whether all of it was examined."""

    places: list[tuple[int, SymbolPlace]]
    """With the rank of each: 0 for exactly what was asked for."""
    is_parsed: bool
    problem: str


def outline(symbols: Symbols, engine: Engine, path: str) -> FileSymbols:
    """Return the definitions in a file of the repository, by position.

    Args:
        symbols: The parsers.
        engine: The engine of the repository.
        path: Relative to the root, or absolute and inside of it.

    Raises:
        InvalidRequest: There is no such file in the root, it cannot be read, or it is binary.
        OutOfTime: The time of the current request is over.
    """
    with open(containment.open_file(engine.root, path), "rb") as file:  # noqa: PTH123 - a descriptor
        text = _decoded(file.read(FILE_BYTES_MAX + 1))
    if len(text) <= FILE_BYTES_MAX and is_binary(text):
        raise InvalidRequest(f"{path} is a binary file", next_step="Pass a file of source code.")
    return symbols.file_symbols(os.fsencode(path), text)


def definitions(
    symbols: Symbols,
    engine: Engine,
    name: str,
    *,
    parts: bool = False,
    scope: ScopeSpec = _NO_SCOPE,
    paths: tuple[str, ...] = (),
    limit: int = PLACES_MAX,
    seconds: float = SECONDS,
) -> Lookup:
    """Return where a name is defined.

    Args:
        symbols: The parsers.
        engine: The engine of the repository.
        name: The name, or `Parent.name` (also with `::` or `#`) for those with that parent.
        parts: Add definitions whose names contain it, in any case. Without it they are returned
            only if nothing has exactly that name.
        scope: The files to search.
        paths: Folders or files to search, relative to the root; empty for the whole root.
        limit: Most places of the answer.
        seconds: Time limit.

    Raises:
        InvalidRequest: This can be no name, or a path leads out of the root.
        TriseekError: As `Search`.
    """
    parent, wanted = _split(name)

    def of_file(path: bytes, text: bytes) -> _File:
        listed = symbols.file_symbols(path, text)
        ranked_symbols = [
            (rank, symbol)
            for symbol in listed.symbols
            if (rank := _rank(symbol.name, wanted)) is not None
            and (not parent or symbol.parent == parent)
        ]
        places = [(rank, _place(path, text, each.begin, each)) for rank, each in ranked_symbols]
        return _File(places, listed.is_parsed, listed.problem)

    word = PatternSpec(patterns=(wanted,), fixed=True, word=True)
    part = PatternSpec(patterns=(wanted,), fixed=True, case="insensitive")
    request = SearchRequest(pattern=word, scope=scope, paths=paths, mode="files")
    with budget.limited(seconds):
        lookup = _lookup(engine, request, of_file, limit, rank_max=0)
        if parts or not (lookup.places or lookup.partial):
            request = SearchRequest(pattern=part, scope=scope, paths=paths, mode="files")
            lookup = _lookup(engine, request, of_file, limit)
    return lookup


def references(
    symbols: Symbols,
    engine: Engine,
    name: str,
    *,
    scope: ScopeSpec = _NO_SCOPE,
    paths: tuple[str, ...] = (),
    limit: int = PLACES_MAX,
    seconds: float = SECONDS,
) -> Lookup:
    """Return where a name is used: identifiers of that name that are no definition of it.

    Comments and strings are left out, and files of languages without a grammar. Two things with
    the same name are not told apart. Arguments and errors are those of `definitions`.
    """
    _, wanted = _split(name)
    word = wanted.encode("utf-8", "surrogateescape")

    def of_file(path: bytes, text: bytes) -> _File:
        listed, offsets = symbols.uses_in_file(path, text, word)
        places = []
        for offset in offsets:
            place = _place(path, text, offset, None)
            places.append((0, place._replace(symbol=_around(listed.symbols, place.line))))
        return _File(places, listed.is_parsed, listed.problem)

    pattern = PatternSpec(patterns=(wanted,), fixed=True, word=True)
    request = SearchRequest(pattern=pattern, scope=scope, paths=paths, mode="files")
    with budget.limited(seconds):
        return _lookup(engine, request, of_file, limit)


def _split(name: str) -> tuple[str, str]:
    """Return the parent, "" if none is named, and the name.

    Raises:
        InvalidRequest: It can be no name.
    """
    if not name.strip() or len(name) > NAME_MAX or any(char in name for char in "\0\n\r"):
        raise InvalidRequest(
            f"a name has 1 to {NAME_MAX} characters in one line",
            next_step="Pass the name of a function, a type or a variable.",
        )
    before, *rest = _QUALIFIED.split(name.strip(), maxsplit=1)
    if not rest or not before:
        return "", name.strip()
    return re.split(r"::|[.#]", before)[-1], rest[0]


def _rank(name: str, wanted: str) -> int | None:
    """Return how well a name fits: 0 exactly, 1 in another case, 2 begins so, 3 contains it."""
    if name == wanted:
        return 0
    folded, sought = name.casefold(), wanted.casefold()
    if folded == sought:
        return 1
    if folded.startswith(sought):
        return 2
    return 3 if sought in folded else None


def _lookup(
    engine: Engine,
    request: SearchRequest,
    of_file: Callable[[bytes, bytes], _File],
    limit: int,
    rank_max: int = 3,
) -> Lookup:
    """Parse the files that match a request, and collect their places up to `rank_max`."""
    partial: list[str] = []
    try:
        page = ranked(
            engine, request, limit=FILES_MAX, scores=engine.scores(), stop=lambda: False,
            seconds=budget.left() / 2,
        )  # fmt: skip
    except OutOfTime:
        return Lookup(partial=("The time was over before the files were searched.",))
    if page.search.totals.incomplete:
        partial.append(f"The search for the name: {page.search.totals.incomplete}.")
    candidates = [file.path for file in page.files]
    if page.more:
        partial.append(f"Only the best {len(candidates):,} files with the name were parsed.")
    places: list[tuple[int, SymbolPlace]] = []
    problems: list[str] = []
    parsed = unparsed = 0
    try:
        for path, file in _each(engine.root, candidates, of_file):
            parsed += file.is_parsed
            unparsed += not file.is_parsed
            if file.problem:
                problems.append(f"{path.decode(errors='replace')}: {file.problem}.")
            places += [place for place in file.places if place[0] <= rank_max]
            if sum(rank == 0 for rank, _ in places) > limit:
                partial.append(f"There are more than {limit:,} places.")
                break
    except OutOfTime:
        seen = parsed + unparsed
        partial.append(f"The time was over after {seen:,} of {len(candidates):,} files.")
    partial += problems[:PROBLEMS_MAX]
    if len(problems) > PROBLEMS_MAX:
        partial.append(f"{len(problems) - PROBLEMS_MAX:,} more files could not be parsed.")
    places.sort(key=lambda place: place[0])
    if len(places) > limit and not partial:
        partial.append(f"There are more than {limit:,} places.")
    return Lookup(tuple(place for _, place in places[:limit]), parsed, unparsed, tuple(partial))


def _each(
    root: str, paths: Sequence[bytes], of_file: Callable[[bytes, bytes], _File]
) -> Iterator[tuple[bytes, _File]]:
    """Yield each file with its result, in order; as many are parsed at a time as can be."""

    def examined(path: bytes) -> _File:
        budget.check()
        text = _text_of(os.path.join(os.fsencode(root), path))  # noqa: PTH118 - bytes
        return of_file(path, text) if text is not None else _File([], True, "cannot be read")

    with ThreadPoolExecutor(PROCESSES_MAX) as pool:
        ahead = [
            pool.submit(budget.carried(lambda path=path: examined(path)))  # type: ignore[misc]
            for path in paths
        ]
        try:
            for path, result in zip(paths, ahead, strict=True):
                yield path, result.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _text_of(path: bytes) -> bytes | None:
    """Return the text of a file up to the limit and one byte more; None if it has none."""
    try:
        # The path may have become a link out of the tree, or a pipe without a writer.
        with open(open_regular(path, follow=False), "rb") as file:  # noqa: PTH123 - a descriptor
            return _decoded(file.read(FILE_BYTES_MAX + 1))
    except OSError:
        return None


def _decoded(data: bytes) -> bytes:
    """Return the text of a file; data beyond the limit as they are, so that they stay beyond it."""
    return data if len(data) > FILE_BYTES_MAX else decode_all(data).data


def _place(path: bytes, text: bytes, offset: int, symbol: Symbol | None) -> SymbolPlace:
    begin = text.rfind(b"\n", 0, offset) + 1
    end = text.find(b"\n", offset)
    line = text[begin : end if end >= 0 else len(text)].removesuffix(b"\r")
    number = symbol.line if symbol else text.count(b"\n", 0, offset) + 1
    return SymbolPlace(path, number, offset - begin + 1, line, symbol)


def _around(symbols: Sequence[Symbol], line: int) -> Symbol | None:
    """Return the innermost definition of several lines that contains a line."""
    around = [symbol for symbol in symbols if symbol.line <= line <= symbol.end_line > symbol.line]
    return min(around, key=lambda symbol: symbol.end_line - symbol.line, default=None)
