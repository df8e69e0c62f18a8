"""A segment of the recall index: some sessions' messages, written once, to files or to memory.

Messages are numbered in the segment, those of a session one after another. A session that grows is
written again into a newer segment; the older copy is then dead. All columns are paged: a byte is
verified before it is used.
"""

from __future__ import annotations

import secrets
import shutil
from array import array
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from triseek import errors, private
from triseek.recall import words
from triseek.store import column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from numpy.typing import DTypeLike

    from triseek.recall.source import MessageRow
    from triseek.store.column import ColumnEntry

    _Column = column.ColumnWriter | column.MemoryColumn

KNOWN_MAX = 4_000
"""Terms whose numbers are kept."""
PIECE = 1 << 18
"""Values that are written at once."""
POSTINGS_AT_ONCE = 1 << 17
"""Occurrences of terms, about, whose posting lists are made at once."""


class SegmentEntry(TypedDict):
    """What the manifest says of a segment."""

    name: str
    columns: dict[str, ColumnEntry]
    pages: ColumnEntry


class _Numbers(dict[str, int]):
    """The number of each term, in the order in which they first occur."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


class SegmentWriter:
    """Collects sessions and makes a segment of them."""

    def __init__(self) -> None:
        self._numbers = _Numbers()
        self._tokens = array("I")
        self._token_at = array("I", [0])
        self._message_ids = array("q")
        self._message_ms = array("q")
        self._first = array("I", [0])
        self._session_ids = array("q")
        self._session_ms = array("q")

    @property
    def tokens(self) -> int:
        """The number of terms so far, each time it occurs."""
        return len(self._tokens)

    @property
    def vocabulary(self) -> int:
        """The number of distinct terms so far."""
        return len(self._numbers)

    @property
    def messages(self) -> int:
        """The number of messages so far."""
        return len(self._message_ids)

    @property
    def session_ids(self) -> set[int]:
        """The sessions so far: those that have messages."""
        return set(self._session_ids)

    def add(self, session_id: int, started_ms: int, rows: Iterable[MessageRow]) -> None:
        """Add a whole session, unless it has no messages.

        started_ms: Taken if no message has a time.
        """
        number, tokens = self._numbers.__getitem__, self._tokens
        first_ms = 0
        for message_id, time_ms, text in rows:
            tokens.extend(map(number, words.terms(text)))
            self._token_at.append(len(tokens))
            self._message_ids.append(message_id)
            self._message_ms.append(time_ms)
            first_ms = first_ms or time_ms
        if len(self._message_ids) == self._first[-1]:
            return
        self._first.append(len(self._message_ids))
        self._session_ids.append(session_id)
        self._session_ms.append(first_ms or started_ms)

    def copy(self, segment: Segment, keeps: np.ndarray[Any, Any]) -> None:
        """Add sessions of another segment: a tenth of the work of reading their messages again.

        keeps: bool, by session of `segment`.

        Raises:
            IndexCorrupt: A file of the segment is damaged.
        """
        messages = np.diff(segment.first.astype(np.int64))
        of_message = np.repeat(keeps, messages)
        lengths = np.diff(segment.token_at.astype(np.int64))
        segment.verify_tokens(0, len(lengths))
        tokens = segment.tokens[np.repeat(of_message, lengths)]
        used = np.flatnonzero(np.bincount(tokens, minlength=segment.vocabulary))
        numbers = np.zeros(segment.vocabulary, np.uint32)
        numbers[used] = [self._numbers[segment.term(number)] for number in used.tolist()]
        last_token, last_message = len(self._tokens), len(self._message_ids)
        for target, values in (
            (self._tokens, numbers[tokens]),
            (self._token_at, last_token + np.cumsum(lengths[of_message])),
            (self._message_ids, segment.message_ids[of_message]),
            (self._message_ms, segment.message_ms[of_message]),
            (self._first, last_message + np.cumsum(messages[keeps])),
            (self._session_ids, segment.session_ids[keeps]),
            (self._session_ms, segment.session_ms[keeps]),
        ):
            target.frombytes(values.astype(target.typecode).tobytes())
        segment.release()

    def write(self, folder: Path) -> SegmentEntry:
        """Write the segment durably into a new folder of `folder`.

        Raises:
            OSError: It cannot be written.
        """
        name = secrets.token_hex(8)
        target = folder / name
        private.make(target)
        pages: list[int] = []
        columns: dict[str, column.ColumnWriter] = {}

        def add(key: str, dtype: DTypeLike) -> column.ColumnWriter:
            columns[key] = column.ColumnWriter(target / f"{key}.npy", dtype, pages=pages)
            return columns[key]

        try:
            self._fill(add)
            all_pages = column.write(target / "pages.npy", np.array(pages, np.uint64), np.uint64)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
        entries = {key: writer.entry for key, writer in columns.items()}
        return {"name": name, "columns": entries, "pages": all_pages}

    def in_memory(self) -> Segment:
        """Return the segment without writing a file. The writer is used up."""
        columns: dict[str, column.MemoryColumn] = {}

        def add(key: str, dtype: DTypeLike) -> column.MemoryColumn:
            columns[key] = column.MemoryColumn(dtype)
            return columns[key]

        self._fill(add)
        return Segment(columns)

    def _fill(self, add: Callable[[str, DTypeLike], _Column]) -> None:
        """Write all columns. add: Opens one by its name and dtype."""

        def write(key: str, values: np.ndarray[Any, Any]) -> None:
            with add(key, values.dtype) as writer:
                _append(writer, values)

        terms, term_at, rank = self._ordered()
        write("terms", terms)
        write("term_at", term_at)
        tokens = np.frombuffer(self._tokens, np.uint32)
        frequency = np.zeros(len(rank), np.int64)
        for at in range(0, len(tokens), PIECE):
            piece = tokens[at : at + PIECE]
            piece[:] = rank[piece]  # `rank[tokens]` would be all of them a second time
            frequency += np.bincount(piece, minlength=len(rank))
        write("tokens", tokens)
        token_at = np.frombuffer(self._token_at, np.uint32)
        with add("messages", np.uint32) as messages, add("counts", np.uint8) as counts:
            posting_at = _write_postings(messages, counts, tokens, token_at, frequency)
        write("posting_at", posting_at)
        first = np.frombuffer(self._first, np.uint32)
        session_of = np.repeat(np.arange(len(first) - 1, dtype=np.uint32), np.diff(first))
        write("token_at", token_at)
        write("session_of", session_of)
        write("first", first)
        write("message_ids", np.frombuffer(self._message_ids, np.int64))
        write("message_ms", np.frombuffer(self._message_ms, np.int64))
        write("session_ids", np.frombuffer(self._session_ids, np.int64))
        write("session_ms", np.frombuffer(self._session_ms, np.int64))

    def _ordered(self) -> tuple[np.ndarray[Any, Any], ...]:
        """Return the terms in order, where each begins, and the place of each by its number."""
        ordered = sorted(self._numbers)
        rank = np.empty(len(ordered), np.uint32)
        rank[[self._numbers[term] for term in ordered]] = np.arange(len(ordered), dtype=np.uint32)
        self._numbers.clear()
        terms = bytearray()
        term_at = np.zeros(len(ordered) + 1, np.uint32)
        for at, term in enumerate(ordered, 1):
            terms += term.encode("utf-8", "surrogatepass")
            term_at[at] = len(terms)
        return np.frombuffer(terms, np.uint8), term_at, rank


def _append(writer: _Column, values: np.ndarray[Any, Any]) -> None:
    """Append values in pieces: the writer copies what it gets."""
    for at in range(0, len(values), PIECE):
        writer.append(values[at : at + PIECE])


def _write_postings(
    messages: _Column,
    counts: _Column,
    tokens: np.ndarray[Any, Any],
    token_at: np.ndarray[Any, Any],
    frequency: np.ndarray[Any, Any],
) -> np.ndarray[Any, Any]:
    """Write the posting lists, some terms at a time; return where each begins: uint32[terms + 1].

    frequency: int64, by term, its occurrences.
    """
    terms = len(frequency)
    ends = np.cumsum(frequency)
    posting_at = np.zeros(terms + 1, np.uint32)
    low = 0
    while low < terms:
        before = int(ends[low] - frequency[low])
        high = max(low + 1, int(np.searchsorted(ends, before + POSTINGS_AT_ONCE, "right")))
        pairs, times = _postings(tokens, token_at, low, high)
        _append(messages, pairs.astype(np.uint32))
        _append(counts, np.minimum(times, 255).astype(np.uint8))
        begins = np.arange(low + 1, high + 1, dtype=np.uint64) << np.uint64(32)
        posting_at[low + 1 : high + 1] = posting_at[low] + np.searchsorted(pairs, begins)
        low = high
    return posting_at


def _postings(
    tokens: np.ndarray[Any, Any], token_at: np.ndarray[Any, Any], low: int, high: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the postings of terms low..high-1, in order, and how often each term is there.

    Without a kernel: to load numba takes longer than to sort millions of pairs, and more memory
    than everything else of an import.

    Returns:
        uint64, term << 32 | message; and int64.
    """
    at = np.concatenate(
        [
            begin + np.flatnonzero((piece >= low) & (piece < high))
            for begin in range(0, len(tokens), PIECE)
            for piece in [tokens[begin : begin + PIECE]]
        ]
    )
    pairs = tokens[at].astype(np.uint64) << np.uint64(32)
    pairs |= (np.searchsorted(token_at, at, "right") - 1).astype(np.uint64)
    pairs.sort()
    ends = np.ones(len(pairs), bool)  # of each run of equal ones, the last
    np.not_equal(pairs[1:], pairs[:-1], out=ends[:-1])
    return pairs[ends], np.diff(np.flatnonzero(ends), prepend=-1)


