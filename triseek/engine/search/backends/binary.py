"""Search files that hold a NUL byte, and show the lines that ripgrep would show.

For a file found in a folder, the search stops at the first NUL met; earlier matches are shown,
with a warning. A file that was named (or any file, with --binary) is searched to its end, but no
line is shown after a NUL was met. When a NUL is met depends on how ripgrep reads, so this module
follows grep-searcher 0.1.16:

- Line by line (`LineBuffer`): a file is read into a buffer of 64 KiB. The first read is three
  bytes, to look for a byte order mark. Each read is checked for NULs at once, so a NUL is met
  before the lines around it are searched. If the search goes on, NULs become line ends.
- In one piece (`Core::detect_binary`): if a file is mapped, or the pattern may span lines, NULs are
  met in the first 64 KiB, and later ones in the lines that are shown.

A count or list does not include a file in which the search was stopped.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from triseek.engine.search.backends import lines, spanning
from triseek.engine.search.backends.base import FileRows, Nul
from triseek.files.tree.text import BUFFER_BYTES, FIRST_READ, STDIN_READ, TRANSCODED_READ
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from triseek.engine.search.query import Query
    from triseek.files.tree.text import Encoding
    from triseek.model.search import SearchRequest

NUL = b"\0"
HELD_MAX_BYTES = 1 << 30
"""Maximum size of one line, and of a file that must be in memory as a whole."""
_NUL_AS_LINE_END = bytes([10, *range(1, 256)])
"""Table for `bytes.translate`, whose time does not depend on the data, unlike `replace`."""

Read: TypeAlias = "Callable[[int], bytes]"
"""Returns at most that many of the next bytes of a file's text; none at its end."""


def search_buffered(read: Read, query: Query, *, stops: bool) -> FileRows:
    """Search as ripgrep does when it reads a file line by line; `stops`: at the first NUL.

    Raises:
        OSError: `read` failed, a line is longer than `HELD_MAX_BYTES`, or the matches are larger
            than `lines.ROWS_MAX_BYTES`.
        OutOfTime: as `model.budget.check`.
    """
    request = query.request
    if request.mode == "files_without_match":
        counting = replace(query, request=replace(request, mode="count"))
        outcome = search_buffered(read, counting, stops=stops)
        return outcome._replace(count=min(outcome.count, 1))
    buffer = _LineBuffer(read, stops=stops)
    if reads_on(query):
        return _read_on(buffer, query)
    search = lines.LineSearch(query)
    searched, keep, shown = 0, 0, 0
    while not search.done and buffer.fill(keep):
        data, start = buffer.lines, buffer.start
        if start + len(data) <= searched:
            break  # only lines kept for context are left
        rows = search.add(data, searched - start, start)
        if rows.begins:
            if buffer.nul < 0:
                shown += len(rows.begins)
            elif request.mode == "lines" and request.past_nul != "all":
                break  # no further row is shown
        searched = start + len(data)
        keep = start + _kept(data, rows, request)
    joined = search.joined()
    if buffer.nul < 0:
        return joined
    if request.mode != "lines":
        count = 0 if stops else search.count
        return _without_rows(count, Nul(buffer.nul, stops, 0, 0))
    nul = Nul(buffer.nul, stops, shown, buffer.start + (0 if stops else len(buffer.lines)))
    return _shown(joined.rows, joined.text, nul, request)


def _read_on(buffer: _LineBuffer, query: Query) -> FileRows:
    """Search for -l if ripgrep reads on after a match: it ends only the search of its buffer."""
    matching = 0
    """Buffers with a match; each counts as one line for -m."""
    while matching != query.request.max_count and buffer.fill(buffer.start + len(buffer.lines)):
        search = lines.LineSearch(query)
        search.extract(buffer.lines)
        matching += search.count
    count = min(matching, 1)
    if buffer.nul < 0:
        return _without_rows(count)
    stops = buffer.stops
    return _without_rows(0 if stops else count, Nul(buffer.nul, stops, 0, 0))


