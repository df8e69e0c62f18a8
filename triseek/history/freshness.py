"""Whether what an observation says still holds in the working tree.

An observation that comes from an edit keeps a mark of the text that the edit left in the file: its
length, its SHA-256 and its longest line. The text is still there if the line is found and the
characters around it have that digest; nothing of the file has to be stored. A file without such a
mark counts as unchanged while it has not been modified since the observation.

Paths come from outside: they are opened by `files.containment`, and only regular files of bounded
size are read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from triseek.errors import TriseekError
from triseek.files import containment
from triseek.model.freshness import Freshness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FILE_MAX = 4 << 20
"""Bytes of a file that is compared; larger ones are compared by their time only."""
FILES_MAX = 12
"""Files of one observation that are compared."""
NEIGHBOURS_MAX = 40
"""Files beside a file in which a moved text is looked for."""
ANCHOR_MAX = 120
SYMBOLS_MAX = 5
_OCCURRENCES_MAX = 50


class FileMark(TypedDict, total=False):
    """What is stored of one file; `path` is relative to the session's root, or absolute."""

    path: str
    role: str
    sha: str
    """SHA-256 of the text that an edit left there, in hex; the rest is only there if this is."""
    size: int
    """Its length in characters."""
    anchor: str
    """Its longest line, or the beginning of that."""
    at: int
    """Where in the text the anchor begins, in characters."""
    symbols: list[str]
    """Names that the text defines."""


class EvidenceFields(TypedDict, total=False):
    """The JSON object in the column `evidence` of observations."""

    events: list[str]
    """The agent's ids of the tool events, sorted."""
    files: list[FileMark]
    commit: str
    resolved: bool
    """Whether the problem that it is about was solved in the session."""


def mark_of(path: str, role: str, text: str, symbols: Sequence[str] = ()) -> FileMark:
    """Return the mark of a text that was left in a file; "" for text that is not known."""
    text = text.replace("\r\n", "\n").strip("\n")
    anchor = max(text.split("\n"), key=len).strip()[:ANCHOR_MAX]
    if not anchor:
        return {"path": path, "role": role}
    return {
        "path": path, "role": role, "sha": _sha(text), "size": len(text), "anchor": anchor,
        "at": text.index(anchor), "symbols": list(symbols[:SYMBOLS_MAX]),
    }  # fmt: skip


def freshness_of(
    root: str,
    evidence: str,
    time_ms: int,
    *,
    locate: Callable[[str], Sequence[str]] | None = None,
) -> Freshness | None:
    """Return whether an observation still holds; None if its evidence names no file of the root.

    Args:
        root: The session's root, absolute; "" if unknown.
        evidence: The column of that name: JSON, untrusted.
        time_ms: When it was observed, Unix milliseconds.
        locate: Returns the paths of files with a name, relative to the root, in which moved text
            is looked for; by default the files beside the old one are.
    """
    if not root:
        return None
    tree = _Tree(root, time_ms, locate)
    states = [state for mark in _marks(evidence) if (state := tree.state(mark)) is not None]
    if not states:
        return None
    if all(state is Freshness.GONE for state in states):
        return Freshness.GONE
    if any(state in (Freshness.GONE, Freshness.STALE) for state in states):
        return Freshness.STALE
    return Freshness.MOVED if Freshness.MOVED in states else Freshness.FRESH


@dataclass(frozen=True, slots=True)
class _File:
    text: str | None
    """None if it is too large to compare."""
    modified_ms: int


