"""Columns: flat arrays in NumPy's `.npy` format, memory-mapped for reading.

`np.load` reads these files, so an index can be inspected with NumPy. A column is written in pieces
(a posting column is larger than the memory a build may use), and its digest is computed on the
way. It is opened only after its length and digest were compared with its entry in the segment.
Paged columns have one digest per page instead, in a separate column of the segment. Each page is
verified when it is first used: the time to open does not depend on the size, and no byte is used
unverified.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, Self, TypedDict

import numpy as np
import xxhash

from triseek import errors, private

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

PAGE_BYTES = 1 << 16
"""Unit of verification of paged columns."""
_HEADER_BYTES = 128


class ColumnEntry(TypedDict):
    """What `segment.json` says of a column; it has either `xxh3` or `first_page`."""

    dtype: str
    length: int
    xxh3: NotRequired[str]
    """Checksum of all values, in hexadecimal."""
    first_page: NotRequired[int]
    """Where the checksums of its pages begin in the column of page checksums."""


class ColumnWriter:
    """Writes a column of known dtype piece by piece, in a `with` block that finishes it durably.

    pages: the list to which the end of the block appends the page digests of a paged column; None
    for a column with one digest.
    """

    entry: ColumnEntry
    """The column's entry for `segment.json`; set at the end of the block, unless it raises."""

    def __init__(
        self, path: str | os.PathLike[str], dtype: DTypeLike, *, pages: list[int] | None = None
    ) -> None:
        self._dtype = np.dtype(dtype)
        self._file = open(path, "wb", opener=private.opener)  # noqa: SIM115 - see `__exit__`
        self._length = 0
        self._all_pages = pages
        self._digest = xxhash.xxh3_64()
        self._pages: list[int] = []
        self._pending = b""
        # The header's size does not depend on the length written in it.
        self._file.write(_header(self._dtype, 0))

    def append(self, values: np.ndarray[Any, Any]) -> None:
        """Add values (cast safely to the column's dtype) at the end."""
        data = np.ascontiguousarray(values, self._dtype).data.cast("B")
        self._file.write(data)
        self._length += len(values)
        if self._all_pages is not None:
            self._add_pages(bytes(data))
        else:
            self._digest.update(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._file:
            if kind is None:
                self.entry = self._finish()

    def _finish(self) -> ColumnEntry:
        if self._pending:
            self._pages.append(xxhash.xxh3_64_intdigest(self._pending))
        self._file.seek(0)
        self._file.write(_header(self._dtype, self._length))
        self._file.flush()
        os.fsync(self._file.fileno())
        entry: ColumnEntry = {"dtype": self._dtype.str, "length": self._length}
        if self._all_pages is None:
            entry["xxh3"] = self._digest.hexdigest()
        else:
            entry["first_page"] = len(self._all_pages)
            self._all_pages.extend(self._pages)
        return entry

    def _add_pages(self, data: bytes) -> None:
        data = self._pending + data
        whole = len(data) - len(data) % PAGE_BYTES
        view = memoryview(data)
        self._pages.extend(
            xxhash.xxh3_64_intdigest(view[at : at + PAGE_BYTES])
            for at in range(0, whole, PAGE_BYTES)
        )
        self._pending = data[whole:]


def write(
    path: str | os.PathLike[str], values: np.ndarray[Any, Any], dtype: DTypeLike
) -> ColumnEntry:
    """Write a whole column durably, with one digest, and return its entry for `segment.json`."""
    with ColumnWriter(path, dtype) as writer:
        writer.append(values)
    return writer.entry


def load(path: str | os.PathLike[str], entry: ColumnEntry) -> np.ndarray[Any, Any]:
    """Map a column read-only after verifying all of it.

    Raises:
        IndexCorrupt: the file is missing, truncated or damaged.
    """
    values = _map(path, entry)
    if xxhash.xxh3_64_hexdigest(values.data.cast("B")) != entry["xxh3"]:
        raise errors.IndexCorrupt(f"checksum mismatch in {path}")
    return values


class PagedColumn:
    """A mapped column whose pages are verified on first use.

    pages: uint64, the digests of all paged columns of the segment, already verified.
    """

    def __init__(
        self, path: str | os.PathLike[str], entry: ColumnEntry, pages: np.ndarray[Any, Any]
    ) -> None:
        self._path = path
        self.values = _map(path, entry)
        """The whole column. Use only ranges that `verify` has checked."""
        self._bytes = self.values.data.cast("B")
        first, count = int(entry["first_page"]), -(-len(self._bytes) // PAGE_BYTES)
        if not 0 <= first <= first + count <= len(pages):
            raise errors.IndexCorrupt(f"wrong number of page checksums for {path}")
        self._pages = pages[first : first + count]
        self._verified = bytearray(len(self._pages))

    def __len__(self) -> int:
        return len(self.values)

    def verify(self, begin: int, end: int) -> None:
        """Verify the pages that hold the values begin..end-1.

        Raises:
            IndexCorrupt: a checksum does not match; names the file and the offset of the page.
        """
        width = self.values.itemsize
        for page in range(begin * width // PAGE_BYTES, -(-end * width // PAGE_BYTES)):
            if not self._verified[page]:
                self._verify_page(page)

    def release(self) -> None:
        """Release the resident pages of the mapping; later reads load them from disk again."""
        mapping = getattr(self.values.base, "obj", None)
        if isinstance(mapping, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapping.madvise(mmap.MADV_DONTNEED)

    def whole(self) -> np.ndarray[Any, Any]:
        """Verify and return the whole column."""
        self.verify(0, len(self.values))
        return self.values

    def verify_all(self) -> None:
        """Verify every page, including those verified before."""
        for page in range(len(self._pages)):
            self._verify_page(page)

    def _verify_page(self, page: int) -> None:
        at = page * PAGE_BYTES
        if xxhash.xxh3_64_intdigest(self._bytes[at : at + PAGE_BYTES]) != int(self._pages[page]):
            raise errors.IndexCorrupt(f"checksum mismatch in {self._path} at byte {at}")
        self._verified[page] = 1


class MemoryColumn:
    """A column without a file, which is written and read as the others are.

    Written in a `with` block; read after it.
    """

    values: np.ndarray[Any, Any]
    """The whole column, read-only."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._pieces: list[np.ndarray[Any, Any]] = []

    def append(self, values: np.ndarray[Any, Any]) -> None:
        """Add values (cast safely to the column's dtype) at the end; they are copied."""
        self._pieces.append(np.array(values, self._dtype))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.values = np.concatenate([np.empty(0, self._dtype), *self._pieces])
        self.values.flags.writeable = False
        self._pieces.clear()

    def __len__(self) -> int:
        return len(self.values)

    def whole(self) -> np.ndarray[Any, Any]:
        """Return the whole column."""
        return self.values

    def verify(self, begin: int, end: int) -> None:
        """Do nothing: no file can be damaged."""

    def release(self) -> None:
        """Do nothing: no file can be read again."""


def map_file(path: str | os.PathLike[str], size: int) -> mmap.mmap:
    """Map a file of `size` bytes, read-only, without reading a byte; `size` must not be 0.

    The mapping outlives the file's name: a writer may unlink the file while a reader uses it.

    Raises:
        IndexCorrupt: it cannot be read, or has another size.
    """
    try:
        with Path(path).open("rb", buffering=0) as file:
            actual = os.fstat(file.fileno()).st_size
            if actual == size > 0:
                return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except OSError as error:
        raise errors.IndexCorrupt(f"cannot read {path}: {error.strerror}") from error
    raise errors.IndexCorrupt(f"{path} has {actual} bytes; {size} were written")


def _map(path: str | os.PathLike[str], entry: ColumnEntry) -> np.ndarray[Any, Any]:
    """Map the file. Its size and header must match its entry exactly."""
    dtype, length = np.dtype(entry["dtype"]), int(entry["length"])
    data = map_file(path, _HEADER_BYTES + length * dtype.itemsize)
    if data[:_HEADER_BYTES] != _header(dtype, length):
        raise errors.IndexCorrupt(f"{path} is not the column that was written (header)")
    if length == 0:
        return np.empty(0, dtype)
    return np.frombuffer(data, dtype, length, _HEADER_BYTES)


def _header(dtype: np.dtype[Any], length: int) -> bytes:
    """Return the header that `np.lib.format.write_array_header_1_0` writes, ten times faster."""
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({length},), }}"
    size = struct.pack("<H", _HEADER_BYTES - 10)
    return b"\x93NUMPY\x01\x00" + size + text.encode().ljust(_HEADER_BYTES - 11) + b"\n"
