"""One file of the tree, searched from its bytes: what the roads without an index share."""

from __future__ import annotations

import errno
import os
import stat
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.backends import binary, lines
from triseek.engine.backends.base import FileRows
from triseek.engine.backends.spanning import LOOK_AHEAD
from triseek.errors import InvalidRequest
from triseek.files import text
from triseek.files.containment import PathRefused, as_regular, open_file
from triseek.model import budget
from triseek.model.search import Skipped
from triseek.query import stray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np

    from triseek.engine.backends.base import Batch, Nul
    from triseek.model.search import SearchRequest, Totals
    from triseek.query.pattern import Pattern

WHOLE_BYTES = 32 << 20
"""Files up to this size are read in one piece."""
PART_BYTES = 16 << 20
"""Larger ones in parts of about this size, where matches cannot span lines."""


_LISTED = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Searched(NamedTuple):
    """What became of one file."""

    found: FileRows | None
    """None when the file has nothing to show."""
    skipped: Skipped | None
    size: int
    """Bytes searched."""

    def count_in(self, totals: Totals) -> None:
        """Add this file to what has been searched or skipped."""
        totals.bytes_searched += self.size
        if self.skipped:
            totals.skipped.append(self.skipped)
        if self.found or not self.skipped:
            totals.files_searched += 1


class Named(NamedTuple):
    """What a request's paths are, each once and in no order."""

    folders: set[bytes]
    files: set[bytes]
    missing: set[bytes]


def named_files(root: bytes, paths: Iterable[str]) -> Named:
    """Sort a request's paths by what they name; the root itself is the empty path.

    Raises:
        InvalidRequest: A path leads out of the root.
    """
    named = Named(set(), set(), set())
    for path in paths:
        normal = os.path.normpath(os.fsencode(path))
        if normal == b".." or normal.startswith((b"../", b"/")):
            raise InvalidRequest(
                f"outside of the searched folder: {path}",
                next_step="Name a path inside it, relative to it.",
            )
        relative = b"" if normal == b"." else normal
        where = root + b"/" + relative
        if os.path.isdir(where):  # noqa: PTH112
            named.folders.add(relative)
        else:
            (named.files if os.path.lexists(where) else named.missing).add(relative)
    return named


