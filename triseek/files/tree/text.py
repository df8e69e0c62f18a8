"""Decoding: turn the bytes of a file into the text that is searched, or find that it is binary.

As in ripgrep, a byte order mark decides and is not part of the text. A UTF-8 mark is removed;
UTF-16 is transcoded to UTF-8, with U+FFFD for invalid sequences; all other files are searched as
raw bytes. Text that holds a NUL byte is binary, which includes UTF-32 and UTF-16 without a mark.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Encoding: TypeAlias = Literal["utf-8", "utf-8-bom", "utf-16-le", "utf-16-be"]

MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""The byte order marks: of UTF-8, UTF-16-LE and UTF-16-BE."""

BUFFER_BYTES = 1 << 16
"""Bytes of a file that ripgrep reads at a time, if no line is longer."""
FIRST_READ = 3
"""Bytes that ripgrep reads first, if they are not a byte order mark."""
STDIN_READ = 1 << 13
"""Bytes of standard input that ripgrep's first read returns."""
TRANSCODED_READ = 1 << 13
"""Bytes of UTF-16 that ripgrep reads at a time."""


class Text(NamedTuple):
    """A file's text as it is searched."""

    data: bytes
    offset_base: int
    """Offset of `data` in the file, if `data` is not transcoded."""
    encoding: Encoding
    """`utf-8` stands for every file without a byte order mark, whatever its content."""


def decode(data: bytes, *, binary: bool = False) -> Text | None:
    """Decode a whole file's bytes; `None` if they are binary, unless `binary` is set."""
    text = decode_all(data)
    return text if binary or not is_binary(text.data) else None


def is_binary(text: bytes) -> bool:
    """Return whether text holds a NUL byte. UTF-16 must be transcoded first."""
    return b"\0" in text


def shown_of_binary(text: Text) -> bytes | None:
    """Return the part of a binary file that ripgrep may show lines of; None if it shows none.

    This is for files found in a folder. ripgrep never shows a line from the buffer that it read
    together with the first NUL (see `engine.search.backends.binary`). So a NUL in the first buffer
    leaves nothing, unless the first read (three bytes, or a piece of UTF-16) ended a line.
    """
    data, nul = text.data, text.data.find(b"\0")
    first = TRANSCODED_READ // 2 if text.encoding.startswith("utf-16") else BUFFER_BYTES
    first_read_ends_a_line = text.encoding == "utf-8" and b"\n" in data[:FIRST_READ]
    if nul >= first or (first_read_ends_a_line and nul >= FIRST_READ):
        return data[:nul]
    return None


def has_mark(data: bytes) -> bool:
    """Return whether data (three bytes or more) begins with a byte order mark: needs `decode`."""
    return data.startswith(MARKS)


def decode_all(data: bytes) -> Text:
    """Decode a whole file's bytes, binary or not."""
    mark = data[:2]
    if mark == b"\xff\xfe":
        return Text(_transcode(data, "utf-16-le"), 0, "utf-16-le")
    if mark == b"\xfe\xff":
        return Text(_transcode(data, "utf-16-be"), 0, "utf-16-be")
    if data.startswith(MARKS[0]):
        return Text(data[3:], 3, "utf-8-bom")
    return Text(data, 0, "utf-8")


def _transcode(data: bytes, encoding: Literal["utf-16-le", "utf-16-be"]) -> bytes:
    """Transcode UTF-16 to UTF-8. Like ripgrep, remove a second mark too, but not a third."""
    body = data[2:]
    if body[:2] == data[:2]:
        body = body[2:]
    return body.decode(encoding, "replace").encode()