class Segment:
    """A segment that can be searched.

    columns: Those that `SegmentWriter` wrote, by name.

    Raises, here and where it is read:
        IndexCorrupt: A file is missing or damaged.
    """

    entry: SegmentEntry | None = None
    """What the manifest says of it; None if it has no files."""

    def __init__(self, columns: Mapping[str, column.PagedColumn | column.MemoryColumn]) -> None:
        self._columns = columns
        try:
            self.token_at = self._whole("token_at", np.uint32)
            self.session_of = self._whole("session_of", np.uint32)
            self.first = self._whole("first", np.uint32)
            self.message_ids = self._whole("message_ids", np.int64)
            self.message_ms = self._whole("message_ms", np.int64)
            self.session_ids = self._whole("session_ids", np.int64)
            self.session_ms = self._whole("session_ms", np.int64)
            self._postings = self._columns["messages"], self._columns["counts"]
            self._tokens = self._columns["tokens"]
            self._term_at = self._whole("term_at", np.uint32)
            self._posting_at = self._whole("posting_at", np.uint32)
            self._terms = self._whole("terms", np.uint8)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise errors.IndexCorrupt("a segment of the recall index is not in order") from error
        self.last_ms = np.maximum.reduceat(self.message_ms, self.first[:-1])
        """int64 by session: the time of its last message."""
        self.session_tokens, self.window_tokens = _lengths(self.token_at, self.first)
        self.sizes = np.diff(self.first).astype(np.int64)
        """The messages of each session."""
        self._known: dict[str, int | None] = {}
        self._touched = set[int]()
        """Pages of postings that were read since pages were released last."""
        self.release()

    @classmethod
    def open(cls, folder: Path, entry: SegmentEntry) -> Segment:
        """Map the segment that the manifest in a folder names. Raises as the class."""
        try:
            where = folder / entry["name"]
            pages = column.load(where / "pages.npy", entry["pages"])
            columns = {
                name: column.PagedColumn(where / f"{name}.npy", one, pages)
                for name, one in entry["columns"].items()
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise errors.IndexCorrupt(f"the recall index in {folder} is not in order") from error
        segment = cls(columns)
        segment.entry = entry
        return segment

    def _whole(self, name: str, dtype: type) -> np.ndarray[Any, Any]:
        values = self._columns[name].whole()
        if values.dtype != dtype:
            raise ValueError(name)
        return values

    @property
    def vocabulary(self) -> int:
        """The number of distinct terms."""
        return len(self._term_at) - 1

    @property
    def tokens(self) -> np.ndarray[Any, Any]:
        """uint32: the messages' terms in order; `verify_tokens` first."""
        return self._tokens.values

    def verify_tokens(self, begin: int, end: int) -> None:
        """Verify the terms of messages begin..end-1."""
        self._tokens.verify(int(self.token_at[begin]), int(self.token_at[end]))

    def release_tokens(self) -> None:
        """Release the pages of `tokens`: those of a few hundred sessions are tens of megabytes."""
        self._tokens.release()

    @property
    def postings(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Messages, uint32, and how often each has a term, uint8; `place` first."""
        messages, counts = self._postings
        return messages.values, counts.values

    @property
    def touched(self) -> int:
        """Bytes of postings read, about, since pages were released last."""
        return len(self._touched) * column.PAGE_BYTES * 5 // 4

    def number(self, term: str) -> int | None:
        """Return a term's number; None if it does not occur."""
        if term not in self._known:
            wanted = term.encode("utf-8", "surrogatepass")
            at = self._first(wanted)
            is_there = at < self.vocabulary and self._term(at) == wanted
            if len(self._known) >= KNOWN_MAX:
                self._known.clear()
            self._known[term] = at if is_there else None
        return self._known.get(term)

    def beginning(
        self, prefix: str, counted: np.ndarray[Any, Any] | None
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the numbers of the terms that begin so, and how many messages have each.

        counted: bool or uint8 by session, 0 for one whose messages are not counted; None for all.
        Terms of which nothing is counted are left out.
        """
        wanted = prefix.encode()
        low, high = self._first(wanted), self._first(wanted, behind=1)
        ends = self._posting_at[low : high + 1].astype(np.int64)
        if counted is None or low == high:
            return np.arange(low, high), np.diff(ends)
        messages = self.postings[0][self._verified(int(ends[0]), int(ends[-1]))]
        counts = np.add.reduceat(counted[self.session_of[messages]], ends[:-1] - ends[0], dtype=int)
        return low + np.flatnonzero(counts), counts[counts > 0]

    def names(self, numbers: np.ndarray[Any, Any]) -> list[str]:
        """Return the terms with these numbers, ascending."""
        if not len(numbers):
            return []
        ends = self._term_at[numbers[0] : numbers[-1] + 2].tolist()
        data = bytes(self._terms[ends[0] : ends[-1]])
        places = (numbers - numbers[0]).tolist()
        if data.isascii():
            text, base = data.decode(), ends[0]
            return [text[ends[at] - base : ends[at + 1] - base] for at in places]
        return [self._term(at).decode("utf-8", "surrogatepass") for at in numbers.tolist()]

    def place(self, number: int) -> tuple[int, int]:
        """Verify a term's postings; return where they begin and end in `postings`."""
        begin, end = int(self._posting_at[number]), int(self._posting_at[number + 1])
        self._verified(begin, end)
        return begin, end

    def _verified(self, begin: int, end: int) -> slice:
        """Verify postings begin..end-1; return where they are."""
        pages = range(begin * 4 // column.PAGE_BYTES, end * 4 // column.PAGE_BYTES + 1)
        self._touched.update(pages)
        for one in self._postings:
            one.verify(begin, end)
        return slice(begin, end)

    def release_postings(self) -> None:
        """Release the pages of postings; the other columns are smaller, and each search reads them.

        To map these again takes longer than to score.
        """
        self._touched.clear()
        for one in self._postings:
            one.release()

    def release(self) -> None:
        """Release the mapped pages; they stay in the system's cache."""
        self._touched.clear()
        for one in self._columns.values():
            one.release()

    def term(self, number: int) -> str:
        """Return the term of a number."""
        return self._term(number).decode("utf-8", "surrogatepass")

    def _term(self, number: int) -> bytes:
        return bytes(self._terms[self._term_at[number] : self._term_at[number + 1]])

    def _first(self, wanted: bytes, behind: int = 0) -> int:
        """Return the first term that is not less, or that is behind all that begin so."""
        from triseek.kernels import recall

        return recall.find_term(self._terms, self._term_at, np.frombuffer(wanted, np.uint8), behind)


def _lengths(
    token_at: np.ndarray[Any, Any], first: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the terms of each session, and those of its windows together: int64."""
    begin, end = first[:-1], first[1:]
    tokens = (token_at[end] - token_at[begin]).astype(np.int64)
    # Each message is in three windows, the first and the last are in one less.
    edges = (token_at[begin + 1] - token_at[begin]) + (token_at[end] - token_at[end - 1])
    return tokens, 3 * tokens - edges
