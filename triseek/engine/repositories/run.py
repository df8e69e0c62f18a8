"""One query on its way through the repositories of this machine."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.repositories import scores
from triseek.engine.repositories.best import Best
from triseek.engine.repositories.candidates import Candidates
from triseek.engine.repositories.documents import Document
from triseek.engine.repositories.evaluate import matches, names_sought, seems_to_define
from triseek.engine.repositories.lines import Lines, shown
from triseek.engine.repositories.terms import NONE, terms
from triseek.errors import (
    BackendFailure,
    FallbackFailure,
    IndexCorrupt,
    IndexUnavailable,
    OutOfTime,
    RepoNotDetected,
    TriseekError,
)
from triseek.model import budget
from triseek.model.code_search import CodeFile, CodeRequest
from triseek.query.zoekt import syntax

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from triseek.engine.engine import Engine
    from triseek.engine.repositories.evaluate import Hits
    from triseek.engine.repositories.roots import Root
    from triseek.engine.service import Service
    from triseek.engine.symbols.symbols import FileSymbols
    from triseek.query.zoekt.syntax import Node

LINES_MIN, LINES_PER_FILE, LINES_MAX = 1000, 20, 100_000
"""Matching lines counted in one repository before its search ends: at least so many, and so many
for each file that is wanted, but never more than the last, which is Zoekt's limit for a shard. The
best files are chosen among them."""
HELD_BYTES_MAX = 16 << 20
"""Text of files that are evaluated later; of further ones it is read again."""
_NAMED_MAX = 3
"""Repositories named in one reason; of more, their number is told."""
_OF_ROOT = (FallbackFailure, IndexCorrupt, IndexUnavailable, RepoNotDetected)
"""Errors of one root, which leave the others searchable."""


class Searched(NamedTuple):
    """What a source of local repositories searches."""

    service: Service
    roots: tuple[Root, ...]
    symbols_of: Callable[[bytes, bytes], FileSymbols]
    """Returns the definitions in a file, from its path and its text."""
    inner: Mapping[str, tuple[bytes, ...]]
    """By root: the folders inside it that belong to other roots (`roots.inner_folders`)."""
    only: Collection[bytes] | None
    """The files to search, of every root; None for all."""

    def engine_of(self, root: Root) -> Engine:
        """Return the engine of a root. Raises `RepoNotDetected` if it is gone."""
        return self.service.engine(root.folder, exact=True)


class Run:
    """One query on its way through the repositories."""

    def __init__(self, searched: Searched, request: CodeRequest) -> None:
        self._searched = searched
        self._request = request
        self._failures: list[TriseekError] = []
        self._answered = False
        self._over = False
        self._late: list[str] = []
        """Roots that were not searched because the time was over."""
        self.best = Best(request)
        self.partial: list[str] = []
        self.at_limits: list[str] = []
        self.files_skipped = 0
        self._left: Callable[[], int] = int
        """Returns how many files of the root that is searched have not been looked at."""

    def all_of(self, roots: Sequence[Root], query: Node) -> None:
        """Evaluate a query on all roots.

        Raises:
            InvalidQuery: A pattern has no meaning in our dialect.
            BackendFailure: No root could be searched.
        """
        for root in roots:
            self._guarded(root, partial(self._evaluate, root, query))
        self.check_answered()

    def _guarded(self, root: Root, work: Callable[[], bool]) -> bool:
        """Do the work of one root; what goes wrong in it makes the answer partial."""
        if self._over:
            self._late.append(root.name)
            return False
        try:
            done = work()
        except OutOfTime:
            self._over = self._answered = True
            self.partial.append(
                f"{root.name} was not searched to its end: the time was over "
                f"({self._request.seconds:g} s)"
            )
            return False
        except (BackendFailure, *_OF_ROOT) as error:
            self._failures.append(error)
            self.partial.append(f"{root.name} was not searched: {error}")
            return False
        self._answered = True
        return done

    def reasons(self) -> tuple[str, ...]:
        """Return why the answer may be incomplete, a sentence each."""
        late = []
        if self._late:
            named = ", ".join(self._late[:_NAMED_MAX])
            more = f" and {len(self._late) - _NAMED_MAX:,} more" * (len(self._late) > _NAMED_MAX)
            late = [f"not searched, as the time was over: {named}{more}"]
        return tuple(dict.fromkeys([*self.partial, *late]))

    def check_answered(self) -> None:
        """Raise `BackendFailure` if there are roots and none could be searched."""
        if self._failures and not self._answered:
            raise BackendFailure(
                "no repository could be searched: "
                + "; ".join(dict.fromkeys(map(str, self._failures))),
                next_step=self._failures[0].next_step,
            )

    def lists(self, root: Root, query: Node) -> bool:
        """Return what `has_match` does; what goes wrong makes the answer partial."""
        return self._guarded(root, lambda: self.has_match(root, query))

    def has_match(self, root: Root, query: Node) -> bool:
        """Return whether a query matches in any file of a root."""
        query = terms(query, root, lambda child: self.has_match(root, child))
        if isinstance(query, syntax.Const):
            return query.value
        with closing(self._matching(root, query)) as files:
            return next(files, None) is not None

    def _evaluate(self, root: Root, query: Node) -> bool:
        query = terms(query, root, lambda child: self.has_match(root, child))
        if query == NONE:
            return False
        request = self._request
        most = request.max_counted or max(
            LINES_MIN, LINES_PER_FILE * request.max_files, request.max_matches
        )
        most = min(most, LINES_MAX)
        counted = 0
        with closing(self._matching(root, query)) as files:
            for document, hits in files:
                counted += self._add(root, document, hits)
                if counted >= most and (left := self._left()):
                    self.files_skipped += left
                    reason = (
                        f"{root.name}: the search ended after {counted:,} matching lines; counts "
                        "and order cover the files searched until then"
                    )
                    self.partial.append(reason)
                    self.at_limits.append(reason)
                    break
        return True

    def _matching(self, root: Root, query: Node) -> Generator[tuple[Document, list[Hits]]]:
        """Yield the files of a root that match, with their hits."""
        engine = self._searched.engine_of(root)
        folder, inner = os.fsencode(root.folder), self._searched.inner[root.folder]
        notes = _Notes(root)
        try:
            only = self._searched.only
            candidates = Candidates(engine, query, notes.of_search)
            self._left = (lambda: candidates.left) if only is None else (lambda: 1)
            paths = candidates if only is None else only
            documents = (
                Document(folder, path, self._searched.symbols_of, notes.of_file)
                for path in paths
                if not (inner and path.startswith(inner))
            )
            for document in likely_first(query, documents):
                budget.check()
                hits = matches(query, document)
                if hits is not None:
                    yield document, hits
        finally:
            self.partial += notes.sentences()

    def _add(self, root: Root, document: Document, hits: list[Hits]) -> int:
        """Add a file to the answer; return how many lines it counts."""
        request, path = self._request, document.path
        chosen = shown(path, hits)
        lines = None if chosen.in_name else Lines(
            document.content, chosen, family=scores.family_of(path),
            context=request.context_lines, offset_base=document.offset_base,
        )  # fmt: skip
        best = lines.best if lines else scores.of_name(path, chosen.spans)
        file = CodeFile(
            repository=root.name,
            path=path,
            name_spans=tuple(chosen.spans) if chosen.in_name else (),
            match_count=max(len(lines or ()), 1),
            branches=(root.branch,) if root.branch else (),
            score=scores.of_file(path, best, len(hits)),
            content=document.content if request.whole else None,
        )
        self.best.add(file, document.head, lines)
        return file.match_count


def likely_first(query: Node, documents: Iterable[Document]) -> Iterator[Document]:
    """Yield all files; if definitions are asked for, first those that seem to have them.

    Parsing a file takes a hundred times as long as looking for the forms of its language.
    """
    names = list(names_sought(query))
    if not names:
        yield from documents
        return
    later: list[Document] = []
    held = 0
    for document in documents:
        budget.check()
        if seems_to_define(names, document):
            yield document
        else:
            held += len(document.content)
            if held > HELD_BYTES_MAX:
                document.forget()
            later.append(document)
    yield from later


class _Notes:
    """Why the answer of one root may be incomplete."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._reasons: dict[str, None] = {}
        self._unread = 0
        self._first = ""

    def of_search(self, reason: str) -> None:
        """Note a reason."""
        self._reasons[reason] = None

    def of_file(self, path: bytes, reason: str) -> None:
        """Note a file that could not be read."""
        if not self._unread:
            self._first = f"{os.fsdecode(path)!r}: {reason}"
        self._unread += 1

    def sentences(self) -> list[str]:
        """Return the reasons, a sentence each."""
        reasons = list(self._reasons)
        if self._unread:
            reasons.append(f"{self._unread:,} files were not searched to their end ({self._first})")
        return [f"{self._root.name}: {reason}" for reason in reasons]
