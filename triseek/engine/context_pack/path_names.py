"""Find files by their paths: those that contain a word, and the tests of a source.

`PathNames` holds all paths of a tree as one text, so a word is found without a loop over paths.

Tests are found by the naming conventions of each language: `test_router.py`, `router_test.go`,
`router.spec.ts`, `RouterTest.java` and `tests/router.rs` all test a `router`. Of several files of
that name, the one with the most folders in common comes first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from triseek.engine.ranking.path_class import PathClass, path_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MARKS = re.compile(
    rb"^(?:test|spec)[_-]|[._-](?:tests?|spec|e2e|cy|unit|integration)$|(?<=[a-z0-9])(?:Tests?|TestCase|Specs?|IT)$"
)
_NAMELESS = frozenset((b"index", b"mod", b"main", b"lib", b"__init__", b"init", b"test", b"tests"))
"""Names that carry no information; the folder's name is used instead."""
_SHORTEST = 2
"""Minimum length of a subject; shorter names are too common."""


class PathNames:
    """Searchable list of paths; the case of ASCII letters is ignored."""

    def __init__(self, paths: Sequence[bytes]) -> None:
        self.paths = paths
        self._text = b"\n".join(paths).lower()
        self._starts = [0, *accumulate(len(path) + 1 for path in paths)]
        self._neighbours: dict[bytes, list[bytes]] = {}

    @cached_property
    def _set(self) -> set[bytes]:
        return set(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __contains__(self, path: bytes) -> bool:
        return path in self._set

    def holding(self, word: bytes) -> Iterator[bytes]:
        """Yield each path that contains a lower-case word, in order."""
        at = self._text.find(word)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            yield self.paths[number]
            at = self._text.find(word, self._starts[number + 1])

    def named(self, word: bytes) -> Iterator[bytes]:
        """Yield each path whose last component contains a lower-case word, in order."""
        last = -1
        for match in re.finditer(re.escape(word) + rb"[^/\n]*$", self._text, re.MULTILINE):
            number = bisect_right(self._starts, match.start()) - 1
            if number != last:
                yield self.paths[number]
            last = number

    def ending(self, tail: bytes) -> list[bytes]:
        """Return the paths that end with the components of `tail`.

        If any match in exact case, return only those.
        """
        lower = b"/" + tail.lower()
        matches = [
            path for path in self.holding(tail.lower()) if (b"/" + path.lower()).endswith(lower)
        ]
        exact = [path for path in matches if (b"/" + path).endswith(b"/" + tail)]
        return exact or matches

    def neighbours(self, path: bytes) -> list[bytes]:
        """Return the tests of a source, or the sources of a test, likeliest first."""
        if path not in self._neighbours:
            is_test = path_class(path) is PathClass.TEST
            kind = PathClass.SOURCE if is_test else PathClass.TEST
            alike = [other for other in _alike(path, self) if path_class(other) is kind]
            self._neighbours[path] = alike
        return self._neighbours[path]


def subject(path: bytes) -> bytes:
    """Return the subject of a source or test: its name in lower case without marks and extension.

    For a name that carries no information it is the name of the folder.
    """
    bare = _bare(path)
    return path.rpartition(b"/")[0].rpartition(b"/")[2].lower() if bare in _NAMELESS else bare


def _bare(path: bytes) -> bytes:
    name = path.rpartition(b"/")[2]
    # In JavaScript a mark may precede the last extension, as in `router.spec.ts`.
    is_script = _extension(name) == b"js"
    bare = name.partition(b".")[0] if is_script else name.rpartition(b".")[0] or name
    before = b""
    while before != bare:
        before, bare = bare, _MARKS.sub(b"", bare)
    return bare.lower()


def _alike(path: bytes, names: PathNames) -> list[bytes]:
    """Return the other files with the same subject and language, nearest first."""
    about, extension = subject(path), _extension(path)
    if len(about) < _SHORTEST:
        return []
    # A file with an uninformative name takes its subject from its folder; the other file may, too.
    of_name = names.named(about)
    of_folder = names.holding(b"/" + about + b"/") if _bare(path) in _NAMELESS else ()
    matches = {
        other
        for other in chain(of_name, of_folder)
        if _extension(other) == extension and subject(other) == about
    }
    folders = set(path.split(b"/")[:-1])
    return sorted(
        matches - {path},
        key=lambda other: (-len(folders & set(other.split(b"/")[:-1])), other.count(b"/"), other),
    )


def _is_script(name: bytes) -> bool:
    """Return whether a mark may precede the last extension, as in `router.spec.ts`."""
    return name.endswith((b".js", b".jsx", b".ts", b".tsx", b".mjs", b".cjs", b".mts", b".vue"))


def _extension(path: bytes) -> bytes:
    """Return the extension, which identifies the language; dialects of JavaScript count as one."""
    end = path.rpartition(b".")[2].lower()
    return b"js" if end in (b"jsx", b"ts", b"tsx", b"mjs", b"cjs", b"mts", b"vue") else end
