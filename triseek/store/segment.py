"""An immutable bundle of columns and tables: a builder that publishes it, a reader that maps it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import xxhash

from triseek import errors
from triseek.store import atomic, column, layout
from triseek.store.table import Table
from triseek.store.table import write as write_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from numpy.typing import DTypeLike

    from triseek.store.column import ColumnWriter

PARTIAL = ".partial"
"""Ending of a segment folder under way; `manifest.sweep` removes what is left of one."""


class SegmentBuilder:
    """Write a segment aside; `publish` gives it its name. Leaving without publishing removes it."""

    def __init__(self, index_dir: str | os.PathLike[str]) -> None:
        self.id = f"{time.time_ns():016x}-{secrets.token_hex(4)}"
        segments = Path(index_dir) / layout.SEGMENTS
        try:
            segments.mkdir(parents=True, exist_ok=True)
            self.folder = segments / (self.id + PARTIAL)
            self.folder.mkdir()
        except OSError as error:
            raise errors.StateUnwritable(f"cannot write {segments}: {error.strerror}") from error
        self._final = segments / self.id
        self._columns: dict[str, dict[str, Any]] = {}
        self._tables: dict[str, dict[str, Any]] = {}
        self._published = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._published:
            shutil.rmtree(self.folder, ignore_errors=True)

    def column(self, name: str, values: np.ndarray[Any, Any], dtype: DTypeLike) -> None:
        """Write a whole column."""
        self._columns[name] = column.write(self.folder / f"{name}.npy", values, dtype)

    def stream(self, name: str, dtype: DTypeLike) -> ColumnWriter:
        """Begin a paged column written in pieces; hand its `close()` to `add`."""
        return column.ColumnWriter(self.folder / f"{name}.npy", dtype, paged=True)

    def add(self, name: str, entry: dict[str, Any]) -> None:
        """Record a column that was streamed."""
        self._columns[name] = entry

    def table(self, name: str, schema: layout.Schema, columns: Mapping[str, Any]) -> None:
        """Write a whole table."""
        self._tables[name] = write_table(self.folder / f"{name}.arrow", schema, columns)

    def publish(self, facts: Mapping[str, Any]) -> str:
        """Make the segment durable under its final name; the checksum of its `segment.json`."""
        described = {
            "format": layout.FORMAT,
            "feature": layout.FEATURE,
            "id": self.id,
            "created_ns": time.time_ns(),
            **facts,
            "columns": self._columns,
            "tables": self._tables,
        }
        data = json.dumps(described, indent=1).encode()
        atomic.write(self.folder / layout.SEGMENT_JSON, data)
        atomic.publish(self.folder, self._final)
        self._published = True
        return xxhash.xxh3_64_hexdigest(data)


class Segment:
    """A mapped segment. Small columns are verified now, postings when they are touched."""

    def __init__(self, index_dir: str | os.PathLike[str], identity: str, digest: str) -> None:
        self.id = identity
        self.folder = Path(index_dir) / layout.SEGMENTS / identity
        self.facts = _describe(self.folder, digest)
        try:
            self._open()
        except (KeyError, TypeError, ValueError) as error:
            raise errors.IndexCorrupt(f"{self.folder} is described wrongly: {error}") from error

    def _open(self) -> None:
        self.trigrams = self.column(layout.TRIGRAMS)
        self.offsets = self.column(layout.OFFSETS)
        self.frequency = self.column(layout.FREQUENCY)
        entry = self.facts["columns"][layout.POSTINGS]
        self.postings = column.PagedColumn(self.folder / f"{layout.POSTINGS}.npy", entry)
        self.files = self.table("files", layout.FILES)
        self.blocks = self.table("blocks", layout.BLOCKS)
        self._validate()

    def _validate(self) -> None:
        """What the kernels rely on, checked once more on another road than the checksums."""
        n, offsets = len(self.trigrams), self.offsets
        sound = len(offsets) == n + 1 and len(self.frequency) == n
        if sound and n:
            sound = bool(
                (self.trigrams[1:] > self.trigrams[:-1]).all()
                and self.trigrams[-1] < 1 << 24
                and (offsets[1:] >= offsets[:-1]).all()
            )
        if not sound or int(offsets[-1]) != len(self.postings.values):
            raise errors.IndexCorrupt(f"the trigram table of {self.folder} is not in order")
        block_file = self.blocks.numbers("file")
        if len(block_file) and not (
            int(block_file[-1]) < self.files.rows and (block_file[1:] >= block_file[:-1]).all()
        ):
            raise errors.IndexCorrupt(f"the block table of {self.folder} is not in order")

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """Map a small column, verified."""
        return column.load(self.folder / f"{name}.npy", self.facts["columns"][name])

    def table(self, name: str, schema: layout.Schema) -> Table:
        """Map a table, verified."""
        return Table(self.folder / f"{name}.arrow", self.facts["tables"][name], schema)

    def postings_of(self, trigram: int) -> tuple[int, int, int]:
        """(begin, end, blocks) of a trigram's list in `postings`, verified; (0, 0, 0) if absent."""
        # A plain int would make NumPy convert the whole column first.
        at = int(np.searchsorted(self.trigrams, np.uint32(trigram)))
        if at == len(self.trigrams) or self.trigrams[at] != trigram:
            return 0, 0, 0
        begin, end = int(self.offsets[at]), int(self.offsets[at + 1])
        self.postings.verify(begin, end)
        return begin, end, int(self.frequency[at])

    def size_bytes(self) -> int:
        """Bytes the segment takes on disk."""
        with os.scandir(self.folder) as entries:
            return sum(entry.stat().st_size for entry in entries)


def _describe(folder: Path, digest: str) -> dict[str, Any]:
    try:
        data = (folder / layout.SEGMENT_JSON).read_bytes()
    except OSError as error:
        raise errors.IndexCorrupt(f"cannot read {folder}: {error.strerror}") from error
    if xxhash.xxh3_64_hexdigest(data) != digest:
        raise errors.IndexCorrupt(f"checksum mismatch in {folder / layout.SEGMENT_JSON}")
    described: dict[str, Any] = json.loads(data)
    return described
