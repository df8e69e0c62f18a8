"""A segment of the recall index: some sessions' messages, written once and mapped.

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
from triseek.history.recall import words
from triseek.store import column

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from triseek.store.column import ColumnEntry

KNOWN_MAX = 4_000
"""Terms whose numbers are kept."""
RESIDENT_MAX = 4 << 20
"""Bytes read, about, after which a segment's pages are released."""
MessageRow = tuple[int, int, str]
"""Id, Unix time in milliseconds, text."""


class SegmentEntry(TypedDict):
    """What the manifest says of a segment."""

    name: str
    columns: dict[str, ColumnEntry]
    pages: ColumnEntry


class SegmentWriter:
    """Collects sessions in memory and writes them as a segment."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._tokens = array("I")
        self._token_at = array("Q", [0])
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
    def messages(self) -> int:
        """The number of messages so far."""
        return len(self._message_ids)

    def add(self, session_id: int, started_ms: int, rows: Iterable[MessageRow]) -> None:
        """Add a whole session. started_ms: taken if no message has a time."""
        numbers, tokens = self._numbers, self._tokens
        first_ms = 0
        for message_id, time_ms, text in rows:
            for term in words.terms(text):
                tokens.append(numbers.setdefault(term, len(numbers)))
            self._token_at.append(len(tokens))
            self._message_ids.append(message_id)
            self._message_ms.append(time_ms)
            first_ms = first_ms or time_ms
        self._first.append(len(self._message_ids))
        self._session_ids.append(session_id)
        self._session_ms.append(first_ms or started_ms)

    def write(self, folder: Path) -> SegmentEntry:
        """Write the segment durably into a new folder of `folder`.

        Raises:
            OSError: It cannot be written.
        """
        name = secrets.token_hex(8)
        target = folder / name
        private.make(target)
        pages: list[int] = []
        try:
            entries: dict[str, ColumnEntry] = {}
            for key, values in self._columns().items():
                path = target / f"{key}.npy"
                with column.ColumnWriter(path, values.dtype, pages=pages) as writer:
                    writer.append(values)
                entries[key] = writer.entry
            all_pages = column.write(target / "pages.npy", np.array(pages, np.uint64), np.uint64)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
        return {"name": name, "columns": entries, "pages": all_pages}

    def _columns(self) -> dict[str, np.ndarray[Any, Any]]:
        from triseek.kernels import recall

        ordered = sorted(self._numbers)
        rank = np.empty(len(ordered), np.uint32)
        for at, term in enumerate(ordered):
            rank[self._numbers[term]] = at
        encoded = [term.encode("utf-8", "surrogatepass") for term in ordered]
        term_at = np.zeros(len(ordered) + 1, np.uint64)
        term_at[1:] = np.cumsum([len(term) for term in encoded], dtype=np.uint64)
        self._numbers.clear()
        tokens = rank[np.frombuffer(self._tokens, np.uint32)] if self._tokens else rank[:0]
        token_at = np.frombuffer(self._token_at, np.uint64)
        frequency = np.bincount(tokens, minlength=len(ordered)).astype(np.uint32)
        place = np.zeros(2 * len(ordered), np.int64)
        place[1 : len(ordered)] = np.cumsum(frequency[:-1], dtype=np.int64)
        messages = np.empty(len(tokens), np.uint32)
        counts = np.empty(len(tokens), np.uint8)
        recall.invert(tokens, frequency, token_at, place, messages, counts)
        ends = place[len(ordered) :]
        kept = np.zeros(len(tokens) + 1, np.int8)
        np.add.at(kept, place[: len(ordered)], 1)
        np.add.at(kept, ends, -1)
        is_kept = np.cumsum(kept[:-1], dtype=np.int8).astype(bool)
        posting_at = np.zeros(len(ordered) + 1, np.uint64)
        posting_at[1:] = np.cumsum(ends - place[: len(ordered)], dtype=np.uint64)
        first = np.frombuffer(self._first, np.uint32)
        sessions = np.repeat(np.arange(len(first) - 1, dtype=np.uint32), np.diff(first))
        return {
            "terms": np.frombuffer(b"".join(encoded), np.uint8),
            "term_at": term_at,
            "posting_at": posting_at,
            "messages": messages[is_kept],
            "counts": counts[is_kept],
            "tokens": tokens,
            "token_at": token_at,
            "session_of": sessions,
            "first": first,
            "message_ids": np.array(self._message_ids, np.int64),
            "message_ms": np.array(self._message_ms, np.int64),
            "session_ids": np.array(self._session_ids, np.int64),
            "session_ms": np.array(self._session_ms, np.int64),
        }


class Segment:
    """A mapped segment.

    Raises, here and where it is read:
        IndexCorrupt: A file is missing or damaged.
    """

    def __init__(self, folder: Path, entry: SegmentEntry) -> None:
        try:
            where = folder / entry["name"]
            pages = column.load(where / "pages.npy", entry["pages"])
            self._columns = {
                name: column.PagedColumn(where / f"{name}.npy", one, pages)
                for name, one in entry["columns"].items()
            }
            self.token_at = self._whole("token_at", np.uint64)
            self.session_of = self._whole("session_of", np.uint32)
            self.first = self._whole("first", np.uint32)
            self.message_ids = self._whole("message_ids", np.int64)
            self.message_ms = self._whole("message_ms", np.int64)
            self.session_ids = self._whole("session_ids", np.int64)
            self.session_ms = self._whole("session_ms", np.int64)
            self._postings = self._columns["messages"], self._columns["counts"]
            self._tokens = self._columns["tokens"]
            self._term_at = self._whole("term_at", np.uint64).data
            self._posting_at = self._whole("posting_at", np.uint64).data
            self._terms = self._whole("terms", np.uint8).data
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise errors.IndexCorrupt(f"the recall index in {folder} is not in order") from error
        self.entry = entry
        self._known: dict[str, int | None] = {}
        self._touched = RESIDENT_MAX
        self.release()

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
        self._touched += 2 * column.PAGE_BYTES
        self._tokens.verify(int(self.token_at[begin]), int(self.token_at[end]))

    def window_lengths(self) -> np.ndarray[Any, Any]:
        """Return the length of each window in terms: uint64."""
        at = np.arange(len(self.session_of))
        begin = np.maximum(at - 1, self.first[self.session_of])
        end = np.minimum(at + 2, self.first[self.session_of + 1])
        return self.token_at[end] - self.token_at[begin]  # type: ignore[no-any-return]

    def number(self, term: str) -> int | None:
        """Return a term's number; None if it does not occur."""
        if term not in self._known:
            wanted = term.encode("utf-8", "surrogatepass")
            at = self._bisect(wanted)
            is_there = at < self.vocabulary and self._term(at) == wanted
            self._remember(term, at if is_there else None)
        return self._known.get(term)

    def beginning(self, prefix: str, most: int) -> dict[str, int] | None:
        """Return the terms that begin so, and how many messages have each.

        None if they are more than `most`.
        """
        wanted = prefix.encode()
        found: dict[str, int] = {}
        number = self._bisect(wanted)
        while number < self.vocabulary:
            term = self._term(number)
            if not term.startswith(wanted):
                return found
            if len(found) == most:
                return None
            name = term.decode("utf-8", "surrogatepass")
            self._remember(name, number)
            found[name] = self._posting_at[number + 1] - self._posting_at[number]
            number += 1
        return found

    def _remember(self, term: str, number: int | None) -> None:
        if len(self._known) >= KNOWN_MAX:
            self._known.clear()
        self._known[term] = number

    def postings(self, number: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the messages that have a term, uint32, and how often, uint8."""
        begin, end = self._posting_at[number], self._posting_at[number + 1]
        self._touched += (end - begin) * 5
        messages, counts = self._postings
        messages.verify(begin, end)
        counts.verify(begin, end)
        return messages.values[begin:end], counts.values[begin:end]

    def release(self) -> None:
        """Release the mapped pages if many were read; they stay in the system's cache."""
        if self._touched >= RESIDENT_MAX:
            self._touched = 0
            for one in self._columns.values():
                one.release()

    def _term(self, number: int) -> bytes:
        return bytes(self._terms[self._term_at[number] : self._term_at[number + 1]])

    def _bisect(self, wanted: bytes) -> int:
        low, high = 0, self.vocabulary
        while low < high:
            middle = (low + high) // 2
            if self._term(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low