class _Tree:
    """The working tree as it is now, compared with one observation."""

    def __init__(
        self, root: str, time_ms: int, locate: Callable[[str], Sequence[str]] | None
    ) -> None:
        self._root, self._time_ms, self._locate = root, time_ms, locate

    def state(self, mark: FileMark) -> Freshness | None:
        """Return the state of one file; None if it lies outside of the root."""
        try:
            file = self._read(mark["path"])
        except containment.PathOutside:
            return None
        except (TriseekError, OSError):
            file = None
        if "sha" not in mark:
            return self._by_time(file)
        if file is not None and file.text is None:
            return self._by_time(file)
        if file is not None and _contains(file.text or "", mark):
            return Freshness.FRESH
        names = mark.get("symbols", [])
        if file is not None and (not names or _mentions(file.text or "", names)):
            return Freshness.STALE
        return Freshness.MOVED if self._is_elsewhere(mark) else Freshness.GONE

    def _by_time(self, file: _File | None) -> Freshness:
        if file is None:
            return Freshness.GONE
        return Freshness.FRESH if file.modified_ms <= self._time_ms else Freshness.STALE

    def _is_elsewhere(self, mark: FileMark) -> bool:
        names = mark.get("symbols", [])
        for path in self._others(mark["path"]):
            try:
                text = self._read(path).text or ""
            except (TriseekError, OSError):
                continue
            if _contains(text, mark) or (names and _defines(text, names)):
                return True
        return False

    def _others(self, path: str) -> Iterator[str]:
        """Yield the paths of files that the text may have moved to."""
        folder, _, name = path.rpartition("/")
        if self._locate is not None:
            yield from (found for found in self._locate(name)[:NEIGHBOURS_MAX] if found != path)
        ending = os.path.splitext(name)[1]  # noqa: PTH122
        try:
            inside = containment.locate(self._root, folder or ".")
            if inside.kind != "folder":
                return
            names = sorted(os.listdir(os.path.join(self._root, inside.real)))  # noqa: PTH118, PTH208
        except (TriseekError, OSError):
            return
        beside = [other for other in names if other.endswith(ending) and other != name]
        for other in beside[:NEIGHBOURS_MAX]:
            yield f"{folder}/{other}" if folder else other

    def _read(self, path: str) -> _File:
        """Read a file of the root.

        Raises:
            TriseekError, OSError: It is not a readable regular file of the root.
        """
        with os.fdopen(containment.open_file(self._root, path), "rb") as file:
            status = os.fstat(file.fileno())
            data = file.read(FILE_MAX + 1) if status.st_size <= FILE_MAX else None
        text = None
        if data is not None and len(data) <= FILE_MAX:
            text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        return _File(text, status.st_mtime_ns // 1_000_000)


def _contains(text: str, mark: FileMark) -> bool:
    """Whether a file's text contains what the mark was made of."""
    anchor, at, size = mark["anchor"], mark["at"], mark["size"]
    found = text.find(anchor)
    for _ in range(_OCCURRENCES_MAX):
        if found < 0:
            return False
        begin = found - at
        if begin >= 0 and _sha(text[begin : begin + size]) == mark["sha"]:
            return True
        found = text.find(anchor, found + 1)
    return False


def _mentions(text: str, names: Sequence[str]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)


def _defines(text: str, names: Sequence[str]) -> bool:
    """Whether a line of the text looks like the definition of one of the names."""
    defining = r"^[^\n#/\"']{0,80}\b(?:def|class|func|function|fn|struct|enum|trait|interface|type|const|let|var|impl|module)\b[^\n]{0,80}?\b"  # noqa: E501
    return any(re.search(rf"{defining}{re.escape(name)}\b", text, re.MULTILINE) for name in names)


def _marks(evidence: str) -> list[FileMark]:
    """Return the marks of an `evidence` column that are what they should be."""
    try:
        value = json.loads(evidence)
    except (ValueError, RecursionError):
        return []
    files = value.get("files") if isinstance(value, dict) else None
    if not isinstance(files, list):
        return []
    marks = (_checked(entry) for entry in files[:FILES_MAX])
    return [mark for mark in marks if mark is not None]


def _checked(entry: object) -> FileMark | None:
    """Return one stored mark; None if a field has another type than it should."""
    if not isinstance(entry, dict):
        return None
    path, symbols = entry.get("path"), entry.get("symbols", [])
    if not isinstance(path, str) or not path:
        return None
    sha, size, anchor, at = (entry.get(name) for name in ("sha", "size", "anchor", "at"))
    if not isinstance(sha, str) or not isinstance(anchor, str) or not anchor:
        return {"path": path}
    if type(size) is not int or type(at) is not int or size < 0 or at < 0:
        return {"path": path}
    names = symbols if isinstance(symbols, list) else []
    texts = [name for name in names[:SYMBOLS_MAX] if isinstance(name, str) and name]
    return {"path": path, "sha": sha, "size": size, "anchor": anchor, "at": at, "symbols": texts}


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
