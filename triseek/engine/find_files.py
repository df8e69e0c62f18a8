"""find_files: paths by words they contain or by a glob, the likeliest first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.pathclass import PathClass, path_class
from triseek.errors import (
    BackendFailure,
    FormatTooNew,
    IndexCorrupt,
    IndexUnavailable,
    InvalidQuery,
)
from triseek.files.walk import walk
from triseek.kernels import cache
from triseek.model.search import Route, ScopeSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from triseek.engine.engine import Engine
    from triseek.model.search import Freshness

GLOB_SIGNS = frozenset("*?[{")
_STEP = 1 << 10
"""More than a name's length, which the file system limits to 255 bytes."""


class Found(NamedTuple):
    """Files, and how they were found."""

    paths: list[bytes]
    """All of them, best first."""
    route: Route
    freshness: Freshness
    index_generation: int | None


class Query:
    """What a path has to have, read from one line.

    A query with `*`, `?`, `[` or `{` is a glob; any other is words, all of which have to be in the
    path, in any order and case.

    Raises on creation:
        InvalidQuery: It is empty, or holds a NUL character.
    """

    def __init__(self, text: str) -> None:
        if not text.strip():
            raise InvalidQuery("the query is empty", next_step="Give a part of the file's path.")
        if "\0" in text:
            raise InvalidQuery("the query holds a NUL character", next_step="Leave it out.")
        self.is_glob = bool(GLOB_SIGNS & set(text))
        self.words = [] if self.is_glob else [folded(os.fsencode(word)) for word in text.split()]
        self.below = _below(text.strip()) if self.is_glob else None
        """For a glob that takes all of a folder: that folder's path and `/`; of the root: empty."""
        is_scoped = self.is_glob and self.below is None
        self.scope = ScopeSpec(globs=(text.strip(),) if is_scoped else (), allowlist=True)

    @property
    def holding(self) -> list[bytes]:
        """What is in every path that is meant, as far as the index can look for it."""
        return _ascii([self.below[:-1]] if self.below else self.words)

    def accepts(self, path: bytes) -> bool:
        """Whether a path has every word; for other globs the scope has seen to it."""
        if self.below:
            return path.startswith(self.below)
        return self.is_glob or all(_holds(path, word) for word in self.words)

    def distance(self, path: bytes) -> int:
        """How far a path is from being what was meant; 0 is nearest.

        The file's name says more than its folders: it is one of the words, begins with one, has
        all, has some. Among equals the shorter name is nearer.
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


def find_files(engine: Engine, query: Query, scores: Mapping[bytes, float]) -> Found:
    """Find files: nearest name first, then by class, frecency and path.

    Raises:
        InvalidQuery: the glob is invalid.
        RepoNotDetected: the root is gone.
    """
    found = _by_index(engine, query) or _by_walk(engine, query)
    paths = [path for path in found.paths if query.accepts(path)]
    if scores:  # sorting is stable, and they came in path order
        paths.sort(key=lambda path: -scores.get(path, 0.0))
    paths.sort(key=lambda path: query.distance(path) * len(PathClass) + path_class(path))
    return found._replace(paths=paths)


def _by_index(engine: Engine, query: Query) -> Found | None:
    if not (engine.has_index() and cache.is_ready() and not engine.is_cold):
        return None
    try:
        paths, reader, dirt = engine.indexed().find_files(query.scope, query.holding)
    except (BackendFailure, IndexCorrupt, FormatTooNew, IndexUnavailable):
        return None
    route = Route(backend="indexed", reason="indexed_default")
    return Found(paths, route, dirt.freshness, reader.generation)


def _by_walk(engine: Engine, query: Query) -> Found:
    reason = "kernels_cold" if engine.has_index() else "no_index"
    paths = walk(engine.root, query.scope).paths
    return Found(paths, Route(backend="direct_scan", reason=reason), "swept", None)


def _below(glob: str) -> bytes | None:
    """The folder all of which a glob takes.

    To the walk it would ask for whatever is ignored or hidden there, too, as it does of ripgrep.
    """
    glob = glob.removeprefix("./").removeprefix("/")
    if glob in ("**", "**/*"):
        return b""
    folder = glob.removesuffix("/*").removesuffix("/**")
    is_whole = glob in (f"{folder}/**", f"{folder}/**/*")
    return os.fsencode(f"{folder}/") if is_whole and not GLOB_SIGNS & set(folder) else None


def _ascii(words: Sequence[bytes]) -> list[bytes]:
    """Words the index can look for: it folds the case of ASCII alone."""
    return [word for word in words if word.isascii()]


def _holds(text: bytes, word: bytes) -> bool:
    """Whether a text has a word that is in lower case; an ASCII word in ASCII's cases alone."""
    return word in (text.lower() if word.isascii() else folded(text))


def folded(text: bytes) -> bytes:
    """In lower case, Unicode's; most paths are ASCII, and bytes are ten times as quick."""
    return text.lower() if text.isascii() else os.fsencode(os.fsdecode(text).lower())
