"""Search one file of the tree from its bytes; shared by the backends."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from triseek.engine.search.backends import binary, lines
from triseek.engine.search.backends.spanning import LOOK_AHEAD
from triseek.files.access import as_regular
from triseek.files.containment import PathRefused, open_file
from triseek.files.tree import text
from triseek.model import budget
from triseek.model.search import Skipped
from triseek.query import stray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np

    from triseek.engine.search.backends.base import FileRows, Nul
    from triseek.engine.search.query import Query
    from triseek.model.search import Totals

WHOLE_BYTES = 32 << 20
"""Files up to this size are read in one piece."""
PART_BYTES = 16 << 20
"""Larger files are read in parts of about this size, if matches cannot span lines."""


_LISTED = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Searched(NamedTuple):
    """Result of searching one file."""

    found: FileRows | None
    """None if the file has nothing to show."""
    skipped: Skipped | None
    size: int
    """Bytes searched."""

    def count_in(self, totals: Totals) -> None:
        """Add this file to the totals of searched and skipped files."""
        totals.bytes_searched += self.size
        if self.skipped:
            totals.skipped.append(self.skipped)
        if self.found or not self.skipped:
            totals.files_searched += 1


class FileSearch:
    """Searches single files for one request; safe to use from any thread."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.root = os.fsencode(query.root)
        self.request = query.request
        self._listed_flags = _LISTED | (0 if query.request.scope.follow else os.O_NOFOLLOW)

    def __call__(self, path: bytes, *, explicit: bool = False) -> Searched:
        """Search one file. Problems of the file itself are returned, never raised.

        `explicit` files were named by the user. A binary one is searched to its end. If it matches,
        the lines before its first NUL are returned (see `binary`), and it is reported as skipped
        with ripgrep's message.
        Another file that is gone since it was listed is ignored: a search a moment later would not
        have listed it. Otherwise, where files come and go all the time (a build, an agent's edits),
        every search would end with an error that cannot be fixed.
        """
        budget.check()
        try:
            file = self._open_named(path) if explicit else self._open_listed(path)
            if file is None:
                return Searched(None, None, 0)
        except OSError as error:
            return _unreadable(path, error)
        except PathRefused as error:
            return Searched(None, Skipped(path, "unreadable", str(error)), 0)
        try:
            return self._search_open(path, file, explicit=explicit)
        except OSError as error:
            return _unreadable(path, error)
        except MemoryError:
            return Searched(None, Skipped(path, "unreadable", os.strerror(errno.ENOMEM)), 0)
        finally:
            os.close(file)

    def _search_open(self, path: bytes, file: int, *, explicit: bool) -> Searched:
        """Search an open file. Raises `OSError` if it cannot be read or is too large."""
        status = os.fstat(file)
        if not self.query.spans_lines:
            sized = stat.S_ISREG(status.st_mode) and status.st_size and self.request.stdin < 0
            if not sized:
                return self._search_stream(path, file, explicit=explicit)
            if status.st_size > WHOLE_BYTES:
                return self._search_parts(path, file, explicit=explicit)
        return self.search_bytes(path, _read_all(file, status.st_size), explicit=explicit)

    def _open_listed(self, path: bytes) -> int | None:
        """Open a file that a walk or an index has listed; return None if it is gone.

        It also counts as gone if a link or a FIFO has replaced it.
        """
        # Plain descriptors take half the time of file objects, for tens of thousands of files.
        try:
            file = os.open(self.root + b"/" + path, self._listed_flags)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP and self._listed_flags & os.O_NOFOLLOW:
                return None
            raise
        if stat.S_ISREG(os.fstat(file).st_mode):
            return file
        os.close(file)
        return None

    def _open_named(self, path: bytes) -> int:
        """Open a file that the user named, as far as the request allows.

        Raises:
            OSError: The file cannot be opened.
            PathRefused: The file may not be opened.
        """
        if self.request.stdin >= 0:
            return os.dup(self.request.stdin)
        if self.request.opening == "inside":
            return open_file(os.fsdecode(self.root), os.fsdecode(path))
        name, flags = self.root + b"/" + path, os.O_RDONLY | os.O_CLOEXEC
        if self.request.opening == "any":
            return os.open(name, flags)
        return as_regular(os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY))

    def search_bytes(self, path: bytes, data: bytes, *, explicit: bool = False) -> Searched:
        """Search the content of a file."""
        decoded = text.decode_all(data)
        content = decoded.data
        if not self.request.scope.text and text.is_binary(content):
            return self._search_binary(path, decoded, data, stops=self._stops(explicit))
        first_read = self._first_read(marked=decoded.encoding != "utf-8")
        file = lines.rows_of(content, self.query, first_read)
        return Searched(self._shown(path, file), None, self._end(file.rows, len(content)))

    def _end(self, rows: np.ndarray, size: int) -> int:
        """Return where a search of `size` bytes that found all `rows` of a file has ended."""
        stopped = lines.limit_reached_at(rows, self.query)
        return size if stopped is None else stopped

    def _first_read(self, *, marked: bool) -> int:
        if marked:
            return stray.NO_FIRST_READ
        return stray.MAPPED if self.request.mapped else stray.FIRST_READ

    def _stops(self, explicit: bool) -> bool:
        """Return whether the search of a file ends at its first NUL."""
        return not (explicit or self.request.scope.binary)

    def _search_binary(
        self, path: bytes, decoded: text.Text, raw: bytes, *, stops: bool
    ) -> Searched:
        """Search a text that holds a NUL."""
        if stops and text.shown_of_binary(decoded) is None:
            return Searched(None, Skipped(path, "binary"), len(decoded.data))
        # With --mmap, ripgrep still reads files that it must transcode or that begin with a mark.
        mapped = self.request.mapped and decoded.encoding == "utf-8"
        if mapped or self.query.spans_lines:
            outcome = binary.search_whole(decoded.data, self.query, stops=stops)
        else:
            stdin = self.request.stdin >= 0
            read = binary.read_text(decoded.data, decoded.encoding, raw, stdin=stdin)
            outcome = binary.search_buffered(read, self.query, stops=stops)
        return self._binary(path, outcome, len(decoded.data))

    def _binary(self, path: bytes, outcome: FileRows, size: int) -> Searched:
        """Return the rows to list for a binary file, and the message for it."""
        nul, lists_lines = outcome.nul, self.request.mode == "lines"
        shown = self._shown(path, outcome if lists_lines else outcome._replace(nul=None))
        if nul is None or not (lists_lines or nul.stopped):
            return Searched(shown, None, size)
        skipped = Skipped(path, "binary", detail(nul) if outcome.count else "")
        if not lists_lines:
            return Searched(None, skipped, size)
        return Searched(shown, skipped if nul.stopped or outcome.count else None, size)

    def _shown(self, path: bytes, file: FileRows) -> FileRows | None:
        """Return the rows, as those of the file at `path`, if the mode lists it."""
        without = self.request.mode == "files_without_match"
        if not (len(file.rows) or (file.count == 0) is without):
            return None
        return file._replace(path=path, ahead=LOOK_AHEAD if self.query.spans_lines else 0)

    def _search_stream(self, path: bytes, file: int, *, explicit: bool) -> Searched:
        """Search a file of unknown size: a pipe, a device or a file in /proc."""
        head = _read_head(file)
        if len(head) < WHOLE_BYTES:
            return self.search_bytes(path, head, explicit=explicit)
        mark = _mark(head[:4])
        if mark is None:
            return self.search_bytes(path, _join_all([head], file), explicit=explicit)
        if self.request.scope.text:
            pieces = chain([head[mark:]], _pieces(file))
            return self._search_pieces(path, pieces, marked=mark > 0)
        stdin = self.request.stdin >= 0
        read = binary.read_stream(head[mark:], file, marked=mark > 0, stdin=stdin)
        return self._search_read(path, read, explicit=explicit)

    def _search_parts(self, path: bytes, file: int, *, explicit: bool) -> Searched:
        """Search a large file part by part, holding one part and the matches in memory."""
        mark, size = _mark(os.pread(file, 4, 0)), os.fstat(file).st_size
        if mark is None:
            return self.search_bytes(path, _read_all(file, size), explicit=explicit)
        os.lseek(file, mark, os.SEEK_SET)
        try:
            return self._search_pieces(path, _pieces(file), marked=mark > 0)
        except _HoldsNul:
            pass  # search it again from its beginning, as a binary file
        # ripgrep reads what it cannot map. Files too large for memory are read here, too.
        if self.request.mapped and not mark and size <= binary.HELD_MAX_BYTES:
            os.lseek(file, 0, os.SEEK_SET)
            return self.search_bytes(path, _read_all(file, size), explicit=explicit)
        return self._search_read(path, binary.read_file(file, mark), explicit=explicit)

    def _search_pieces(self, path: bytes, pieces: Iterable[bytes], *, marked: bool) -> Searched:
        """Search a text that comes in pieces; `marked`: it follows a byte order mark.

        Raises:
            _HoldsNul: The text holds a NUL, and the request does not treat all files as text.
            OSError: The file cannot be read, a line is longer than `binary.HELD_MAX_BYTES`, or
                the matches are larger than `lines.ROWS_MAX_BYTES`.
        """
        first_read, size, ahead = self._first_read(marked=marked), 0, 0
        search, data, offset, keep = lines.LineSearch(self.query, first_read), b"", 0, 0
        if not self.request.scope.text:
            pieces = map(_without_nul, pieces)
        for part in _whole_lines(pieces):
            if search.done and not binary.reads_on(self.query):
                # ripgrep's buffer may reach this far, and a NUL in it counts.
                ahead += len(part)
                if ahead >= text.BUFFER_BYTES:
                    break
                continue
            size += len(part)
            if not search.done:
                carry, offset = data[keep:], offset + keep
                data = carry + part
                keep = lines.tail(data, search.add(data, len(carry), offset), self.request)
        joined = search.joined()
        shown = self._shown(path, joined._replace(first_read=first_read))
        return Searched(shown, None, self._end(joined.rows, size))

    def _search_read(self, path: bytes, read: binary.Read, *, explicit: bool) -> Searched:
        """Search a text that may hold a NUL while reading it."""
        size = 0

        def counted(room: int) -> bytes:
            nonlocal size
            piece = read(room)
            size += len(piece)
            return piece

        stops = self._stops(explicit)
        outcome = binary.search_buffered(counted, self.query, stops=stops)
        if outcome.nul is not None:
            return self._binary(path, outcome, outcome.nul.offset if stops else size)
        return self._binary(path, outcome, self._end(outcome.rows, size))

    def content_of(self, path: bytes) -> bytes:
        """Return a file's text, decoded and without BOM; empty if it cannot be read."""
        with suppress(OSError), _opened(self.root + b"/" + path) as file:
            return text.decode_all(_read_all(file.fileno(), os.fstat(file.fileno()).st_size)).data
        return b""

    def text_ends_at(self, path: bytes, end: int) -> bool:
        """Return whether a file's text, decoded and without BOM, is `end` bytes long."""
        absolute = self.root + b"/" + path
        with suppress(OSError):
            size = os.stat(absolute).st_size  # noqa: PTH116
            if size > 2 * end + 4:
                return False  # too large, even for UTF-16
            # By its descriptor: this is called for each file that matches.
            file = as_regular(os.open(absolute, _LISTED))
            try:
                mark = _mark(os.pread(file, 4, 0))
                if mark is not None:
                    return size - mark == end
                decoded = text.decode(_read_all(file, size), binary=True)
                return decoded is not None and len(decoded.data) == end
            finally:
                os.close(file)
        return False


