"""find_files: search for paths by words they contain or by a glob, likeliest first.

Names are joined in many ways: a query for `fromJsonSchema` is also one for `from_json_schema` and
`from-json-schema`. So a word made of several parts matches a path that has the parts next to each
other, whatever joins them.
"""

from __future__ import annotations

import os
import re
from itertools import repeat, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek.engine.ranking.path_class import PATH_CLASSES, PathClass, path_class
from triseek.engine.search.router import BACKEND_FAILED
from triseek.errors import InvalidQuery
from triseek.files.tree.walk import walk_nearest
from triseek.kernels import cache
from triseek.model import budget
from triseek.model.search import Route

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from triseek.engine.engine import Engine
    from triseek.model.search import Freshness, ScopeSpec

Array: TypeAlias = np.ndarray[Any, Any]

GLOB_SIGNS = frozenset("*?[{")
JOINED_BYTES_MIN = 5
"""Shorter words, without what joins their parts, occur by chance in too many paths."""
_STEP = 1 << 10
"""Larger than the length of any file name, which the file system limits to 255 bytes."""


class FoundFiles(NamedTuple):
    """The matching files, and how they were found."""

    paths: list[bytes]
    """All matching paths, best first."""
    route: Route
    freshness: Freshness
    complete: bool = True
    """Whether all of the tree was listed."""


class PathQuery:
    """A query for paths, parsed from one line.

    A query with `*`, `?`, `[` or `{` is a glob. Any other query is a list of words; a path must
    contain all of them, in any order and case.

    Raises on creation:
        InvalidQuery: The query is empty, or contains a NUL character.
    """

    def __init__(self, text: str, root: str = "") -> None:
        """Parse a query; its words may begin with the absolute path of `root`."""
        text = " ".join(word.removeprefix(f"{root}/") for word in text.split()) if root else text
        if not text.strip():
            raise InvalidQuery("the query is empty", next_step="Give a part of the file's path.")
        if "\0" in text:
            raise InvalidQuery("the query holds a NUL character", next_step="Leave it out.")
        self.is_glob = bool(GLOB_SIGNS & set(text))
        self.words = [] if self.is_glob else list(map(_Word.of, text.split()))
        self._pieces = [
            _Word.of(piece) for word in self.words for piece in word.typed.split("/") if piece
        ]
        """The words, and the parts of those that are paths."""
        self.below = _below(text.strip()) if self.is_glob else None
        """For a glob that matches all files below a folder: the folder's path and `/`; empty for
        the root."""
        self.globs = (text.strip(),) if self.is_glob and self.below is None else ()
        """The globs that the scope of the search must have."""

    @property
    def folder(self) -> bytes:
        """The folder in which all matching paths are; empty if that is the root."""
        if not self.is_glob:
            return b""
        glob = self.globs[0] if self.globs else os.fsdecode(self.below or b"")
        *folders, _ = glob.removeprefix("./").removeprefix("/").split("/")
        literal = takewhile(_LITERAL.fullmatch, folders)
        return os.fsencode("/".join(literal))

    @property
    def holding(self) -> list[bytes]:
        """Strings that every matching path contains, as far as the index can search for them."""
        if self.below:
            held = [self.below[:-1]]
        else:
            held = [part for word in self.words for part in word.parts or (word.plain,)]
        return [text for text in held if text.isascii()]  # the index folds the case of ASCII only

    def accepts(self, path: bytes) -> bool:
        """Return whether a path has every word, or is below the folder that a glob names.

        All other globs were already applied by the scope.
        """
        if self.below:
            return path.startswith(self.below)
        return self.is_glob or bool(self.among([path]))

    def among(self, paths: list[bytes]) -> list[bytes]:
        """Return the paths that `accepts` accepts, in order."""
        if self.is_glob:
            return paths if not self.below else list(filter(self.accepts, paths))
        for word in self.words:
            paths = [path for path, has in zip(paths, word.within(paths), strict=True) if has]
        return paths

    @property
    def classes(self) -> list[PathClass]:
        """The classes of paths that the words themselves name, such as `test_router` or `docs`."""
        return [path_class(word.plain + b"/" + word.plain) for word in self.words]

    def distances(self, paths: list[bytes]) -> Array:
        """Return int64[paths]: how far each path is from the query; 0 is nearest.

        The file's name counts more than its folders. From near to far: the name is the words; it is
        some, and folders are called the others; it has all and begins with one; has all; has some.
        Among equals the shorter name is nearer.
        """
        if self.is_glob or not paths:
            return np.zeros(len(paths), np.int64)
        names = [path[path.rfind(b"/") + 1 :] for path in paths]
        inside = np.zeros(len(names), np.int64)
        for word in self._pieces:
            inside += np.array(word.within(names))
        levels = 4 + len(self._pieces) - inside
        names = _lowered(names, b"".join(word.plain for word in self._pieces))
        has_all = inside == len(self._pieces)
        levels[has_all] = np.where(self._begin(names), 2, 3)[has_all]
        for number, others in self._named(names):
            if others <= {_singular(bare(each)) for each in folded(paths[number]).split(b"/")[:-1]}:
                levels[number] = min(len(others), 1)
        lengths = np.fromiter(map(len, names), np.int64, len(names))
        return levels * _STEP + np.where(levels < 4, lengths, 0)

    def depths(self, paths: list[bytes]) -> Array:
        """Return int64[paths]: the number of folders above each file; 0 for a glob."""
        if self.is_glob:
            return np.zeros(len(paths), np.int64)
        return np.fromiter((path.count(b"/") for path in paths), np.int64, len(paths))

    def _begin(self, names: list[bytes]) -> Array:
        """Return bool[names]: whether each begins with one of the words."""
        plain = tuple(word.plain for word in self._pieces if not word.parts)
        joined = tuple(word.joined for word in self._pieces if word.parts)
        pairs = zip(names, _all_bare(names) if joined else names, strict=True)
        begin = (name.startswith(plain) or text.startswith(joined) for name, text in pairs)
        return np.fromiter(begin, np.bool_, len(names))

    def _named(self, names: list[bytes]) -> Iterator[tuple[int, set[bytes]]]:
        """Yield the places of names that are words joined, and the words that they are without."""
        words = [bare(word.plain) for word in self._pieces]
        places = [(at, end) for at in range(len(words)) for end in range(at + 1, len(words) + 1)]
        places.sort(key=lambda place: place[1] - place[0])
        others = {
            b"".join(words[at:end]): set(map(_singular, words[:at] + words[end:]))
            for at, end in places
        }
        with_suffix = any(b"." in word.plain for word in self._pieces)
        texts = names if with_suffix else [name.partition(b".")[0] for name in names]
        for number, text in enumerate(_all_bare(texts)):
            if text in others:
                yield number, others[text]


