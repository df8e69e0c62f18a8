"""Paths that drawers and facts name, and what has become of their files since.

A path is hostile: a drawer may name /etc/passwd, ../x or a device. It is looked up by
`files.containment`, which opens nothing outside of the palace's root, and the state of a file is
read without following links. A file is opened only if the memory names its digest, and only inside
of the root.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import TriseekError
from triseek.files import containment
from triseek.files.tree.walk import walk
from triseek.model.freshness import Freshness
from triseek.model.search import ScopeSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMED_MAX = 20
"""Paths of one text that are looked up."""
TEXT_MAX = 20_000
"""Characters of a text in which paths are looked for."""
FILE_MAX = 4 << 20
"""Bytes of a file whose digest is computed; a larger one is compared by its time."""
_PART = r"[\w.+~@-]{1,255}"
_NAMED = re.compile(rf"(?<![\w/:.+~@-])(?:\.{{0,2}}/)?{_PART}(?:/{_PART})+")
_SOURCE = re.compile(rf"(?:\.{{0,2}}/)?{_PART}(?:/{_PART})*")
_BEHIND = re.compile(r"(?:@(?P<digest>[0-9a-f]{7,64}))?(?::\d{1,9}(?:[-:]\d{1,9})?)?$")
"""What may stand behind the path of a source: a digest, lines."""
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")


class Named(NamedTuple):
    """A path that is named somewhere."""

    path: str
    digest: str
    """The beginning of the SHA-256 or of git's id of what the file held, in hex; "" for none."""
    is_source: bool
    """Whether it is said to be where something is known from, and not only mentioned."""


class State(NamedTuple):
    """What has become of a named file."""

    freshness: Freshness
    elsewhere: tuple[str, ...] = ()
    """Where files of its name are now, if it is `MOVED`."""


def of_text(text: str) -> Iterator[Named]:
    """Yield the paths that a text mentions: two or more names with slashes between them."""
    for number, match in enumerate(_NAMED.finditer(text[:TEXT_MAX])):
        if number == NAMED_MAX:
            return
        yield Named(match[0].rstrip("."), "", is_source=False)


def of_source(source: str | None) -> Iterator[Named]:
    """Yield the path of a source or provenance: `path`, `path:line` or `path@digest`."""
    text = (source or "").strip()
    behind = _BEHIND.search(text)
    path = text[: behind.start()] if behind else text
    if _SOURCE.fullmatch(path) and ("/" in path or _ENDING.search(path)):
        yield Named(path, behind["digest"] or "" if behind else "", is_source=True)


class Tree:
    """The files of a palace's root, as they are now."""

    def __init__(self, root: str) -> None:
        """Read nothing yet. root: A folder, absolute, links resolved."""
        self._root = root
        self._names: dict[str, list[str]] | None = None

    def state(self, named: Named, written_ms: int) -> State | None:
        """Return what has become of a file; None if the path tells nothing of this root.

        written_ms: When the path was named, Unix milliseconds.
        """
        try:
            inside = containment.locate(self._root, named.path)
        except (TriseekError, OSError):
            return None  # outside, or nothing that can be read
        if inside.kind == "folder":
            return State(Freshness.FRESH)
        if inside.kind == "missing":
            return self._missing(named, inside.named)
        if named.digest and (data := self._data(inside.real)) is not None:
            return State(Freshness.FRESH if _has(data, named.digest) else Freshness.STALE)
        return self._by_time(inside.real, written_ms)

    def _by_time(self, path: str, written_ms: int) -> State | None:
        try:
            status = os.lstat(os.path.join(self._root, path))  # noqa: PTH118
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None  # replaced since it was located
        is_newer = status.st_mtime_ns // 1_000_000 > written_ms
        return State(Freshness.STALE if is_newer else Freshness.FRESH)

    def _missing(self, named: Named, path: str) -> State | None:
        folder, _, name = path.rpartition("/")
        elsewhere = self._files(name) if _ENDING.search(name) else []
        if elsewhere:
            return State(Freshness.MOVED, tuple(elsewhere))
        # "and/or", "client/server": only what looks like a file, or begins with a folder, is one.
        is_path = _ENDING.search(name) or self._is_folder(folder.partition("/")[0])
        return State(Freshness.GONE) if named.is_source or is_path else None

    def _is_folder(self, path: str) -> bool:
        try:
            return bool(path) and containment.locate(self._root, path).kind == "folder"
        except (TriseekError, OSError):
            return False

    def _files(self, name: str) -> list[str]:
        """Return the paths of the root's files with a name, those that git ignores left out."""
        if self._names is None:
            names = defaultdict(list)
            try:
                for path in walk(self._root, ScopeSpec()).paths:
                    text = os.fsdecode(path)
                    names[text.rpartition("/")[2]].append(text)
            except (TriseekError, OSError):
                names.clear()
            self._names = dict(names)
        return self._names.get(name, [])[:5]

    def _data(self, path: str) -> bytes | None:
        try:
            with os.fdopen(containment.open_file(self._root, path), "rb") as file:
                data = file.read(FILE_MAX + 1)
        except (TriseekError, OSError):
            return None
        return data if len(data) <= FILE_MAX else None


def _has(data: bytes, digest: str) -> bool:
    """Return whether a digest begins as the SHA-256 or as git's blob id of the data."""
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
    return hashlib.sha256(data).hexdigest().startswith(digest) or blob.hexdigest().startswith(
        digest
    )