def _opened(path: bytes) -> BinaryIO:
    """Open a regular file; raises `OSError` if it is none."""
    return os.fdopen(as_regular(os.open(path, _LISTED)), "rb", buffering=0)


def detail(nul: Nul) -> str:
    """Return ripgrep's message for a binary file that matches."""
    if nul.stopped:
        message = "WARNING: stopped searching binary file after match"
    else:
        message = "binary file matches"
    return f'{message} (found "\\0" byte around offset {nul.offset})'


def _unreadable(path: bytes, error: OSError) -> Searched:
    return Searched(None, Skipped(path, "unreadable", error.strerror or str(error)), 0)


def _read_all(file: int, size: int) -> bytes:
    """Read a file to its end, even if its size changed since `size` was read.

    Raises:
        OSError: the file cannot be read, or it is larger than `binary.HELD_MAX_BYTES`.
    """
    if size > binary.HELD_MAX_BYTES:
        raise _too_large_as_a_whole()
    data = os.read(file, min(size, PART_BYTES) + 1)
    return data if len(data) == size else _join_all([data], file)


def _join_all(pieces: list[bytes], file: int) -> bytes:
    """Return the given pieces of a file joined with its rest. Raises the errors of `_read_all`."""
    held = sum(map(len, pieces))
    for piece in _pieces(file):
        pieces.append(piece)
        held += len(piece)
        if held > binary.HELD_MAX_BYTES:
            raise _too_large_as_a_whole()
    return b"".join(pieces)


