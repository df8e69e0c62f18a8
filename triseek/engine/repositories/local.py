"""One query over several indexed repositories of this machine."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING

from triseek.engine.repositories import scores
from triseek.engine.repositories.best import Best
from triseek.engine.repositories.candidates import Candidates
from triseek.engine.repositories.documents import Document
from triseek.engine.repositories.evaluate import matches
from triseek.engine.repositories.figures import described
from triseek.engine.repositories.lines import lines_of, shown
from triseek.engine.repositories.terms import NONE, terms
from triseek.errors import (
    BackendFailure,
    FallbackFailure,
    IndexCorrupt,
    IndexUnavailable,
    InvalidRequest,
    OutOfTime,
    RepoNotDetected,
    TriseekError,
)
from triseek.files.containment import open_file
from triseek.model import budget
from triseek.model.code_search import CodeFile, CodeRequest, CodeResult
from triseek.query.zoekt import syntax
from triseek.query.zoekt.parse import parse
from triseek.query.zoekt.simplify import simplify

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from triseek.engine.engine import Engine
    from triseek.engine.repositories.documents import SymbolSource
    from triseek.engine.repositories.evaluate import Hits
    from triseek.engine.repositories.roots import Root
    from triseek.engine.service import Service
    from triseek.engine.symbols.symbols import FileSymbols
    from triseek.query.zoekt.syntax import Node

READ_BYTES_MAX = 64 << 20
"""Bytes of a file that `read` returns; a larger one is refused."""
LINES_PER_FILE = 20
"""Matching lines counted in one repository for each file that is wanted; then its search ends."""
LIST_SECONDS = 20.0
_OF_ROOT = (FallbackFailure, IndexCorrupt, IndexUnavailable, RepoNotDetected)
"""Errors of one root, which leave the others searchable."""


class LocalRepositories:
    """The indexed repositories of this machine, as a `CodeSource`.

    Files of a root inside another belong to the inner one. What is searched is what agents' tools
    search (`engine.agent_scope`): unlike Zoekt's index of a folder, without ignored files.
    """

    name = "local"

    def __init__(
        self,
        service: Service,
        roots: Sequence[Root],
        symbols: SymbolSource | None = None,
        *,
        only: Collection[bytes] | None = None,
    ) -> None:
        """Search these roots with the engines of a service.

        symbols: Finds the definitions in a file; None for that of `engine.symbols`.
        only: The files to search, of every root; None for all that agents' tools search.
        """
        self.only = only
        self._service = service
        self._roots = tuple(roots)
        self._symbols = symbols

    def search(self, request: CodeRequest) -> CodeResult:
        """Answer a query; best files first. `CodeSource.search` documents the errors."""
        query = simplify(parse(request.query))
        if isinstance(query, syntax.Type) and query.kind == "repo":
            return self._listed(query.child, request.seconds)
        return self.evaluate(query, request)

    def repositories(self, query: str = "") -> CodeResult:
        """Return all repositories, or those in which a query matches, by name."""
        tree = simplify(parse(query))
        if isinstance(tree, syntax.Type):
            tree = tree.child
        return self._listed(tree, LIST_SECONDS)

    def read(self, repository: str, path: bytes) -> bytes:
        """Return the content of a file. `CodeSource.read` documents the errors."""
        root = next((root for root in self._roots if root.name == repository), None)
        if root is None:
            raise InvalidRequest(
                f"no such repository: {repository!r}",
                next_step="`triseek roots` lists their names.",
            )
        file = open_file(root.folder, os.fsdecode(path))
        try:
            size = os.fstat(file).st_size
            if size > READ_BYTES_MAX:
                raise InvalidRequest(
                    f"{os.fsdecode(path)!r} has {size:,} bytes, more than {READ_BYTES_MAX:,}",
                    next_step="Search it for the lines you need.",
                )
            with open(file, "rb", closefd=False) as content:
                return content.read(READ_BYTES_MAX)
        except OSError as error:
            raise BackendFailure(f"cannot read {os.fsdecode(path)!r}: {error.strerror}") from error
        finally:
            os.close(file)

    def evaluate(self, query: Node, request: CodeRequest) -> CodeResult:
        """Answer a query that is parsed already. The errors are those of `search`."""
        started = time.perf_counter()
        run = _Run(self, request)
        with budget.limited(request.seconds):
            run.all_of(self._roots, query)
        files = run.best.files()
        return CodeResult(
            files=files,
            file_count=sum(count.files for count in run.best.counts.values()),
            match_count=sum(count.matches for count in run.best.counts.values()),
            counts=dict(sorted(run.best.counts.items())),
            partial=tuple(dict.fromkeys(run.partial)),
            elapsed_ms=(time.perf_counter() - started) * 1e3,
        )

    def _listed(self, query: Node, seconds: float) -> CodeResult:
        """Return the repositories in which a query matches, by name."""
        started = time.perf_counter()
        run = _Run(self, CodeRequest(query="", max_files=1, seconds=seconds))
        with budget.limited(seconds):
            matching = [root for root in self._roots if run.lists(root, query)]
        run.check_answered()
        return CodeResult(
            repositories=list(map(described, matching)),
            partial=tuple(dict.fromkeys(run.partial)),
            elapsed_ms=(time.perf_counter() - started) * 1e3,
        )

    def engine_of(self, root: Root) -> Engine:
        """Return the engine of a root. Raises `RepoNotDetected` if it is gone."""
        return self._service.engine(root.folder, exact=True)

    def inner(self, root: Root) -> tuple[bytes, ...]:
        """Return the folders of other roots inside a root, relative to it, each ending in `/`."""
        prefix = os.fsencode(root.folder).rstrip(b"/") + b"/"
        folders = (os.fsencode(other.folder) for other in self._roots if other != root)
        return tuple(
            folder[len(prefix) :] + b"/" for folder in folders if folder.startswith(prefix)
        )

    def symbols_of(self, path: bytes, content: bytes) -> FileSymbols:
        """Return the definitions in a file."""
        if self._symbols is None:
            from triseek.engine.symbols.symbols import shared

            self._symbols = shared()
        return self._symbols.file_symbols(path, content)


class _Run:
    """One query on its way through the repositories."""

    def __init__(self, source: LocalRepositories, request: CodeRequest) -> None:
        self._source = source
        self._request = request
        self._failures: list[TriseekError] = []
        self._answered = False
        self._over = False
        self.best = Best(request)
        self.partial: list[str] = []

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
            self.partial.append(f"{root.name} was not searched: the time was over")
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
        return next(self._matching(root, query), None) is not None

    def _evaluate(self, root: Root, query: Node) -> bool:
        query = terms(query, root, lambda child: self.has_match(root, child))
        if query == NONE:
            return False
        most = LINES_PER_FILE * self._request.max_files
        counted = 0
        for document, hits in self._matching(root, query):
            file = self._file(root, document, hits)
            self.best.add(file, document.head)
            counted += file.match_count
            if counted >= most:
                self.partial.append(
                    f"{root.name}: the search ended after {counted:,} matching lines; counts and "
                    "order cover the files searched until then"
                )
                break
        return True

    def _matching(self, root: Root, query: Node) -> Iterator[tuple[Document, list[Hits]]]:
        """Yield the files of a root that match, with their hits."""
        engine = self._source.engine_of(root)
        folder, inner = os.fsencode(root.folder), self._source.inner(root)
        notes = _Notes(root)
        try:
            only = self._source.only
            for path in Candidates(engine, query, notes.of_search) if only is None else only:
                budget.check()
                if inner and path.startswith(inner):
                    continue
                document = Document(
                    folder,
                    path,
                    self._source.symbols_of,
                    notes.of_file,
                )
                hits = matches(query, document)
                if hits is not None:
                    yield document, hits
        finally:
            self.partial += notes.sentences()

    def _file(self, root: Root, document: Document, hits: list[Hits]) -> CodeFile:
        request, path = self._request, document.path
        chosen = shown(path, hits)
        lines = [] if chosen.in_name else lines_of(
            document.content, chosen, family=scores.family_of(path),
            context=request.context_lines, offset_base=document.offset_base,
        )  # fmt: skip
        best = (
            scores.of_name(path, chosen.spans)
            if chosen.in_name
            else max((line.score for line in lines), default=0.0)
        )
        return CodeFile(
            repository=root.name,
            path=path,
            lines=tuple(lines),
            name_spans=tuple(chosen.spans) if chosen.in_name else (),
            match_count=max(len(lines), 1),
            branches=(root.branch,) if root.branch else (),
            score=scores.of_file(path, best, len(hits)),
            content=document.content if request.whole else None,
        )


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
