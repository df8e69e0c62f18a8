"""find_files: search for paths by words they contain or by a glob, likeliest first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.ranking.path_class import PathClass, path_class
from triseek.engine.search.router import BACKEND_FAILED
from triseek.errors import InvalidQuery
from triseek.files.tree.walk import walk
from triseek.kernels import cache
from triseek.model.search import Route, ScopeSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.engine.engine import Engine
    from triseek.model.search import Freshness

GLOB_SIGNS = frozenset("*?[{")
_STEP = 1 << 10
"""Larger than the length of any file name, which the file system limits to 255 bytes."""


class FoundFiles(NamedTuple):
    """The matching files, and how they were found."""

    paths: list[bytes]
    """All matching paths, best first."""
    route: Route
    freshness: Freshness


class PathQuery:
    """A query for paths, parsed from one line.

    A query with `*`, `?`, `[` or `{` is a glob. Any other query is a list of words; a path must
    contain all of them, in any order and case.

    Raises on creation:
        InvalidQuery: The query is empty, or contains a NUL character.
    """

    def __init__(self, text: str) -> None:
        if not text.strip():
            raise InvalidQuery("the query is empty", next_step="Give a part of the file's path.")
        if "\0" in text:
            raise InvalidQuery("the query holds a NUL character", next_step="Leave it out.")
        self.is_glob = bool(GLOB_SIGNS & set(text))
        self.words = [] if self.is_glob else [folded(os.fsencode(word)) for word in text.split()]
        self.below = _below(text.strip()) if self.is_glob else None
        """For a glob that matches all files below a folder: the folder's path and `/`; empty for
        the root."""
        is_scoped = self.is_glob and self.below is None
        self.scope = ScopeSpec(globs=(text.strip(),) if is_scoped else (), allowlist=True)

    @property
    def holding(self) -> list[bytes]:
        """Strings that every matching path contains, as far as the index can search for them."""
        words = [self.below[:-1]] if self.below else self.words
        return [word for word in words if word.isascii()]  # the index folds the case of ASCII only

    def accepts(self, path: bytes) -> bool:
        """Return whether a path has every word, or is below the folder that a glob names.

        All other globs were already applied by the scope.
        """
        if self.below:
            return path.startswith(self.below)
        return self.is_glob or all(_holds(path, word) for word in self.words)

    def distance(self, path: bytes) -> int:
        """Return how far a path is from the query; 0 is nearest.

        The file's name counts more than its folders. From near to far: the name is one of the
        words, begins with one, has all, has some. Among equals the shorter name is nearer.
        """
        if self.is_glob:
            return 0
        name = path.rpartition(b"/")[2]
        inside = sum(_holds(name, word) for word in self.words)
        if inside < len(self.words):
            return (3 + len(self.words) - inside) * _STEP
        lower = folded(name)
        if any(word in (lower, lower.partition(b".")[0]) for word in self.words):
            return len(name)
        begins = any(map(lower.startswith, self.words))
        return (1 if begins else 2) * _STEP + len(name)


def find_files(engine: Engine, query: PathQuery, scores: Mapping[bytes, float]) -> FoundFiles:
    """Return the matching files, ordered by distance of the name, then class, frecency and path.

    Raises:
        InvalidQuery: the glob is invalid.
        RepoNotDetected: the root is gone.
    """
    files = _by_index(engine, query) or _by_walk(engine, query)
    paths = [path for path in files.paths if query.accepts(path)]
    if scores:  # sorting is stable, and the paths are in path order
        paths.sort(key=lambda path: -scores.get(path, 0.0))
    paths.sort(key=lambda path: query.distance(path) * len(PathClass) + path_class(path))
    return files._replace(paths=paths)


def _by_index(engine: Engine, query: PathQuery) -> FoundFiles | None:
    if not (engine.has_index() and cache.is_ready() and not engine.is_cold):
        return None
    try:
        paths, _, diff = engine.indexed().find_files(query.scope, query.holding)
    except BACKEND_FAILED:
        return None
    route = Route(backend="indexed", reason="indexed_default")
    return FoundFiles(paths, route, diff.freshness)


def _by_walk(engine: Engine, query: PathQuery) -> FoundFiles:
    reason = "kernels_cold" if engine.has_index() else "no_index"
    paths = walk(engine.root, query.scope).paths
    return FoundFiles(paths, Route(backend="direct_scan", reason=reason), "swept")


def _below(glob: str) -> bytes | None:
    """Return the folder, with `/`, all of whose files a glob matches; None for any other glob.

    Passed to the walk, such a glob would also select ignored and hidden files, as in ripgrep.
    """
    glob = glob.removeprefix("./").removeprefix("/")
    if glob in ("**", "**/*"):
        return b""
    folder = glob.removesuffix("/*").removesuffix("/**")
    is_whole = glob in (f"{folder}/**", f"{folder}/**/*")
    return os.fsencode(f"{folder}/") if is_whole and not GLOB_SIGNS & set(folder) else None


def _holds(text: bytes, word: bytes) -> bool:
    """Return whether a text contains a lower-case word in any case.

    For an ASCII word only the case of ASCII letters is ignored.
    """
    return word in (text.lower() if word.isascii() else folded(text))


def folded(text: bytes) -> bytes:
    """Return a text in Unicode lower case.

    Most paths are ASCII, and lower-casing bytes is ten times as fast.
    """
    return text.lower() if text.isascii() else os.fsencode(os.fsdecode(text).lower())
