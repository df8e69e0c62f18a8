"""find_files: search for paths by words they contain or by a glob, likeliest first."""

from __future__ import annotations

import os
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek.engine.ranking.path_class import PATH_CLASSES, PathClass
from triseek.engine.search.router import BACKEND_FAILED
from triseek.errors import InvalidQuery
from triseek.files.tree.walk import walk
from triseek.kernels import cache
from triseek.model.search import Route, ScopeSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.engine.engine import Engine
    from triseek.model.search import Freshness

Array: TypeAlias = np.ndarray[Any, Any]

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

    def among(self, paths: list[bytes]) -> list[bytes]:
        """Return the paths that `accepts` accepts, in order."""
        if self.is_glob:
            return paths if not self.below else list(filter(self.accepts, paths))
        for word in self.words:
            lowered = _lowered(paths, word)
            paths = [path for path, lower in zip(paths, lowered, strict=True) if word in lower]
        return paths

    def distances(self, paths: list[bytes]) -> Array:
        """Return int64[paths]: how far each path is from the query; 0 is nearest.

        The file's name counts more than its folders. From near to far: the name is one of the
        words, begins with one, has all, has some. Among equals the shorter name is nearer.
        """
        if self.is_glob or not paths:
            return np.zeros(len(paths), np.int64)
        names = [path[path.rfind(b"/") + 1 :] for path in paths]
        inside = np.zeros(len(names), np.int64)
        for word in self.words:
            inside += np.array([word in name for name in _lowered(names, word)])
        distances = (3 + len(self.words) - inside) * _STEP
        for number in np.flatnonzero(inside == len(self.words)).tolist():
            distances[number] = self._distance(names[number])
        return distances

    def _distance(self, name: bytes) -> int:
        """Return how far a name that has all words is from them."""
        lower = folded(name)
        if any(word in (lower, lower.partition(b".")[0]) for word in self.words):
            return len(name)
        return (1 if lower.startswith(tuple(self.words)) else 2) * _STEP + len(name)


def find_files(engine: Engine, query: PathQuery, scores: Mapping[bytes, float]) -> FoundFiles:
    """Return the matching files, ordered by distance of the name, then class, frecency and path.

    Raises:
        InvalidQuery: the glob is invalid.
        RepoNotDetected: the root is gone.
    """
    files = _by_index(engine, query) or _by_walk(engine, query)
    paths = query.among(files.paths)
    ranks = query.distances(paths) * len(PathClass) + PATH_CLASSES.of(paths)
    used = np.fromiter(map(scores.get, paths, repeat(0.0)), np.float64, len(paths))
    best = np.lexsort((-used, ranks))  # sorting is stable, and the paths are in path order
    return files._replace(paths=[paths[number] for number in best.tolist()])


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
    """Return whether a text contains a lower-case word in any case."""
    return word in _lowered([text], word)[0]


def _lowered(texts: list[bytes], word: bytes) -> list[bytes]:
    """Return texts without NUL in lower case: for an ASCII word only their ASCII letters are."""
    if word.isascii() and texts:  # split makes one text of none
        return b"\0".join(texts).lower().split(b"\0")
    return list(map(folded, texts))


def folded(text: bytes) -> bytes:
    """Return a text in Unicode lower case.

    Most paths are ASCII, and lower-casing bytes is ten times as fast.
    """
    return text.lower() if text.isascii() else os.fsencode(os.fsdecode(text).lower())