def _too_large_as_a_whole() -> OSError:
    return binary.too_large(
        f"larger than {binary.HELD_MAX_BYTES >> 20} MiB; UTF-16, and matches over several lines,"
        " are searched in memory"
    )


def _read_head(file: int) -> bytes:
    """Read up to `WHOLE_BYTES` of a file."""
    # Most such files are empty: allocate a large buffer only after the first byte.
    pieces = [os.read(file, 1)]
    room = WHOLE_BYTES - 1 if pieces[0] else 0
    while room and (piece := os.read(file, min(room, PART_BYTES))):
        pieces.append(piece)
        room -= len(piece)
        budget.check()
    return b"".join(pieces)


def _mark(head: bytes) -> int | None:
    """Return how many bytes of a file come before its text; None if it must be transcoded."""
    if not text.has_mark(head):
        return 0
    decoded = text.decode(head[:4], binary=True)
    return None if decoded is None or decoded.encoding.startswith("utf-16") else decoded.offset_base


class _HoldsNul(Exception):
    """Raised if a large file that is searched as text holds a NUL."""


def _without_nul(piece: bytes) -> bytes:
    if binary.NUL in piece:
        raise _HoldsNul
    return piece


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a file's bytes in parts that end at line ends."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join([*held, piece[:cut]])
            held = [piece[cut:]]
            size = len(piece) - cut
        elif size > binary.HELD_MAX_BYTES:
            raise binary.line_too_large()
        else:
            held.append(piece)
    if rest := b"".join(held):
        yield rest


def _pieces(file: int) -> Iterator[bytes]:
    while piece := os.read(file, PART_BYTES):
        yield piece
        budget.check()