class FileSearch:
    """One request, ready to be asked of one file after the other, from any thread."""

    def __init__(self, root: str, request: SearchRequest, pattern: Pattern) -> None:
        self.root = os.fsencode(root)
        self.request = request
        self.pattern = pattern
        self.in_parts = not lines.spans_lines(pattern, request)
        self._listed_flags = _LISTED | (0 if request.scope.follow else os.O_NOFOLLOW)

    def __call__(self, path: bytes, *, explicit: bool = False) -> Searched:
        """Search one file; never raises for what is wrong with the file itself.

        `explicit` files were named by the user. Binary ones among them are searched to their
        end; of one that matches the lines before the first NUL are found (see `binary`), and it
        is skipped, with ripgrep's words for it.
        Of the others one that has gone since it was listed is passed over: a search that began a
        moment later would not have heard of it, and where files come and go all the time (a
        build, an agent's edits) every search would end with an error that nobody can mend.
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
        """Search an open file. Raises `OSError` where it cannot be read, or is too large."""
        status = os.fstat(file)
        if self.in_parts and (
            not stat.S_ISREG(status.st_mode) or status.st_size == 0 or self.request.stdin >= 0
        ):
            return self._search_stream(path, file, explicit=explicit)
        if self.in_parts and status.st_size > WHOLE_BYTES:
            return self._search_parts(path, file, explicit=explicit)
        return self.search_bytes(path, _read_all(file, status.st_size), explicit=explicit)

    def _open_listed(self, path: bytes) -> int | None:
        """Open a file that a walk or an index has listed; None if it is there no more.

        A link or a FIFO that has taken its place is not what was listed.
        """
        # Plain descriptors: half the time of a file object, for tens of thousands of files.
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
            OSError: It cannot be opened.
            PathRefused: It may not be.
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
        """Search what a file holds."""
        decoded = text.decode_all(data)
        content = decoded.data
        if not self.request.scope.text and text.is_binary(content):
            return self._search_binary(path, decoded, data, stops=self._stops(explicit))
        first_read = self._first_read(marked=decoded.encoding != "utf-8")
        rows, count = lines.rows_of(content, self.pattern, self.request, first_read=first_read)
        stopped = lines.limit_reached_at(rows, self.pattern, self.request)
        size = len(content) if stopped is None else stopped
        shown = self._shown(path, rows, content, count)
        return Searched(shown and shown._replace(first_read=first_read), None, size)

    def _first_read(self, *, marked: bool) -> int:
        if marked:
            return stray.NO_FIRST_READ
        return stray.MAPPED if self.request.mapped else stray.FIRST_READ

    def _stops(self, explicit: bool) -> bool:
        """Whether the search of a file ends at its first NUL."""
        return not (explicit or self.request.scope.binary)

    def _search_binary(
        self, path: bytes, decoded: text.Text, raw: bytes, *, stops: bool
    ) -> Searched:
        """Search a text with a NUL in it."""
        if stops and text.shown_of_binary(decoded) is None:
            return Searched(None, Skipped(path, "binary"), len(decoded.data))
        # ripgrep reads what it has to transcode, and what begins with a mark, even if it is mapped.
        mapped = self.request.mapped and decoded.encoding == "utf-8"
        if mapped or not self.in_parts:
            outcome = binary.search_whole(decoded.data, self.pattern, self.request, stops=stops)
        else:
            stdin = self.request.stdin >= 0
            read = binary.read_text(decoded.data, decoded.encoding, raw, stdin=stdin)
            outcome = binary.search_buffered(read, self.pattern, self.request, stops=stops)
        return self._binary(path, outcome, len(decoded.data))

    def _binary(self, path: bytes, outcome: binary.Outcome, size: int) -> Searched:
        """Return what is listed of a binary file, and what is said of it."""
        rows, content, count, nul = outcome
        if nul is None:
            return Searched(self._shown(path, rows, content, count), None, size)
        skipped = Skipped(path, "binary", detail(nul) if count else "")
        if self.request.mode == "lines":
            ahead = 0 if self.in_parts else LOOK_AHEAD
            found = FileRows(path, rows, content, count, nul, ahead) if count or len(rows) else None
            return Searched(found, skipped if nul.stopped or count else None, size)
        if nul.stopped:
            return Searched(None, skipped, size)
        return Searched(self._shown(path, rows, content, count), None, size)

    def _shown(self, path: bytes, rows: np.ndarray, data: bytes, count: int) -> FileRows | None:
        """Return the rows if the mode lists this file."""
        listed = count == 0 if self.request.mode == "files_without_match" else count > 0
        ahead = 0 if self.in_parts else LOOK_AHEAD
        return FileRows(path, rows, data, count, None, ahead) if listed or len(rows) else None

    def _search_stream(self, path: bytes, file: int, *, explicit: bool) -> Searched:
        """Search a file that does not say how large it is: a pipe, a device, one of /proc."""
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
        """Search a large file part by part, in memory for one part and what matched."""
        mark, size = _mark(os.pread(file, 4, 0)), os.fstat(file).st_size
        if mark is None:
            return self.search_bytes(path, _read_all(file, size), explicit=explicit)
        os.lseek(file, mark, os.SEEK_SET)
        try:
            return self._search_pieces(path, _pieces(file), marked=mark > 0)
        except _HoldsNul:
            pass  # so once more from its beginning, as a binary file
        # ripgrep reads what it cannot map; so is a file read here that is too large for memory.
        if self.request.mapped and not mark and size <= binary.HELD_MAX_BYTES:
            os.lseek(file, 0, os.SEEK_SET)
            return self.search_bytes(path, _read_all(file, size), explicit=explicit)
        return self._search_read(path, binary.read_file(file, mark), explicit=explicit)

    def _search_pieces(self, path: bytes, pieces: Iterable[bytes], *, marked: bool) -> Searched:
        """Search a text that comes in pieces; `marked`: behind a byte order mark.

        Raises:
            _HoldsNul: It holds a NUL, and not every file is to count as text.
            OSError: It cannot be read, a line is longer than `binary.HELD_MAX_BYTES`, or what
                matches is larger than `binary.ROWS_MAX_BYTES`.
        """
        first_read, size, ahead = self._first_read(marked=marked), 0, 0
        parts = _Parts(self.request, self.pattern, first_read)
        if not self.request.scope.text:
            pieces = map(_without_nul, pieces)
        for part in _whole_lines(pieces):
            if parts.done and not binary.reads_on(self.pattern, self.request):
                # ripgrep's buffer may reach so far, and a NUL in it counts.
                ahead += len(part)
                if ahead >= text.BUFFER_BYTES:
                    break
                continue
            size += len(part)
            parts.add(part)
        found = parts.joined()
        stopped = lines.limit_reached_at(found.rows, self.pattern, self.request)
        shown = self._shown(path, found.rows, found.text, parts.count)
        shown = shown and shown._replace(first_read=first_read)
        return Searched(shown, None, size if stopped is None else stopped)

    def _search_read(self, path: bytes, read: binary.Read, *, explicit: bool) -> Searched:
        """Search a text that may hold a NUL as it is read."""
        size = 0

        def counted(room: int) -> bytes:
            nonlocal size
            piece = read(room)
            size += len(piece)
            return piece

        stops = self._stops(explicit)
        outcome = binary.search_buffered(counted, self.pattern, self.request, stops=stops)
        if outcome.nul is not None:
            return self._binary(path, outcome, outcome.nul.offset if stops else size)
        stopped = lines.limit_reached_at(outcome.rows, self.pattern, self.request)
        return self._binary(path, outcome, size if stopped is None else stopped)

    def content_of(self, path: bytes) -> bytes:
        """Return a file's text, decoded and without its BOM; nothing when it cannot be read."""
        try:
            file = as_regular(os.open(self.root + b"/" + path, _LISTED))
        except OSError:
            return b""
        try:
            return text.decode_all(_read_all(file, os.fstat(file).st_size)).data
        except OSError:
            return b""
        finally:
            os.close(file)

    def text_ends_at(self, path: bytes, end: int) -> bool:
        """Return whether a file's text, decoded and without its BOM, is `end` bytes long."""
        try:
            file = as_regular(os.open(self.root + b"/" + path, _LISTED))
        except OSError:
            return False
        try:
            size = os.fstat(file).st_size
            mark = _mark(os.pread(file, 4, 0))
            if mark is None:
                decoded = text.decode(_read_all(file, size), binary=True)
                return decoded is not None and len(decoded.data) == end
        except OSError:
            return False
        finally:
            os.close(file)
        return size - mark == end


