"""Segments: immutable bundles of columns and tables. `SegmentBuilder` writes, `Segment` reads."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, Self, TypedDict

import numpy as np
import xxhash

from triseek import errors, private
from triseek.store import atomic, column, layout
from triseek.store.table import Table
from triseek.store.table import write as write_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import DTypeLike

    from triseek.store.column import ColumnEntry, ColumnWriter
    from triseek.store.table import TableEntry

PARTIAL = ".partial"
"""Suffix of an unfinished segment's folder; `manifest.sweep` removes leftover ones."""
PLACES_MAX = 1 << 14
"""Trigrams whose positions are cached: the router and the search look up the same ones."""


class Counts(TypedDict):
    """What was counted while a segment was written."""

    files: int
    searchable: int
    blocks: int
    text_bytes: int
    postings: int
    skips: list[tuple[str, int]]
    """The unreadable files and `layout.SKIP_UNREADABLE`."""


class Facts(Counts):
    """What the writer of a segment says of it. Times are in nanoseconds since the epoch."""

    scanned_ns: int
    files_scanned_ns: NotRequired[int]
    tree_scanned_ns: NotRequired[int]
    """See `store.layout` about the three times."""


class Description(Facts):
    """The content of `segment.json`."""

    format: int
    feature: int
    id: str
    created_ns: int
    columns: dict[str, ColumnEntry]
    tables: dict[str, TableEntry]


class SegmentBuilder:
    """Writes a segment to a temporary folder, which `publish` renames.

    Leaving the context without publishing removes the folder.
    """

    def __init__(self, index_dir: str | os.PathLike[str]) -> None:
        self.id = f"{time.time_ns():016x}-{secrets.token_hex(4)}"
        segments = Path(index_dir) / layout.SEGMENTS
        try:
            private.make(segments)
            self.folder = segments / (self.id + PARTIAL)
            self.folder.mkdir(mode=0o700)
        except OSError as error:
            raise errors.StateUnwritable(f"cannot write {segments}: {error.strerror}") from error
        self._final = segments / self.id
        self._columns: dict[str, ColumnEntry] = {}
        self._tables: dict[str, TableEntry] = {}
        self._pages: dict[str, list[int]] = {}
        """The page checksums of each paged column."""
        self._published = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._published:
            shutil.rmtree(self.folder, ignore_errors=True)

    def column(self, name: str, values: np.ndarray[Any, Any], dtype: DTypeLike) -> None:
        """Write a whole column, paged."""
        with self.stream(name, dtype) as writer:
            writer.append(values)

    @contextlib.contextmanager
    def stream(self, name: str, dtype: DTypeLike) -> Iterator[ColumnWriter]:
        """Write a paged column in pieces: the block appends them."""
        path = self.folder / f"{name}.npy"
        pages = self._pages[name] = []
        with column.ColumnWriter(path, dtype, pages=pages) as writer:
            yield writer
        self._columns[name] = writer.entry

    def table(self, name: str, schema: layout.Schema, columns: Mapping[str, Any]) -> None:
        """Write a whole table."""
        self._tables[name] = write_table(self.folder / f"{name}.arrow", schema, columns)

    def publish(self, facts: Facts) -> str:
        """Make the segment durable under its final name; return the checksum of `segment.json`."""
        path, pages = self.folder / f"{layout.PAGES}.npy", np.array(self._all_pages(), np.uint64)
        self._columns[layout.PAGES] = column.write(path, pages, np.uint64)
        description: Description = {
            "format": layout.FORMAT,
            "feature": layout.FEATURE,
            "id": self.id,
            "created_ns": time.time_ns(),
            **facts,
            "columns": self._columns,
            "tables": self._tables,
        }
        data = json.dumps(description, indent=1).encode()
        atomic.write(self.folder / layout.SEGMENT_JSON, data)
        atomic.publish(self.folder, self._final)
        self._published = True
        return xxhash.xxh3_64_hexdigest(data)

    def _all_pages(self) -> list[int]:
        """Join the page checksums, and enter where those of each column begin.

        A merge writes its columns in another order than a build. The order here is always the same,
        so that equal columns make equal files.
        """
        all_pages: list[int] = []
        for name in sorted(self._pages, key=layout.PAGED.index):
            self._columns[name]["first_page"] = len(all_pages)
            all_pages += self._pages[name]
        return all_pages


