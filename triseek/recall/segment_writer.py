"""Makes a segment of sessions: in files, or in memory."""

from __future__ import annotations

import secrets
import shutil
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from triseek import private
from triseek.recall import words
from triseek.recall.segment import Segment
from triseek.store import column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from numpy.typing import DTypeLike

    from triseek.recall.segment import SegmentEntry
    from triseek.recall.source import MessageRow

    _Column = column.ColumnWriter | column.MemoryColumn

PIECE = 1 << 18
"""Values that are written at once."""
POSTINGS_AT_ONCE = 1 << 17
"""Occurrences of terms, about, whose posting lists are made at once."""


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
