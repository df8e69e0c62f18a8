"""Two sources as one: what both answer, best first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from triseek.errors import BackendFailure
from triseek.model import budget
from triseek.model.code_search import CodeResult
from triseek.zoekt import merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.model.code_search import CodeRequest, CodeSource


class Joined:
    """Two `CodeSource`s with repositories of different names; if one fails, the other answers."""

    name = "zoekt"

    def __init__(self, first: CodeSource, second: CodeSource) -> None:
        self._sources = (first, second)

    def search(self, request: CodeRequest) -> CodeResult:
        """Answer a query. `CodeSource.search` documents the errors."""
        result = self._of_both(lambda source: source.search(request))
        result.files = merge.capped(result.files, request.max_files, request.max_matches)
        return result

    def repositories(self, query: str = "") -> CodeResult:
        """Return all repositories, or those in which a query matches, by name."""
        return self._of_both(lambda source: source.repositories(query))

    def read(self, repository: str, path: bytes) -> bytes:
        """Return the content of a file. `CodeSource.read` documents the errors."""
        first, second = self._sources
        listed = second.repositories().repositories
        source = second if any(each.name == repository for each in listed) else first
        return source.read(repository, path)

    def _of_both(self, ask: Callable[[CodeSource], CodeResult]) -> CodeResult:
        """Ask both sources at once.

        Raises:
            BackendFailure: Both failed.
        """
        results: list[CodeResult] = []
        failures: list[BackendFailure] = []
        with ThreadPoolExecutor(2, "triseek-sources") as pool:
            asked = [pool.submit(budget.carried(partial(ask, s))) for s in self._sources]
            for each in asked:
                try:
                    results.append(each.result())
                except BackendFailure as failure:
                    failures.append(failure)
        if not results:
            raise failures[0]
        files, _, _ = merge.merged_files(tuple(result.files) for result in results)
        return CodeResult(
            files=files,
            repositories=merge.merged_repositories(tuple(r.repositories) for r in results),
            file_count=sum(result.file_count for result in results),
            match_count=sum(result.match_count for result in results),
            partial=(
                *(f"{str(failure).splitlines()[0]}." for failure in failures),
                *(reason for result in results for reason in result.partial),
            ),
            at_limits=tuple(reason for result in results for reason in result.at_limits),
            hosts=tuple(host for result in results for host in result.hosts),
            elapsed_ms=max(result.elapsed_ms for result in results),
        )
