"""Reads JSON from files that agents append to. A line may be torn, huge or malformed."""

from __future__ import annotations

import codecs
import errno
import json
import os
import re
import stat
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from triseek.agents.payloads.fields import Fields
from triseek.model.conversation import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_MAX = 32 << 20
"""Bytes. A longer line is skipped, and so is a larger document: either takes three times its size
in memory."""
_SMALL = 1 << 20
"""Bytes of JSON whose values always find room."""
_ROOM, _ROOM_PER_BYTE = 64 << 20, 3
"""Bytes that the values of a larger JSON text may take, and more for each byte of it."""
_CONTAINER, _ITEM = 150, 40
"""Bytes that a list or an object takes, and an item of one, about; text may have such characters,
too, but never so many."""
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Row(NamedTuple):
    """One line of a file."""

    start: int
    """Offset of its first byte. It does not change when the file grows."""
    end: int
    """Offset of the first byte after its newline: where a later read goes on."""
    value: Fields | Unreadable
    """The object, or why there is none."""


def rows(path: str, offset: int = 0, *, without: tuple[bytes, ...] = ()) -> Iterator[Row]:
    """Yield the lines of a file from the start of a line on, without blank ones.

    without: Beginnings of lines that are not wanted: they are not parsed.

    A last line without a newline is left out: it may be half written. Invalid UTF-8 and lone
    surrogates are replaced, so that every text can be encoded.

    Raises:
        OSError: The file cannot be read, or is not a regular file.
    """
    with opened(path) as file:
        file.seek(offset)
        yield from rows_of(file, offset, without=without)


def rows_of(file: BinaryIO, offset: int, *, without: tuple[bytes, ...] = ()) -> Iterator[Row]:
    """Yield the lines of an open file from its position on, which is this offset. As `rows`."""
    for start, end, line in lines(file, offset):
        if line is not None and line.startswith(without):
            continue
        value = too_long(start) if line is None else parsed_line(line, f"byte {start}")
        if value is not None:
            yield Row(start, end, value)


def lines(file: BinaryIO, offset: int = 0) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield start, end and bytes of each complete line; None in place of one that is too long."""
    start = offset
    while line := file.readline(LINE_MAX + 1):
        length = len(line)
        is_long = length > LINE_MAX
        while not line.endswith(b"\n"):
            line = file.readline(LINE_MAX)
            if not line:
                return
            length += len(line)
        yield start, start + length, None if is_long else line
        start += length


def too_long(start: int) -> Unreadable:
    """Return the record of a line that is longer than `LINE_MAX`."""
    return Unreadable(where=f"byte {start}", reason=f"line longer than {LINE_MAX >> 20} MiB")


def parsed_line(line: bytes, where: str) -> Fields | Unreadable | None:
    """Return the object that a line holds, or why it holds none; None if the line is blank."""
    line = line.strip(b" \t\r\n\0")
    if not line:
        return None
    value = parsed(line, where)
    if isinstance(value, (dict, Unreadable)):
        return value if isinstance(value, Unreadable) else Fields(value)
    return Unreadable(where=where, reason="not a JSON object")


def document(path: str, most: int = LINE_MAX) -> object:
    """Return the JSON value of a whole file, or an `Unreadable`.

    Args:
        path: The file.
        most: Bytes; a larger file is not read.

    Raises:
        OSError: The file cannot be read, or is not a regular file.
    """
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        return Unreadable(where="file", reason=f"larger than {most >> 20} MiB")
    return parsed(data, "file")


def parsed(data: bytes, where: str) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return the JSON value in some bytes, or an `Unreadable`."""
    if _grows(data):
        return Unreadable(where=where, reason="too many values")
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    try:
        value = json.loads(text)
        return _encodable(value) if _ESCAPED_SURROGATE.search(text) else value
    except RecursionError:
        return Unreadable(where=where, reason="JSON nested too deeply")
    except ValueError:
        return Unreadable(where=where, reason="not valid JSON")


def _grows(data: bytes) -> bool:
    """Return whether the values of a JSON text would take far more memory than the text."""
    if len(data) <= _SMALL:
        return False
    containers = data.count(b"[") + data.count(b"{")
    size = containers * _CONTAINER + data.count(b",") * _ITEM
    return size > _ROOM + _ROOM_PER_BYTE * len(data)


def opened(path: str) -> BinaryIO:
    """Open a regular file for reading, without following a link and without waiting.

    Raises:
        OSError: It cannot be opened, or is something else.
    """
    try:
        file = open(path, "rb", opener=_open)  # noqa: SIM115 - the caller closes it
    except ValueError:  # a NUL in the path
        raise OSError(errno.EINVAL, "invalid path", path) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", path)
    return file


def _open(path: str, _: int) -> int:
    return os.open(path, _FLAGS)


def _encodable(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return a JSON value whose texts have no lone surrogates."""
    if isinstance(value, str):
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(name): _encodable(item) for name, item in value.items()}
    return value