def detail(nul: Nul) -> str:
    """Say what ripgrep says of a binary file of which something matches."""
    if nul.stopped:
        said = "WARNING: stopped searching binary file after match"
    else:
        said = "binary file matches"
    return f'{said} (found "\\0" byte around offset {nul.offset})'


def _unreadable(path: bytes, error: OSError) -> Searched:
    return Searched(None, Skipped(path, "unreadable", error.strerror or str(error)), 0)


def _read_all(file: int, size: int) -> bytes:
    """Read a file to its end, which may have moved since its size was asked.

    Raises:
        OSError: it cannot be read, or it is larger than `binary.HELD_MAX_BYTES`.
    """
    if size > binary.HELD_MAX_BYTES:
        raise _too_large_as_a_whole()
    data = os.read(file, min(size, PART_BYTES) + 1)
    return data if len(data) == size else _join_all([data], file)


def _join_all(pieces: list[bytes], file: int) -> bytes:
    """Return the pieces of a file that were read and the rest of it. Raises as `_read_all`."""
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
    # Most are empty, so that a large buffer is made once there is a byte.
    pieces = [os.read(file, 1)]
    room = WHOLE_BYTES - 1 if pieces[0] else 0
    while room and (piece := os.read(file, min(room, PART_BYTES))):
        pieces.append(piece)
        room -= len(piece)
        budget.check()
    return b"".join(pieces)


def _mark(head: bytes) -> int | None:
    """Return how many bytes of a file come before its text; None where it must be transcoded."""
    if not text.has_mark(head):
        return 0
    decoded = text.decode(head[:4], binary=True)
    return None if decoded is None or decoded.encoding.startswith("utf-16") else decoded.offset_base


class _HoldsNul(Exception):
    """A large file that was searched as text holds a NUL."""


class _Parts:
    """The rows of a text that arrives in parts of whole lines."""

    def __init__(self, request: SearchRequest, pattern: Pattern, first_read: int) -> None:
        self.request = request
        self.pattern = pattern
        self.progress = lines.Progress(first_read=first_read)
        self.found = binary.Held()
        self.carry = b""
        self.offset = 0
        self.line = 1

    @property
    def count(self) -> int:
        return self.progress.count

    @property
    def done(self) -> bool:
        """Whether what comes next is not searched any more."""
        return self.progress.done

    def add(self, part: bytes) -> None:
        """Search the next part."""
        if self.done:
            return
        data = self.carry + part
        rows = lines.extract(data, len(self.carry), self.pattern, self.request, self.progress)
        if rows.begins:
            table = lines.as_array(rows, data, self.request, self.line, self.offset)
            self.found.add(table, data)
        keep = lines.tail(data, rows, self.request)
        if self.request.line_numbers:
            self.line += data.count(b"\n", 0, keep)
        self.offset += keep
        self.carry = data[keep:]

    def joined(self) -> Batch:
        """Return all rows as those of one file."""
        return self.found.joined()


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