class Segment:
    """A mapped segment, shared by threads. Its columns and tables are verified on first use."""

    def __init__(self, index_dir: str | os.PathLike[str], identity: str, digest: str) -> None:
        self.id = identity
        self.folder = Path(index_dir) / layout.SEGMENTS / identity
        self.facts = _describe(self.folder, digest)
        self._places: dict[int, int | None] = {}
        try:
            entries = self.facts["columns"]
            pages = column.load(self.folder / f"{layout.PAGES}.npy", entries[layout.PAGES])
            self._trigrams, self._offsets, self._frequency, self.postings = (
                column.PagedColumn(self.folder / f"{name}.npy", entries[name], pages)
                for name in layout.PAGED
            )
            self.files = self.table("files", layout.FILES)
            self.blocks = self.table("blocks", layout.BLOCKS)
        except (KeyError, TypeError, ValueError) as error:
            raise errors.IndexCorrupt(f"{self.folder} is described wrongly: {error}") from error
        if not len(self._offsets) - 1 == len(self._frequency) == self.distinct:
            raise self._disorder("trigram")

    def table(self, name: str, schema: layout.Schema) -> Table:
        """Map a table, which is verified when it is first read."""
        if name not in self.facts["tables"]:
            raise errors.IndexCorrupt(f"{self.folder} holds no table of {name}")
        return Table(self.folder / f"{name}.arrow", self.facts["tables"][name], schema)

    @property
    def distinct(self) -> int:
        """The number of distinct trigrams."""
        return len(self._trigrams)

    @property
    def trigrams(self) -> np.ndarray[Any, Any]:
        """uint32[distinct], ascending: the trigrams. The whole column is verified.

        So are the columns that `offsets` and `frequency` return.
        """
        return self._trigrams.whole()

    @property
    def offsets(self) -> np.ndarray[Any, Any]:
        """uint64[distinct + 1]: where each trigram's list begins in `postings`."""
        return self._offsets.whole()

    @property
    def frequency(self) -> np.ndarray[Any, Any]:
        """uint32[distinct]: how many blocks have each trigram."""
        return self._frequency.whole()

    @cached_property
    def block_file(self) -> np.ndarray[Any, Any]:
        """uint32[blocks]: the file of each block, in ascending order."""
        files = self.blocks.numbers("file")
        if len(files) and not (
            int(files[-1]) < self.files.rows and bool((files[1:] >= files[:-1]).all())
        ):
            raise self._disorder("block")
        return files

    def postings_of(self, trigram: int) -> tuple[int, int, int]:
        """Return (begin, end, blocks) of a trigram's list in `postings`; (0, 0, 0) if absent.

        The list is verified.

        Raises:
            IndexCorrupt: the list, or the columns that locate it, are damaged.
        """
        at = self._find(trigram)
        if at is None:
            return 0, 0, 0
        self._offsets.verify(at, at + 2)
        begin, end = int(self._offsets.values[at]), int(self._offsets.values[at + 1])
        # The kernels that decode the list check no bounds.
        if not begin <= end <= len(self.postings):
            raise self._disorder("trigram")
        self.postings.verify(begin, end)
        return begin, end, self._blocks_at(at)

    def frequency_of(self, trigram: int) -> int:
        """Return the number of blocks that have a trigram.

        Raises:
            IndexCorrupt: the columns that hold the number are damaged.
        """
        at = self._find(trigram)
        return 0 if at is None else self._blocks_at(at)

    def _blocks_at(self, at: int) -> int:
        self._frequency.verify(at, at + 1)
        return int(self._frequency.values[at])

    def _find(self, trigram: int) -> int | None:
        """Return a trigram's position in `trigrams`, cached; None if no block has it."""
        at = self._places.get(trigram, -1)
        if at == -1:
            at = self._look_up(trigram)
            if len(self._places) >= PLACES_MAX:
                self._places.clear()
            self._places[trigram] = at
        return at

    def _look_up(self, trigram: int) -> int | None:
        """Find a trigram's position by bisection.

        The bisection reads entries of unverified pages. Their values do not matter: in a ascending
        column, two neighbours with the trigram between them prove its position, and the pages of
        these two (which may differ) are verified.
        """
        column, n = self._trigrams, self.distinct
        # A plain int would make NumPy convert the whole column first.
        at = int(np.searchsorted(column.values, np.uint32(trigram)))
        column.verify(max(at - 1, 0), min(at + 1, n))
        here = int(column.values[at]) if at < n else 1 << 24
        if here < trigram or (at and int(column.values[at - 1]) >= trigram):
            raise self._disorder("trigram")
        return at if here == trigram else None

    def verify(self) -> None:
        """Verify all but the postings, and the order of the columns, which the kernels rely on.

        Raises:
            IndexCorrupt: names the file, or the table that is not in order.
        """
        trigrams, offsets, _ = self.trigrams, self.offsets, self.frequency
        if not (
            bool((trigrams[1:] > trigrams[:-1]).all())
            and bool((trigrams[-1:] < 1 << 24).all())
            and bool((offsets[1:] >= offsets[:-1]).all())
            and int(offsets[-1]) == len(self.postings)
        ):
            raise self._disorder("trigram")
        self.files.verify()
        self.blocks.verify()
        _ = self.block_file

    def _disorder(self, table: str) -> errors.IndexCorrupt:
        return errors.IndexCorrupt(f"the {table} table of {self.folder} is not in order")

    def size_bytes(self) -> int:
        """Return the number of bytes that the segment takes on disk."""
        with os.scandir(self.folder) as entries:
            return sum(entry.stat().st_size for entry in entries)


def _describe(folder: Path, digest: str) -> Description:
    try:
        with (folder / layout.SEGMENT_JSON).open("rb") as file:
            trouble = private.distrust_owner(str(folder), os.fstat(file.fileno()))
            if trouble is not None:
                raise trouble
            data = file.read()
    except OSError as error:
        raise errors.IndexCorrupt(f"cannot read {folder}: {error.strerror}") from error
    if xxhash.xxh3_64_hexdigest(data) != digest:
        raise errors.IndexCorrupt(f"checksum mismatch in {folder / layout.SEGMENT_JSON}")
    description: Description = json.loads(data)
    return description
