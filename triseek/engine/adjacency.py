"""Tests beside sources and sources beside tests, told from names as each language has them.

`test_router.py`, `router_test.go`, `router.spec.ts`, `RouterTest.java` and `tests/router.rs` all
test a `router`. Of several files of that name the one whose folders are most alike is meant.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from triseek.engine.pathclass import PathClass, path_class

if TYPE_CHECKING:
    from triseek.engine.path_names import PathNames

_MARKS = re.compile(
    rb"^(?:test|spec)[_-]|[._-](?:tests?|spec|e2e|cy|unit|integration)$|(?<=[a-z0-9])(?:Tests?|TestCase|Specs?|IT)$"
)
_NAMELESS = frozenset((b"index", b"mod", b"main", b"lib", b"__init__", b"init", b"test", b"tests"))
"""Names that say nothing: the folder's counts."""
_SHORTEST = 2
"""A shorter name is everywhere."""


def subject(path: bytes) -> bytes:
    """Return what a file is about or tests, in lower case: its name without marks and extension."""
    bare = _bare(path)
    return path.rpartition(b"/")[0].rpartition(b"/")[2].lower() if bare in _NAMELESS else bare


def _is_nameless(path: bytes) -> bool:
    return _bare(path) in _NAMELESS


def _bare(path: bytes) -> bytes:
    name = path.rpartition(b"/")[2]
    bare = name.partition(b".")[0] if _is_script(name) else name.rpartition(b".")[0] or name
    before = b""
    while before != bare:
        before, bare = bare, _MARKS.sub(b"", bare)
    return bare.lower()


def tests_of(path: bytes, names: PathNames) -> list[bytes]:
    """Return the tests of a source, the likeliest first."""
    return [each for each in _alike(path, names) if _is_test(each)]


def sources_of(path: bytes, names: PathNames) -> list[bytes]:
    """Return what a test tests, the likeliest first."""
    return [each for each in _alike(path, names) if _is_source(each)]


def _alike(path: bytes, names: PathNames) -> list[bytes]:
    """The other files of the same subject and language, the nearest first."""
    about, kind = subject(path), _extension(path)
    if len(about) < _SHORTEST:
        return []
    # A file whose name says nothing has its subject from its folder, and the other one may too.
    of_name = names.named(about)
    of_folder = names.holding(b"/" + about + b"/") if _is_nameless(path) else ()
    found = {
        each
        for each in chain(of_name, of_folder)
        if _extension(each) == kind and subject(each) == about
    }
    folders = set(path.split(b"/")[:-1])
    return sorted(
        found - {path},
        key=lambda each: (-len(folders & set(each.split(b"/")[:-1])), each.count(b"/"), each),
    )


def _is_test(path: bytes) -> bool:
    return path_class(path) is PathClass.TEST


def _is_source(path: bytes) -> bool:
    return path_class(path) is PathClass.SOURCE


def _is_script(name: bytes) -> bool:
    """Whether a mark may be an extension before the last: `router.spec.ts`."""
    return name.endswith((b".js", b".jsx", b".ts", b".tsx", b".mjs", b".cjs", b".mts", b".vue"))


def _extension(path: bytes) -> bytes:
    """What two files of one language have in common; dialects of JavaScript count as one."""
    end = path.rpartition(b".")[2].lower()
    return b"js" if end in (b"jsx", b"ts", b"tsx", b"mjs", b"cjs", b"mts", b"vue") else end
