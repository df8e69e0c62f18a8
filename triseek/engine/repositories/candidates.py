"""The files of one repository that a query has to be evaluated on, the likeliest first.

With an index they are known from trigrams and names. If that leaves many, or if there is no index,
a search of the engine for one of the query's texts leaves out files in which it does not occur.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.agent_scope import agent_scope
from triseek.engine.repositories.atoms import atom
from triseek.engine.repositories.bounds import may_match
from triseek.engine.repositories.documents import Document
from triseek.engine.repositories.language_masks import learn
from triseek.engine.search.router import BACKEND_FAILED
from triseek.files.tree.walk import path_order
from triseek.kernels import cache
from triseek.model import budget
from triseek.model.search import SearchRequest
from triseek.query.zoekt import syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triseek.engine.engine import Engine
    from triseek.engine.symbols.symbols import FileSymbols
    from triseek.index.reader import IndexReader
    from triseek.model.search import Skipped
    from triseek.query.zoekt.syntax import Node

DIRECT_MAX = 256
"""Files that are evaluated without a search of the engine first."""
_LISTING_BLOCKS = 1 << 40
"""Cost of evaluating all files of a repository, as a number of blocks: more than any search."""


class Candidates:
    """The files of one repository for one query."""

    def __init__(self, engine: Engine, query: Node, note: Callable[[str], None]) -> None:
        """Prepare the candidates; nothing is read yet.

        note: Called with each reason why files may be missing.
        """
        self._engine = engine
        self._query = query
        self._note = note
        self._scope = agent_scope(engine.root)
        self._listed: list[bytes] | None = None
        self._yielded = 0
        self._last: bytes | None = None
        """The file yielded last, if all before it in path order have been yielded."""

    @property
    def left(self) -> int:
        """How many files may match and have not been yielded; at least 1 if that is not known."""
        if self._listed is None:
            return 1
        done = self._yielded
        if self._last is not None:
            done = bisect_right(self._listed, path_order(self._last), key=path_order)
        return len(self._listed) - done

    def __iter__(self) -> Iterator[bytes]:
        """Yield each path once.

        Raises:
            FallbackFailure: No backend could search the repository.
            OutOfTime: As `model.budget.check`.
        """
        listed = self._from_index(self._query)
        if listed is not None and len(listed) > DIRECT_MAX and self._learn_languages():
            listed = self._from_index(self._query)
        self._listed = listed
        for path in self._paths(listed):
            self._yielded += 1
            yield path

    def _paths(self, listed: list[bytes] | None) -> Iterator[bytes]:
        if listed is not None and len(listed) <= DIRECT_MAX:
            yield from listed
            return
        ways = ways_of(self._query, self._reader(listed))
        if not ways.texts:
            yield from self._all() if listed is None else listed
            return
        seen: set[bytes] = set()
        if ways.others:
            for path in self._others(ways.others):
                seen.add(path)
                yield path
        allowed = None if listed is None else set(listed)
        for text in ways.texts:
            for path in self._holding(text):
                if path not in seen and (allowed is None or path in allowed):
                    seen.add(path)
                    if len(ways.texts) == 1:
                        self._last = path
                    yield path

    def _from_index(self, query: Node) -> list[bytes] | None:
        """Return the files that may match, in path order; None if no index can be used now."""
        engine = self._engine
        if engine.index_dir is None or not cache.is_ready() or engine.is_cold:
            return None
        with suppress(*BACKEND_FAILED):
            return engine.indexed().candidates(self._scope, partial(may_match, query))
        return None

    def _learn_languages(self) -> bool:
        """Look once at the files whose names do not tell whether they have a language asked for.

        Return whether the query asks for any.
        """
        languages = set(_languages_of(self._query))
        if not languages:
            return False
        folder = os.fsencode(self._engine.root)

        def language_of(path: bytes) -> str | None:
            budget.check()
            unread: list[bytes] = []
            document = Document(folder, path, _no_symbols, lambda path, _: unread.append(path))
            # It may be gone for now; a binary or empty file is soon looked at again.
            return document.language if document.content and not unread else None

        with suppress(*BACKEND_FAILED):
            for view in self._engine.reader().views:
                for language in languages:
                    learn(language, view, language_of)
        return True

    def _reader(self, listed: list[bytes] | None) -> IndexReader | None:
        if listed is None:
            return None
        with suppress(*BACKEND_FAILED):
            return self._engine.reader()
        return None

    def _others(self, queries: tuple[Node, ...]) -> list[bytes]:
        either = queries[0] if len(queries) == 1 else syntax.Or(queries)
        listed = self._from_index(either)
        return list(self._all()) if listed is None else listed

    def _all(self) -> Iterator[bytes]:
        skipped: list[Skipped] = []
        yield from self._engine.list_files(self._scope, skipped=skipped)
        self._report(skipped)

    def _holding(self, text: syntax.Text) -> Iterator[bytes]:
        """Yield the files in which a text occurs, in path order."""
        if atom(text).pattern.needs_nul:
            return  # a file that holds one is binary
        request = SearchRequest(pattern=atom(text).spec, scope=self._scope, mode="files")
        search = self._engine.search(request, count_hits=False)
        with closing(search):
            for batch in search:
                yield from batch.paths
        if search.totals.incomplete:
            self._note(search.totals.incomplete)
        self._report(search.totals.skipped)

    def _report(self, skipped: list[Skipped]) -> None:
        unread = [each for each in skipped if each.reason not in ("binary", "loop")]
        if unread:
            more = f" and {len(unread) - 1:,} more" if len(unread) > 1 else ""
            path = unread[0].path.decode("utf-8", "replace")
            self._note(f"{path!r}{more} could not be read ({unread[0].detail or unread[0].reason})")


def _no_symbols(_path: bytes, _text: bytes) -> FileSymbols:
    raise AssertionError("the language of a file does not depend on its definitions")


def _languages_of(query: Node) -> Iterator[str]:
    """Yield the languages that a query asks for."""
    match query:
        case syntax.Language():
            yield from filter(None, (query.name,))
        case syntax.And() | syntax.Or():
            for child in query.children:
                yield from _languages_of(child)
        case syntax.Type():
            yield from _languages_of(query.child)


class Ways(NamedTuple):
    """Texts and queries of which every match of a query satisfies at least one."""

    cost: float
    texts: tuple[syntax.Text, ...]
    """Of the content."""
    others: tuple[Node, ...]
    """Queries that are decided by names, or need all files."""


def ways_of(query: Node, reader: IndexReader | None) -> Ways:
    """Return the cheapest ways to find all files in which a query matches."""
    match query:
        case syntax.Substring() | syntax.Regexp() if query.where == "content":
            if atom(query).matches_all:
                return Ways(_LISTING_BLOCKS, (), (query,))
            return Ways(_blocks(query, reader), (query,), ())
        case syntax.And():
            return min((ways_of(child, reader) for child in query.children), key=_cost)
        case syntax.Or():
            ways = [ways_of(child, reader) for child in query.children]
            return Ways(
                sum(way.cost for way in ways),
                tuple(dict.fromkeys(text for way in ways for text in way.texts)),
                tuple(other for way in ways for other in way.others),
            )
        case syntax.Type():
            return ways_of(query.child, reader)
        case syntax.Substring() | syntax.Regexp() | syntax.Language():
            return Ways(_LISTING_BLOCKS >> 20, (), (query,))
        case _:
            return Ways(_LISTING_BLOCKS, (), (query,))


def _cost(ways: Ways) -> float:
    return ways.cost


def _blocks(text: syntax.Text, reader: IndexReader | None) -> float:
    """Return about how many blocks have to be read; without an index, fewer for longer texts."""
    if reader is None:
        return 1e6 / (1 + max(map(len, atom(text).needles), default=0))
    formula = atom(text).pattern.formula
    return 1.0 + sum(view.estimate(formula).blocks for view in reader.views)