def reads_on(query: Query) -> bool:
    """Return whether ripgrep reads on after it has determined whether a file has a match.

    It stops for -l. It does not stop for --files-without-match, or for -v with most patterns.
    """
    request = query.request
    if request.mode == "files":
        return request.invert and request.max_count != 1 and not query.pattern.sees_text_ends
    return request.mode == "files_without_match"


def search_whole(data: bytes, query: Query, *, stops: bool) -> FileRows:
    """Search as ripgrep does when it has the whole text in memory."""
    early = data.find(NUL, 0, BUFFER_BYTES)
    if early >= 0 and stops:
        return _without_rows(0, Nul(early, stops, 0, early))
    if query.request.mode != "lines":
        met = _met_in_matches(data, query) if stops else -1
        if met >= 0:
            return _without_rows(0, Nul(met, stops, 0, met))
        return _without_rows(lines.rows_of(data, query).count)
    file = lines.rows_of(data, query)
    place, offset = (0, early) if early >= 0 else _met_in(file.rows, data)
    if offset < 0:
        return file
    return _shown(file.rows, data, Nul(offset, stops, place, offset), query.request)


def _shown(rows: np.ndarray, text: bytes, nul: Nul, request: SearchRequest) -> FileRows:
    """Return the part of the rows to report for a file in which a NUL was met."""
    shown, stops = nul.shown, nul.stopped
    gap = shown < len(rows) and _is_apart(rows, shown, request)
    # No gap before a match that stops the search; context rows before a match get one.
    gap = gap and not (stops and not rows["context"][shown])
    matches = ~rows["context"]
    # The first match that is not shown counts, because ripgrep then reports that the file matches.
    counted = shown if stops else shown + int(matches[shown : shown + 1].sum())
    if request.past_nul == "all" and not stops:
        counted = len(rows)
    kept = shown if request.past_nul == "none" else counted
    count = int(matches[:counted].sum())
    return FileRows(b"", rows[:kept], text, count, nul._replace(gap=gap))


def _without_rows(count: int, nul: Nul | None = None) -> FileRows:
    return FileRows(b"", lines.NO_ROWS, b"", count, nul)


def _is_apart(rows: np.ndarray, place: int, request: SearchRequest) -> bool:
    """Return whether, in a search with context, a row is not adjacent to the row before it."""
    if place == 0 or not (request.before or request.after):
        return False
    last = rows[place - 1]
    return bool(rows["offset"][place] != last["offset"] + last["end"] - last["begin"])


def _met_in(rows: np.ndarray, data: bytes) -> tuple[int, int]:
    """Return the first row that holds a NUL, and the NUL's offset; -1 if no row does."""
    edges = zip(rows["begin"].tolist(), rows["end"].tolist(), strict=True)
    for place, (begin, end) in enumerate(edges):
        at = data.find(NUL, begin, end)
        if at >= 0:
            return place, at
    return len(rows), -1


def _met_in_matches(data: bytes, query: Query) -> int:
    """Return the offset of the first NUL in the matches that a count examines; -1 if none."""
    only_first = query.request.mode == "files"
    # If matches may span lines, any number of matches with adjacent lines form one row.
    most = 1 if only_first and not query.spans_lines else query.request.max_count
    as_lines = replace(
        query.request, mode="lines", before=0, after=0, passthru=False, max_count=most,
        line_numbers=False,
    )  # fmt: skip
    rows = lines.rows_of(data, replace(query, request=as_lines)).rows
    return _met_in(rows[:1] if only_first else rows, data)[1]


def _kept(data: bytes, rows: lines.RowColumns, request: SearchRequest) -> int:
    """Return from which offset ripgrep keeps its buffer for the next part (`Core::roll`)."""
    if request.mode != "lines" or not (request.before or request.after):
        return len(data)
    visited = rows.ends[-1] if rows.ends else 0
    return spanning.start_of_lines_before(data, len(data), request.before + 1, visited)


