"""A strict reader of gzipped tars, with limits: yields the files of a pack, one after the other.

Python's `tarfile` reads every dialect: sparse files, headers that rename what follows them, sizes
below zero (CVE-2025-8194 is an endless loop), chains of headers as deep as its stack. A pack needs
none of it. This reader accepts one gzip member with regular files and the folders that hold them,
with names in the form of ustar, pax (`path`) or GNU (`L`). It refuses everything else, reads
nothing that was not announced, and keeps nothing that is too large.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK = 512
NAME_MAX = 1_024
"""Maximum bytes of a header that only holds a name."""

_PIECE = 1 << 16
_GZIP = 31
_REGULAR, _FOLDER, _PAX, _LONG_NAME = (b"0", b"\0"), b"5", b"x", b"L"
_OCTAL = re.compile(rb" *([0-7]+)[ \0]*")
_RECORD = re.compile(rb"([1-9][0-9]{0,3}) ([^=\n]{1,100})=", re.ASCII)
_POSIX, _GNU = b"ustar\x0000", b"ustar  \x00"
_IDLE = ("mtime", "atime", "ctime", "uid", "gid", "uname", "gname")
"""Keywords of pax headers that are ignored; other tar programs write them."""
_IDLE_FAMILIES = ("SCHILY.", "LIBARCHIVE.")


class Header(NamedTuple):
    """The header of the file that follows it."""

    name: str
    kind: bytes
    size: int


def files(
    file: BinaryIO, most_bytes: int, most_files: int, limit: Callable[[str], int]
) -> Iterator[tuple[str, bytes]]:
    """Yield every regular file, with its name as the archive has it.

    Args:
        file: The gzip file, from its beginning.
        most_bytes: Maximum size of the archive, unpacked, its headers included.
        most_files: Maximum number of files and folders together.
        limit: Returns the maximum size of a file of this name, before any of it is read; for a
            folder, whose name ends with `/`, any number. Raises `ValueError` for a name that does
            not belong.

    Raises:
        ValueError: It is not such an archive, or it exceeds a limit.
        OSError: It cannot be read.
    """
    stream = _Unzipped(file, most_bytes)
    for count, header in enumerate(_headers(stream), 1):
        if count > most_files:
            raise ValueError(f"more than {most_files} files")
        if header.kind == _FOLDER:
            limit(header.name.removesuffix("/") + "/")
            continue
        if header.size > limit(header.name):
            raise ValueError(f"{header.name!r:.80} is too large")
        yield header.name, _content(stream, header.size)
    stream.finish()


def _headers(stream: _Unzipped) -> Iterator[Header]:
    """Yield the headers of files and folders, up to the end of the archive."""
    while any(block := stream.read(BLOCK)):
        header, name = _header(block), None
        if header.kind in (_PAX, _LONG_NAME):
            if not 0 < header.size <= NAME_MAX:
                raise ValueError("a header is too large")
            header_text = _content(stream, header.size)
            name = (
                _pax_name(header_text)
                if header.kind == _PAX
                else _text(header_text.removesuffix(b"\0"))
            )
            header = _header(stream.read(BLOCK))
        if header.kind not in (*_REGULAR, _FOLDER) or (header.kind == _FOLDER and header.size):
            raise ValueError(f"{header.name!r:.80} is no regular file")
        yield header if name is None else header._replace(name=name)


def _header(block: bytes) -> Header:
    checksum = _number(block[148:156])
    if checksum != sum(block) - sum(block[148:156]) + 8 * ord(" "):
        raise ValueError("a header of the archive is damaged")
    magic = block[257:265]
    if magic not in (_POSIX, _GNU):
        raise ValueError("it is no tar archive that packs are made as")
    name = _text(_ended(block[:100]))
    prefix = _text(_ended(block[345:500])) if magic == _POSIX else ""
    kind = block[156:157]
    if any(block[157:257]) and kind in (*_REGULAR, _FOLDER):
        raise ValueError(f"{name!r:.80} is no regular file")
    return Header(f"{prefix}/{name}" if prefix else name, kind, _number(block[124:136]))


def _number(field: bytes) -> int:
    """Read an octal number; refuse the larger ones that some tar programs write in binary."""
    found = _OCTAL.fullmatch(field)
    if found is None:
        raise ValueError("a number in a header of the archive is none")
    return int(found[1], 8)


def _ended(field: bytes) -> bytes:
    """Return a field up to its NUL; refuse one with data after that."""
    text, _, rest = field.partition(b"\0")
    if any(rest):
        raise ValueError("a name in the archive goes on behind its end")
    return text


def _text(name: bytes) -> str:
    if b"\0" in name:
        raise ValueError("a name in the archive goes on behind its end")
    return name.decode("utf-8")


def _pax_name(header_text: bytes) -> str | None:
    """Return the name that a pax header gives to the file after it; None if it gives none."""
    name = None
    while header_text:
        found = _RECORD.match(header_text)
        size = int(found[1]) if found else 0
        if found is None or size <= found.end() or header_text[size - 1 : size] != b"\n":
            raise ValueError("a header of the archive is damaged")
        keyword, value = found[2].decode("utf-8"), header_text[found.end() : size - 1]
        header_text = header_text[size:]
        if keyword == "path" and name is None:
            name = _text(value)
        elif keyword not in _IDLE and not keyword.startswith(_IDLE_FAMILIES):
            raise ValueError(f"a header of the archive says {keyword!r:.80}")
    return name


def _content(stream: _Unzipped, size: int) -> bytes:
    content = stream.read(size)
    stream.read(-size % BLOCK)
    return content


class _Unzipped:
    """The archive as a stream of bytes; it holds little more in memory than is requested."""

    def __init__(self, file: BinaryIO, most_bytes: int) -> None:
        self._file, self._most = file, most_bytes
        self._room = most_bytes
        self._zip = zlib.decompressobj(wbits=_GZIP)
        self._held = bytearray()

    def read(self, size: int) -> bytes:
        """Return exactly `size` bytes."""
        while len(self._held) < size:
            piece = self._more()
            if not piece:
                raise ValueError("it ends too early")
            self._held += piece
        data = bytes(self._held[:size])
        del self._held[:size]
        return data

    def finish(self) -> None:
        """Check that nothing but the zeros of the last block follows."""
        while not any(self._held):
            self._held[:] = self._more()
            if not self._held:
                if self._zip.unused_data or self._file.read(1):
                    break
                return
        raise ValueError("something follows the archive's end")

    def _more(self) -> bytes:
        """Return the next piece; b"" at the end."""
        while not self._zip.eof:
            packed = self._zip.unconsumed_tail or self._file.read(_PIECE)
            try:
                piece = self._zip.decompress(packed, _PIECE)
            except zlib.error as error:
                raise ValueError("it is no gzip file, or a damaged one") from error
            self._room -= len(piece)
            if self._room < 0:
                raise ValueError(f"unpacks to more than {self._most >> 20} MiB")
            if piece:
                return piece
            if not packed:
                raise ValueError("it ends too early")
        return b""
