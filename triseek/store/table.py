"""Tables: memory-mapped Arrow IPC files. Only this module and `stats.export` import pyarrow.

A table is mapped when it is opened and verified when it is first read, before pyarrow sees a byte
of it, so the time to open does not depend on its size. Its columns are returned as NumPy arrays
over the mapping.
"""

from __future__ import annotations

import itertools
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypedDict

import numpy as np
import pyarrow as pa
import xxhash

from triseek import errors, private
from triseek.store import layout
from triseek.store.column import map_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Schema = layout.Schema

_MANY = 16
"""`StringColumn.take` makes objects of all names once more than one in this many is taken.

Such a caller is likely to take the others later."""


class TableEntry(TypedDict):
    """What `segment.json` says of a table."""

    rows: int
    size: int
    """Bytes of the file."""
    xxh3: str
    """Checksum of the file, in hexadecimal."""


def write(path: str | os.PathLike[str], schema: Schema, columns: Mapping[str, Any]) -> TableEntry:
    """Write a table durably and return its entry for `segment.json`.

    columns: one sequence per column of `schema`, all of one length: NumPy arrays for numbers,
    lists of bytes or str otherwise.
    """
    fields = pa.schema(
        [pa.field(name, pa.type_for_alias(kind), nullable=False) for name, kind in schema]
    )
    arrays = [pa.array(columns[field.name], type=field.type) for field in fields]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, fields) as writer:
        writer.write_batch(pa.record_batch(arrays, schema=fields))
    data = sink.getvalue()
    with open(path, "wb", opener=private.opener) as file:
        file.write(memoryview(data))
        file.flush()
        os.fsync(file.fileno())
    return {
        "rows": len(arrays[0]),
        "size": data.size,
        "xxh3": xxhash.xxh3_64_hexdigest(memoryview(data)),
    }


class Table:
    """A mapped table, shared by threads.

    Raises on creation:
        IndexCorrupt: the file is missing or has the wrong size.

    Raises when its columns are first read:
        IndexCorrupt: it is damaged.
    """

    def __init__(self, path: str | os.PathLike[str], entry: TableEntry, schema: Schema) -> None:
        self._path = path
        self._mapped = map_file(path, int(entry["size"]))
        self._digest: str = entry["xxh3"]
        self._names = [name for name, _ in schema]
        self.rows = int(entry["rows"])
        self._numbers: dict[str, np.ndarray[Any, Any]] = {}
        """Columns that were asked for. A search asks for some with each part of its work."""

    def verify(self) -> None:
        """Verify and parse the table; later calls do nothing."""
        _ = self._batch

    @cached_property
    def _batch(self) -> Any:  # noqa: ANN401 - a pyarrow.RecordBatch
        if xxhash.xxh3_64_hexdigest(self._mapped) != self._digest:
            raise errors.IndexCorrupt(f"checksum mismatch in {self._path}")
        try:
            # pyarrow reads a buffer in place; to read a file it would wait for another thread.
            batch = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(self._mapped))).get_batch(0)
        except (OSError, pa.ArrowInvalid) as error:
            raise errors.IndexCorrupt(f"cannot read {self._path}: {error}") from error
        if batch.schema.names != self._names or batch.num_rows != self.rows:
            raise errors.IndexCorrupt(f"{self._path} has not the columns that were written")
        return batch

    def numbers(self, name: str) -> np.ndarray[Any, Any]:
        """Return a column of numbers or booleans, read-only."""
        values = self._numbers.get(name)
        if values is None:
            values = self._batch.column(name).to_numpy(zero_copy_only=False)
            self._numbers[name] = values
        return values

    def names(self, name: str) -> StringColumn:
        """Return a column of byte strings."""
        return StringColumn(self._batch.column(name))

    def strings(self, name: str) -> list[str]:
        """Return a copy of a column of text."""
        values: list[str] = self._batch.column(name).to_pylist()
        return values


class StringColumn:
    """A column of byte strings, usually mapped: one blob and the offset of each string."""

    def __init__(self, array: Any) -> None:  # noqa: ANN401 - a pyarrow.BinaryArray
        _, offsets, data = array.buffers()
        rows = len(array)
        self.starts = np.frombuffer(offsets, np.int32, rows + 1).astype(np.int64)
        """int64[n + 1]"""
        size = int(self.starts[-1])
        self.blob = np.frombuffer(data, np.uint8, size) if size else np.zeros(1, np.uint8)[:0]
        """uint8: name i is blob[starts[i] : starts[i + 1]]"""
        self._bytes = self.blob.data.cast("B")

    @classmethod
    def of(cls, strings: Sequence[bytes]) -> Self:
        """Return a column of these strings, in memory."""
        return cls(pa.array(strings, pa.binary()))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> bytes:
        return bytes(self._bytes[self.starts[i] : self.starts[i + 1]])

    def take(self, numbers: Sequence[int] | np.ndarray[Any, Any]) -> list[bytes]:
        """Return the names with these numbers."""
        chosen = np.asarray(numbers, np.int64)
        if "_objects" not in self.__dict__ and len(chosen) * _MANY < len(self):
            begins, ends = self.starts[chosen].tolist(), self.starts[chosen + 1].tolist()
            view = self._bytes
            return [bytes(view[b:e]) for b, e in zip(begins, ends, strict=True)]
        taken: list[bytes] = self._objects[chosen].tolist()
        return taken

    def all(self) -> list[bytes]:
        """Return every name, in order."""
        names: list[bytes] = self._objects.tolist()
        return names

    @cached_property
    def _objects(self) -> np.ndarray[Any, Any]:
        """Every name as a `bytes` object. Made once; returning them is 50 times cheaper."""
        edges, view = self.starts.tolist(), bytes(self._bytes)
        objects = np.empty(len(self), object)
        objects[:] = [view[b:e] for b, e in itertools.pairwise(edges)]
        return objects
