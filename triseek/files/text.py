"""What the bytes of a file mean: text in which encoding, or no text at all.

As ripgrep: a byte order mark decides and is not part of the text. UTF-8's is taken off; UTF-16
is transcoded to UTF-8, what is no character becoming U+FFFD; everything else is searched as the
bytes it is. Text that holds a NUL byte is binary, which catches UTF-32 and UTF-16 without mark.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from triseek.query.filetypes import language_of

Encoding: TypeAlias = Literal["utf-8", "utf-8-bom", "utf-16-le", "utf-16-be"]

_UTF8_BOM = b"\xef\xbb\xbf"

BUFFER_BYTES = 1 << 16
"""What ripgrep reads of a file at a time, if no line is longer."""
FIRST_READ = 3
"""Bytes it reads first, where they are no byte order mark."""
STDIN_READ = 1 << 13
"""Bytes of standard input that reach it first."""
TRANSCODED_READ = 1 << 13
"""Bytes of UTF-16 it reads at a time."""


class Text(NamedTuple):
    """A file's text as it is searched."""

    data: bytes
    offset_base: int
    """Bytes of the file before `data` begins, where `data` are the file's own bytes."""
    encoding: Encoding
    """`utf-8` stands for every file without a byte order mark, whatever is in it."""


def decode(data: bytes, *, binary: bool = False) -> Text | None:
    """Read a whole file's bytes; `None` if it is binary and `binary` was not asked for."""
    text = decode_all(data)
    return text if binary or not is_binary(text.data) else None


def is_binary(text: bytes) -> bool:
    """Whether text, any UTF-16 transcoded before, holds a NUL byte."""
    return b"\0" in text


def shown_of_binary(text: Text) -> bytes | None:
    """What ripgrep may show of a file in a folder whose text holds a NUL; None if it is nothing.

    It never shows a line of what it read together with the first NUL (see
    `engine.backends.binary`); so a NUL in the first buffer leaves nothing, unless the first read,
    of three bytes or of a piece of UTF-16, ended a line.
    """
    data, nul = text.data, text.data.find(b"\0")
    first = TRANSCODED_READ // 2 if text.encoding.startswith("utf-16") else BUFFER_BYTES
    first_read_ends_a_line = text.encoding == "utf-8" and b"\n" in data[:FIRST_READ]
    if nul >= first or (first_read_ends_a_line and nul >= FIRST_READ):
        return data[:nul]
    return None


def has_mark(data: bytes) -> bool:
    """Whether a file that begins with these (three or more) bytes needs `decode`."""
    return data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:3] == _UTF8_BOM


def language(path: bytes) -> str:
    """The ripgrep type a file counts as, else its extension, else an empty string."""
    return language_of(path.rpartition(b"/")[2])


def decode_all(data: bytes) -> Text:
    """Read a whole file's bytes, binary or not."""
    mark = data[:2]
    if mark == b"\xff\xfe":
        return Text(_transcode(data, "utf-16-le"), 0, "utf-16-le")
    if mark == b"\xfe\xff":
        return Text(_transcode(data, "utf-16-be"), 0, "utf-16-be")
    if data[:3] == _UTF8_BOM:
        return Text(data[3:], 3, "utf-8-bom")
    return Text(data, 0, "utf-8")


def _transcode(data: bytes, encoding: Literal["utf-16-le", "utf-16-be"]) -> bytes:
    """UTF-16 to UTF-8. ripgrep takes off a second mark, too, but not a third."""
    body = data[2:]
    if body[:2] == data[:2]:
        body = body[2:]
    return body.decode(encoding, "replace").encode()