class _Word(NamedTuple):
    """A word of a query, in lower case but for `typed`."""

    typed: str
    plain: bytes
    parts: tuple[bytes, ...]
    """Its parts, if they may be joined otherwise than in `plain`; else empty."""
    joined: bytes
    """The parts without what joins them."""

    @classmethod
    def of(cls, text: str) -> _Word:
        plain = folded(os.fsencode(text))
        parts = tuple(folded(os.fsencode(part)) for part in _PARTS.findall(text))
        joined = b"".join(parts)
        is_name = len(parts) > 1 and len(joined) >= JOINED_BYTES_MIN and _NAME.fullmatch(text)
        return cls(text, plain, parts, joined) if is_name else cls(text, plain, (), b"")

    def within(self, texts: list[bytes]) -> list[bool]:
        """Return for each text whether it has this word."""
        lowered = _lowered(texts, self.plain)
        if not self.parts:
            return [self.plain in lower for lower in lowered]
        return [self.joined in text for text in _all_bare(lowered)]


_LITERAL = re.compile(r"(?!\.{1,2}$)[^*?\[\]{}\\!]+")
"""A part of a glob that stands for one folder."""
_NAME = re.compile(r"[\w-]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+")
"""The parts of a name: `HTTPServer_two` has `HTTP`, `Server` and `two`."""
_JOINTS = b"-_. "


def bare(text: bytes) -> bytes:
    """Return a text without what joins words."""
    return text.translate(None, _JOINTS)


def _singular(word: bytes) -> bytes:
    """Return a word as it is compared with folders, whose names often are plurals."""
    return word.removesuffix(b"s")


def _all_bare(texts: list[bytes]) -> list[bytes]:
    """Return what `bare` returns for each text; none holds a NUL."""
    return b"\0".join(texts).translate(None, _JOINTS).split(b"\0")


def find_files(
    engine: Engine,
    query: PathQuery,
    scope: ScopeSpec,
    scores: Mapping[bytes, float],
    seconds: float = float("inf"),
) -> FoundFiles:
    """Return the matching files, ordered by class, distance of the name, frecency, depth and path.

    A class comes first that the query names: `test_router` is a test.

    Args:
        engine: The engine of the repository.
        query: The query.
        scope: The files to choose from; it has the query's globs.
        scores: `Engine.scores`.
        seconds: Time for listing the tree without an index. When it is over, the result is of what
            was listed by then.

    Raises:
        InvalidQuery: the glob is invalid.
        RepoNotDetected: the root is gone.
    """
    files = _by_index(engine, query, scope) or _by_walk(engine, query, scope, seconds)
    paths = query.among(files.paths)
    classes = PATH_CLASSES.of(paths)
    classes[np.isin(classes, query.classes)] = PathClass.SOURCE
    used = np.fromiter(map(scores.get, paths, repeat(0.0)), np.float64, len(paths))
    # Sorting is stable, and the paths are in path order.
    best = np.lexsort((query.depths(paths), -used, query.distances(paths), classes))
    return files._replace(paths=[paths[number] for number in best.tolist()])


def _by_index(engine: Engine, query: PathQuery, scope: ScopeSpec) -> FoundFiles | None:
    if not (engine.has_index() and cache.is_ready() and not engine.is_cold):
        return None
    try:
        paths, _, diff = engine.indexed().find_files(scope, query.holding)
    except BACKEND_FAILED:
        return None
    route = Route(backend="indexed", reason="indexed_default")
    return FoundFiles(paths, route, diff.freshness)


def _by_walk(engine: Engine, query: PathQuery, scope: ScopeSpec, seconds: float) -> FoundFiles:
    route = Route(
        backend="direct_scan", reason="kernels_cold" if engine.has_index() else "no_index"
    )
    with budget.limited(seconds):
        walked = walk_nearest(engine.root, scope, below=query.folder)
    return FoundFiles(walked.paths, route, "swept", complete=not walked.is_partial)


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
