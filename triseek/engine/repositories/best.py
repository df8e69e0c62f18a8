"""The best files of an answer: as many as it may have, whatever the number of matches."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import xxhash
from cachetools import LRUCache

from triseek.model.code_search import RepositoryCount
from triseek.query.zoekt.languages import language_of

if TYPE_CHECKING:
    from triseek.engine.repositories.lines import Lines
    from triseek.model.code_search import CodeFile, CodeLine, CodeRequest

SHARE = 4
"""Lines of one file that come before the remaining lines of any file; its first before those."""
FILES_MAX = 256
"""Files that are wanted at most for lines to be made later; until then their texts are kept."""
TEXT_BYTES_MAX = 1 << 18
"""The lines of a file with a larger text are made at once."""


class _Kept(NamedTuple):
    file: CodeFile
    head: bytes
    """The start of its text, from which its language is told."""
    lines: Lines | None
    """Its lines, if they have not been made."""


class Best:
    """Collects matching files; memory is bounded by twice the files that are wanted."""

    def __init__(self, request: CodeRequest) -> None:
        self._request = request
        self._files: list[_Kept] = []
        self._keeps_many = request.max_files > FILES_MAX
        self.counts: dict[str, RepositoryCount] = {}
        """Counted files and lines, by repository."""

    def add(self, file: CodeFile, head: bytes, lines: Lines | None) -> None:
        """Count a file, and keep it if it is among the best so far.

        Its lines are made and its language is set later, if it is among the best.

        Args:
            file: The file, without lines.
            head: The start of its text.
            lines: Its matching lines; None if only its name matches.
        """
        files, matches = self.counts.get(file.repository, RepositoryCount(0, 0))
        self.counts[file.repository] = RepositoryCount(files + 1, matches + file.match_count)
        if lines is not None and (self._keeps_many or lines.bytes > TEXT_BYTES_MAX):
            self._make(file, lines)
            lines = None
        self._files.append(_Kept(file, head, lines))
        if len(self._files) > 2 * self._request.max_files:
            self._cut()

    def _make(self, file: CodeFile, lines: Lines) -> None:
        file.lines = _best_lines(tuple(lines.made()), self._request.max_matches)

    def files(self) -> list[CodeFile]:
        """Return the best files in order, together with at most `max_matches` lines.

        Each has its best lines, in ascending order. A file none of whose lines fits is left out.
        """
        self._cut()
        del self._files[self._request.max_matches :]  # each takes a line at least
        for file, _, lines in self._files:
            if lines is not None:
                self._make(file, lines)
        left = self._request.max_matches
        room = [0] * len(self._files)
        for most in (1, SHARE, left):
            for place, kept in enumerate(self._files):
                more = min(left, min(most, _size(kept.file)) - room[place])
                room[place] += more
                left -= more
        chosen: list[CodeFile] = []
        for (file, head, _), size in zip(self._files, room, strict=True):
            if size:
                file.lines = _best_lines(file.lines, size)
                file.language = file.language or _language(file.path, head)
                chosen.append(file)
        return chosen

    def _cut(self) -> None:
        self._files.sort(key=_rank)
        del self._files[self._request.max_files :]


def _rank(kept: _Kept) -> tuple[float, str, bytes]:
    file = kept.file
    return -file.score, file.repository, file.path


def _size(file: CodeFile) -> int:
    """Return how many lines of the answer a file takes; one for its name."""
    return max(len(file.lines), 1)


def _best_lines(lines: tuple[CodeLine, ...], most: int) -> tuple[CodeLine, ...]:
    if len(lines) <= most:
        return lines
    best = sorted(lines, key=lambda line: (-line.score, line.number))[:most]
    return tuple(sorted(best, key=lambda line: line.number))


def _language(path: bytes, head: bytes) -> str:
    """Return `language_of`, which takes as long as all else for a file, once for each content."""
    key = (path[path.rfind(b"/") + 1 :], xxhash.xxh3_128_digest(head))
    with _lock:
        language = _languages.get(key)
    if language is None:
        language = language_of(path, head)
        with _lock:
            _languages[key] = language
    return language


_languages: LRUCache[tuple[bytes, bytes], str] = LRUCache(1 << 14)
_lock = threading.Lock()
