"""The only place here that knows triseek's Python API; runs in the worker process."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, BinaryIO

from triseek.engine.service import Service
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.engine.search.backends.base import Batch


class Api:
    """One opened root."""

    def __init__(self, root: str, *, sweep: bool) -> None:
        """`sweep`: compare the tree with the index before every answer."""
        self.root = root
        self._sweep = sweep
        self.engine = Service().engine(root, exact=True)

    def opening(self, asked: str) -> int:
        """Open the root's index once more, as if nothing were open yet; nanoseconds.

        asked: a literal to look for at once, for much of an index is verified when first used.
        """
        if not asked:
            return _timed(lambda: Service().engine(self.root, exact=True).reader())
        request = SearchRequest(pattern=PatternSpec(patterns=(asked,), fixed=True), sweep=False)
        return _timed(
            lambda: sum(map(_taken, Service().engine(self.root, exact=True).search(request)))
        )

    def build(self) -> int:
        """Index from nothing; nanoseconds."""
        return _timed(self.engine.build)

    def update(self) -> int:
        """Take in what changed; nanoseconds."""
        return _timed(self.engine.update)

    def ask(self, case: dict[str, Any]) -> int:
        """Answer and take everything that is handed over; nanoseconds."""
        if case["mode"] == "paths":
            scope = ScopeSpec(globs=tuple(case["globs"]))
            return _timed(lambda: sum(map(len, self.engine.list_files(scope, sweep=self._sweep))))
        asked = _request(case, sweep=self._sweep)
        return _timed(lambda: sum(map(_taken, self.engine.search(asked))))

    def print(self, case: dict[str, Any], out: BinaryIO) -> None:
        """Write the answer as ripgrep writes it."""
        if case["mode"] == "paths":
            paths = self.engine.list_files(ScopeSpec(globs=tuple(case["globs"])), sweep=self._sweep)
            out.writelines(path + b"\n" for path in paths)
            return
        for batch in self.engine.search(_request(case, sweep=self._sweep)):
            out.writelines(_printed(batch, counts=case["mode"] == "count"))

    def backend(self, case: dict[str, Any]) -> str:
        """Which backend answers, and why; empty for listings."""
        if case["mode"] == "paths":
            return ""
        search = self.engine.search(_request(case, sweep=self._sweep))
        for _ in search:
            pass
        route = getattr(search, "route", None)
        return f"{route.backend}: {route.reason}" if route else ""


def _request(case: dict[str, Any], *, sweep: bool) -> SearchRequest:
    return SearchRequest(
        pattern=PatternSpec(
            patterns=tuple(case["patterns"]),
            fixed=case["fixed"],
            case="insensitive" if case["ignore_case"] else "sensitive",
            word=case["word"],
        ),
        scope=ScopeSpec(globs=tuple(case["globs"])),
        mode=case["mode"],
        limit=case["limit"],
        count_all=False,  # ripgrep, too, is stopped at its last wanted line
        sweep=sweep,
    )


def _taken(batch: Batch) -> int:
    """Touch all of it: rows are columns, text is one buffer."""
    return int(batch.counts.sum()) + len(batch.text) + int(batch.rows["number"].sum())


def _printed(batch: Batch, *, counts: bool) -> Iterable[bytes]:
    for path, rows, text, count, *_ in batch.files():
        if counts:
            yield b"%s:%d\n" % (path, count)
            continue
        columns = (rows["number"].tolist(), rows["begin"].tolist(), rows["end"].tolist())
        for number, begin, end in zip(*columns, strict=True):
            yield b"%s:%d:%s\n" % (path, number, text[begin:end].removesuffix(b"\n"))


def _timed(work: Callable[[], object]) -> int:
    begun = perf_counter_ns()
    work()
    return perf_counter_ns() - begun
