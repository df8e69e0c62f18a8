"""One mapped column: a flat array in NumPy's own `.npy` format.

`np.load` reads these files, so anybody can look at an index. A column is written in pieces (a
posting column is larger than the memory a build may use), with its digest taken on the way, and
it is opened only after its length and digest were compared with what the segment says of it.
Paged columns have one digest per page instead, in a column of the segment's own, and are verified
page by page when first touched: opening does not depend on their size, and no byte is believed
unverified.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import xxhash

from triseek import errors, private
from triseek.store.mapping import mapped

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

PAGE_BYTES = 1 << 16
"""Unit of verification of paged columns."""
_HEADER_BYTES = 128


class ColumnWriter:
    """Write a column of known dtype piece by piece; `close` returns what the segment records.

    pages: where the digests of a paged column are appended when it is closed; None for a column
    with one digest.
    """

    def __init__(
        self, path: str | os.PathLike[str], dtype: DTypeLike, *, pages: list[int] | None = None
    ) -> None:
        self._dtype = np.dtype(dtype)
        self._file = open(path, "wb", opener=private.opener)  # noqa: SIM115 - see `close`
        self._length = 0
        self._all_pages = pages
        self._digest = xxhash.xxh3_64()
        self._pages: list[int] = []
        self._pending = b""
        # The header's size does not depend on the length it will hold.
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

    def close(self) -> dict[str, Any]:
        """Finish the file, durably; its entry for `segment.json`."""
        if self._pending:
            self._pages.append(xxhash.xxh3_64_intdigest(self._pending))
        self._file.seek(0)
        self._file.write(_header(self._dtype, self._length))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        entry: dict[str, Any] = {"dtype": self._dtype.str, "length": self._length}
        if self._all_pages is None:
            entry["xxh3"] = self._digest.hexdigest()
        else:
            entry["first_page"] = len(self._all_pages)
            self._all_pages.extend(self._pages)
        return entry

    def abort(self) -> None:
        """Close the file without finishing it."""
        self._file.close()

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
    path: str | os.PathLike[str],
    values: np.ndarray[Any, Any],
    dtype: DTypeLike,
    *,
    pages: list[int] | None = None,
) -> dict[str, Any]:
    """Write a whole column durably and return its entry for `segment.json`."""
    writer = ColumnWriter(path, dtype, pages=pages)
    try:
        writer.append(values)
    except BaseException:
        writer.abort()
        raise
    return writer.close()


def load(path: str | os.PathLike[str], entry: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Map a column read-only after verifying all of it.

    Raises:
        IndexCorrupt: the file is missing, cut short or not what was written.
    """
    values = _map(path, entry)
    if xxhash.xxh3_64_hexdigest(values.data.cast("B")) != entry["xxh3"]:
        raise errors.IndexCorrupt(f"checksum mismatch in {path}")
    return values


class PagedColumn:
    """A mapped column whose pages are verified when they are first asked for.

    pages: uint64, the digests of all paged columns of the segment, verified.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        entry: dict[str, Any],
        pages: np.ndarray[Any, Any],
    ) -> None:
        self._path = path
        self.values = _map(path, entry)
        """The whole column; believe only stretches that `verify` has passed."""
        self._bytes = self.values.data.cast("B")
        self._pages = _page_digests(path, entry, pages, len(self._bytes))
        self._verified = bytearray(len(self._pages))

    def __len__(self) -> int:
        return len(self.values)

    def verify(self, begin: int, end: int) -> None:
        """Make sure that values begin..end-1 are what was written.

        Raises:
            IndexCorrupt: they are not, naming the file and the offset of the page.
        """
        width = self.values.itemsize
        for page in range(begin * width // PAGE_BYTES, -(-end * width // PAGE_BYTES)):
            if not self._verified[page]:
                self._verify_page(page)

    def release(self) -> None:
        """Let go of the memory that reading it has filled; what is read again comes from disk."""
        mapping = getattr(self.values.base, "obj", None)
        if isinstance(mapping, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapping.madvise(mmap.MADV_DONTNEED)

    def whole(self) -> np.ndarray[Any, Any]:
        """The column, all of it verified."""
        self.verify(0, len(self.values))
        return self.values

    def verify_all(self) -> None:
        """Walk every page, also those verified before."""
        for page in range(len(self._pages)):
            self._verify_page(page)

    def _verify_page(self, page: int) -> None:
        at = page * PAGE_BYTES
        if xxhash.xxh3_64_intdigest(self._bytes[at : at + PAGE_BYTES]) != int(self._pages[page]):
            raise errors.IndexCorrupt(f"checksum mismatch in {self._path} at byte {at}")
        self._verified[page] = 1


def _page_digests(
    path: object, entry: dict[str, Any], pages: np.ndarray[Any, Any], size: int
) -> np.ndarray[Any, Any]:
    first, count = int(entry["first_page"]), -(-size // PAGE_BYTES)
    if not 0 <= first <= first + count <= len(pages):
        raise errors.IndexCorrupt(f"wrong number of page checksums for {path}")
    return pages[first : first + count]


def _map(path: str | os.PathLike[str], entry: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Map the file, whose size and header must be exactly those of its entry."""
    dtype, length = np.dtype(entry["dtype"]), int(entry["length"])
    data = mapped(path, _HEADER_BYTES + length * dtype.itemsize)
    if data[:_HEADER_BYTES] != _header(dtype, length):
        raise errors.IndexCorrupt(f"{path} is not the column that was written (header)")
    if length == 0:
        return np.empty(0, dtype)
    return np.frombuffer(data, dtype, length, _HEADER_BYTES)


def _header(dtype: np.dtype[Any], length: int) -> bytes:
    """What `np.lib.format.write_array_header_1_0` writes, which takes ten times as long."""
    said = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({length},), }}"
    return (
        b"\x93NUMPY\x01\x00"
        + struct.pack("<H", _HEADER_BYTES - 10)
        + said.encode().ljust(_HEADER_BYTES - 11)
        + b"\n"
    )
