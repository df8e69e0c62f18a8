"""One file of the tree, searched from its bytes: what the roads without an index share."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triseek.engine.backends import lines
from triseek.engine.backends.base import ROW, FileRows
from triseek.files import text
from triseek.model.search import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from triseek.model.search import SearchRequest
    from triseek.query.pattern import Pattern

WHOLE_BYTES = 32 << 20
"""Files up to this size are read in one piece."""
PART_BYTES = 16 << 20
"""Larger ones in parts of about this size, where matches cannot span lines."""
BINARY_HEAD_BYTES = 1 << 16
"""How far ripgrep looks for a NUL before it shows lines of a file that was named explicitly."""


class Searched(NamedTuple):
    """What became of one file."""

    found: FileRows | None
    """None when the file has nothing to show."""
    skipped: Skipped | None
    size: int
    """Bytes read."""


class FileSearch:
    """One request, ready to be asked of one file after the other, from any thread."""

    def __init__(self, root: str, request: SearchRequest, pattern: Pattern) -> None:
        self.root = os.fsencode(root)
        self.request = request
        self.pattern = pattern
        self.in_parts = not lines.spans_lines(pattern, request)

    def __call__(self, path: bytes, *, explicit: bool = False) -> Searched:
        """Search one file; never raises for what is wrong with the file itself.

        `explicit` files were named by the user: binary ones are searched, in ripgrep's manner.
        """
        try:
            with open(os.path.join(self.root, path), "rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                if size > WHOLE_BYTES and self.in_parts and not explicit:
                    return self._search_parts(path, file)
                data = file.read()
        except OSError as error:
            return Searched(None, Skipped(path, "unreadable", error.strerror or str(error)), 0)
        return self.search_bytes(path, data, explicit=explicit)

    def search_bytes(self, path: bytes, data: bytes, *, explicit: bool = False) -> Searched:
        """Search what a file holds."""
        decoded = text.decode(data, keep_binary=self.request.scope.text or explicit)
        if decoded is None:
            return Searched(None, Skipped(path, "binary"), len(data))
        content = decoded.data
        if explicit and not self.request.scope.text:
            nul = content.find(b"\0")
            if nul >= 0 and self.request.mode == "lines":
                return self._search_explicit_binary(path, content, nul)
        rows, count = lines.rows_of(content, self.pattern, self.request)
        return Searched(self._shown(path, rows, content, count), None, len(data))

    def _shown(self, path: bytes, rows: np.ndarray, data: bytes, count: int) -> FileRows | None:
        """Return the rows if the mode lists this file."""
        listed = count == 0 if self.request.mode == "files_without_match" else count > 0
        return FileRows(path, rows, data, count) if listed or len(rows) else None

    def _search_explicit_binary(self, path: bytes, data: bytes, nul: int) -> Searched:
        """Search a binary file that was named: lines up to the first that holds a NUL.

        ripgrep looks for NULs in the first 64 KiB, then in the lines it shows, and at last in
        what follows the last of them; where it finds one it says so instead of showing more.
        """
        rows, count = lines.rows_of(data, self.pattern, self.request)
        if not count:
            return Searched(self._shown(path, rows, data, count), None, len(data))
        shown = 0 if nul < BINARY_HEAD_BYTES else _rows_without_nul(rows, data)
        rest = int(rows["end"][-1]) if shown == len(rows) else 0
        if shown == len(rows) and not (self.in_parts and b"\0" in data[rest:]):
            return Searched(FileRows(path, rows, data, count), None, len(data))
        detail = f'binary file matches (found "\\0" byte around offset {nul})'
        shown_matches = max(1, int(np.count_nonzero(~rows["context"][:shown])))
        found = FileRows(path, rows[:shown], data, shown_matches)
        return Searched(found, Skipped(path, "binary", detail), len(data))

    def _search_parts(self, path: bytes, file: BinaryIO) -> Searched:
        """Search a large file part by part, in memory for one part and what matched."""
        head = file.read(4)
        bom = text.bom_of(head)
        file.seek(0)
        if bom.transcode:
            return self.search_bytes(path, file.read())
        file.seek(bom.size)
        progress = lines.Progress()
        found: list[FileRows] = []
        size = offset = 0
        number = 1
        carry = b""
        for part in _line_parts(file):
            size += len(part)
            if b"\0" in part and not self.request.scope.text:
                return Searched(None, Skipped(path, "binary"), size)
            if progress.done:
                continue
            data = carry + part
            rows = lines.extract(data, len(carry), self.pattern, self.request, progress)
            table = lines.as_array(rows, data, self.request, number, offset)
            found.append(FileRows(path, table, data, 0))
            keep = lines.tail(data, rows, self.request)
            number += data.count(b"\n", 0, keep) if self.request.line_numbers else 0
            offset += keep
            carry = data[keep:]
            found = [_joined(path, found)]
        rows_, text_ = found[0].rows, found[0].text
        return Searched(self._shown(path, rows_, text_, progress.count), None, size)


def _rows_without_nul(rows: np.ndarray, data: bytes) -> int:
    """Return how many rows come before the first that holds a NUL."""
    spans = zip(rows["begin"].tolist(), rows["end"].tolist(), strict=True)
    for number, (begin, end) in enumerate(spans):
        if data.find(b"\0", begin, end) >= 0:
            return number
    return len(rows)