class _LineBuffer:
    """Buffer of whole lines of a file, as many as ripgrep holds at a time."""

    def __init__(self, read: Read, *, stops: bool) -> None:
        self.start = 0
        """Offset of `lines` in the file's text."""
        self.nul = -1
        """Offset of the first NUL that was read; -1 if there was none."""
        self._read = read
        self.stops = stops
        self._room = BUFFER_BYTES
        self._data = b""
        self._whole = 0

    @property
    def lines(self) -> bytes:
        """The part to search: up to the last line end, or all of it at the end of the file."""
        return self._data[: self._whole]

    def fill(self, keep: int) -> bool:
        """Read on and keep the text from offset `keep`. Return False if the search ends.

        Raises:
            OSError: The file cannot be read, or a line is longer than `HELD_MAX_BYTES`.
            OutOfTime: as `model.budget.check`.
        """
        self._data = self._data[keep - self.start :]
        self.start = keep
        while True:
            budget.check()
            if len(self._data) == self._room:
                if self._room >= HELD_MAX_BYTES:
                    raise line_too_large()
                self._room *= 3
            piece = self._read(self._room - len(self._data))
            if not piece:
                self._whole = len(self._data)
                return self._whole > 0
            if (at := piece.find(NUL)) >= 0:
                if self.nul < 0:
                    self.nul = self.start + len(self._data) + at
                if self.stops:
                    return False
                piece = piece.translate(_NUL_AS_LINE_END)
            held = len(self._data)
            self._data += piece
            if (line_end := piece.rfind(b"\n")) >= 0:
                self._whole = held + line_end + 1
                return True


def read_text(content: bytes, encoding: Encoding, raw: bytes, *, stdin: bool) -> Read:
    """Return a reader for a decoded text (`raw` in its file), in pieces as ripgrep reads it."""
    if encoding.startswith("utf-16"):
        return _cut_to_size(_transcoded(raw, encoding, stdin=stdin))
    return _sized(io.BytesIO(content).read, marked=encoding != "utf-8", stdin=stdin)


def read_file(file: int, begin: int) -> Read:
    """Return a reader for an open file in such pieces; its text begins at byte `begin`."""
    os.lseek(file, begin, os.SEEK_SET)
    return _sized(partial(os.read, file), marked=begin > 0, stdin=False)


def read_stream(head: bytes, file: int, *, marked: bool, stdin: bool) -> Read:
    """Return a reader for `head` and the rest of a file that cannot be reread, in full pieces."""
    held = io.BytesIO(head)

    def read(room: int) -> bytes:
        pieces = [held.read(room)]
        room -= len(pieces[0])
        while room and (piece := os.read(file, room)):
            held.truncate(0)  # all of it has been returned
            pieces.append(piece)
            room -= len(piece)
            budget.check()
        return b"".join(pieces)

    return _sized(read, marked=marked, stdin=stdin)


def _sized(read: Read, *, marked: bool, stdin: bool) -> Read:
    """Return a reader whose first reads are of ripgrep's sizes; later ones fill its buffer."""
    first = iter([] if marked else [FIRST_READ])
    if stdin:
        first = chain(first, [STDIN_READ - FIRST_READ])
    return lambda room: read(min(room, next(first, room)))


def too_large(message: str) -> OSError:
    """Return the error for data larger than the memory allowed for it."""
    return OSError(errno.EFBIG, message)


def line_too_large() -> OSError:
    """Return the error for a line larger than `HELD_MAX_BYTES`."""
    return too_large(f"a line is longer than {HELD_MAX_BYTES >> 20} MiB")


def _transcoded(raw: bytes, encoding: Encoding, *, stdin: bool) -> Iterator[bytes]:
    """Yield a UTF-16 text in the pieces that ripgrep transcodes at a time."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    body = raw[2:]
    skipped = 2 if body[:2] == raw[:2] else 0
    # The third byte was already read to look for a mark.
    at, size = 0, 1 + (STDIN_READ - FIRST_READ if stdin else TRANSCODED_READ)
    while at < len(body):
        yield decoder.decode(body[max(at, skipped) : at + size], at + size >= len(body)).encode()
        at, size = at + size, TRANSCODED_READ


def _cut_to_size(pieces: Iterator[bytes]) -> Read:
    left = b""

    def read(room: int) -> bytes:
        nonlocal left
        while not left:
            piece = next(pieces, None)
            if piece is None:
                return b""
            left = piece
        part, left = left[:room], left[room:]
        return part

    return read
