"""A segment of the recall index: some sessions' messages, written once, to files or to memory.

Messages are numbered in the segment, those of a session one after another. A session that grows is
written again into a newer segment; the older copy is then dead. All columns are paged: a byte is
verified before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from triseek import errors
from triseek.store import column

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from triseek.store.column import ColumnEntry

KNOWN_MAX = 4_000
"""Terms whose numbers are kept."""


class SegmentEntry(TypedDict):
    """What the manifest says of a segment."""

    name: str
    columns: dict[str, ColumnEntry]
    pages: ColumnEntry


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
