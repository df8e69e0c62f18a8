"""The best files of an answer: as many as it may have, whatever the number of matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.model.code_search import RepositoryCount
from triseek.query.zoekt.languages import language_of

if TYPE_CHECKING:
    from triseek.model.code_search import CodeFile, CodeLine, CodeRequest

SHARE = 4
"""Lines of one file that come before the remaining lines of any file; its first before those."""


class _Kept(NamedTuple):
    file: CodeFile
    head: bytes
    """The start of its text, from which its language is told."""


class Best:
    """Collects matching files; memory is bounded by twice the files that are wanted."""

    def __init__(self, request: CodeRequest) -> None:
        self._request = request
        self._files: list[_Kept] = []
        self.counts: dict[str, RepositoryCount] = {}
        """Counted files and lines, by repository."""

    def add(self, file: CodeFile, head: bytes) -> None:
        """Count a file, and keep it if it is among the best so far.

        head: The start of its text. Its language is set later, if it is among the best.
        """
        files, lines = self.counts.get(file.repository, RepositoryCount(0, 0))
        self.counts[file.repository] = RepositoryCount(files + 1, lines + file.match_count)
        file.lines = _best_lines(file.lines, self._request.max_matches)
        self._files.append(_Kept(file, head))
        if len(self._files) > 2 * self._request.max_files:
            self._cut()

    def files(self) -> list[CodeFile]:
        """Return the best files in order, together with at most `max_matches` lines.

        Each has its best lines, in ascending order. A file none of whose lines fits is left out.
        """
        self._cut()
        left = self._request.max_matches
        room = [0] * len(self._files)
        for most in (1, SHARE, left):
            for place, (file, _) in enumerate(self._files):
                more = min(left, min(most, _size(file)) - room[place])
                room[place] += more
                left -= more
        chosen: list[CodeFile] = []
        for (file, head), size in zip(self._files, room, strict=True):
            if size:
                file.lines = _best_lines(file.lines, size)
                file.language = file.language or language_of(file.path, head)
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
