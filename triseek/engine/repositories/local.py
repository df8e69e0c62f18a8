"""One query over several indexed repositories of this machine."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from triseek.engine.agent_scope import is_shown
from triseek.engine.repositories.figures import described
from triseek.engine.repositories.roots import inner_folders
from triseek.engine.repositories.run import Run, Searched
from triseek.engine.repositories.symbol_memo import SymbolMemo
from triseek.errors import BackendFailure, InvalidRequest
from triseek.files.containment import locate, open_file
from triseek.model import budget
from triseek.model.code_search import CodeRequest, CodeResult
from triseek.query.zoekt import syntax
from triseek.query.zoekt.parse import parse
from triseek.query.zoekt.simplify import simplify

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from triseek.engine.repositories.documents import SymbolSource
    from triseek.engine.repositories.roots import Root
    from triseek.engine.service import Service
    from triseek.engine.symbols.symbols import FileSymbols
    from triseek.query.zoekt.syntax import Node

READ_BYTES_MAX = 64 << 20
"""Bytes of a file that `read` returns; a larger one is refused."""
LIST_SECONDS = 20.0


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
        self._roots = tuple(roots)
        self._symbols = symbols
        self._searched = Searched(
            service, self._roots, SymbolMemo(self._symbols_of).of, inner_folders(roots), only
        )

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
                tool_step="Take the name of a repository from the result of a search.",
            )
        inside = locate(root.folder, os.fsdecode(path))
        if inside.kind == "file" and not is_shown(root.folder, inside.real):
            raise InvalidRequest(
                f"{inside.real!r} is not searched: it is hidden, ignored or git's own",
                next_step="Add it to git, or read it without triseek.",
            )
        file = open_file(root.folder, inside.real)
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
        run = Run(self._searched, request)
        with budget.limited(request.seconds):
            run.all_of(self._roots, query)
        files = run.best.files()
        return CodeResult(
            files=files,
            file_count=sum(count.files for count in run.best.counts.values()),
            match_count=sum(count.matches for count in run.best.counts.values()),
            files_skipped=run.files_skipped,
            counts=dict(sorted(run.best.counts.items())),
            partial=run.reasons(),
            at_limits=tuple(run.at_limits),
            elapsed_ms=(time.perf_counter() - started) * 1e3,
        )

    def _listed(self, query: Node, seconds: float) -> CodeResult:
        """Return the repositories in which a query matches, by name."""
        started = time.perf_counter()
        run = Run(self._searched, CodeRequest(query="", max_files=1, seconds=seconds))
        with budget.limited(seconds):
            matching = [root for root in self._roots if run.lists(root, query)]
        run.check_answered()
        return CodeResult(
            repositories=list(map(described, matching)),
            partial=run.reasons(),
            elapsed_ms=(time.perf_counter() - started) * 1e3,
        )

    def _symbols_of(self, path: bytes, content: bytes) -> FileSymbols:
        """Return the definitions in a file."""
        if self._symbols is None:
            from triseek.engine.symbols.symbols import shared

            self._symbols = shared()
        return self._symbols.file_symbols(path, content)
