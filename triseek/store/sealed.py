"""Small JSON files with a checksum, for data that may be lost but must not be read when damaged.

The file is one JSON document, `{"xxh3": "<16 hex digits>", "body": …}`; the checksum is of the
body's bytes as they are in the file. It detects damage, not malice: the reader must validate every
value as well.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import xxhash

from triseek import errors, private
from triseek.store import atomic

_HEAD = b'{"xxh3":"%s","body":'
_HEAD_BYTES = len(_HEAD % (b"0" * 16))
_TAIL = b"}\n"


def write(path: str | os.PathLike[str], body: Any) -> None:  # noqa: ANN401 - whatever JSON can say
    """Replace the file at `path` with `body` and its checksum; creates the folder.

    Raises:
        StateUnwritable: the folder or the file cannot be written.
    """
    text = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
    data = _HEAD % xxhash.xxh3_64_hexdigest(text).encode() + text + _TAIL
    try:
        private.make(Path(path).parent)
        _write(path, data)
    except OSError as error:
        raise errors.StateUnwritable(f"cannot write {path}: {error.strerror}") from error


def read(path: str | os.PathLike[str], *, most_bytes: int) -> Any:  # noqa: ANN401 - JSON
    """Return the file's body; None if it is missing, too large, unreadable or damaged."""
    try:
        with Path(path).open("rb") as file:
            if os.fstat(file.fileno()).st_size > most_bytes:
                return None
            data = file.read(most_bytes + 1)
        text = data[_HEAD_BYTES : -len(_TAIL)]
        if data != _HEAD % xxhash.xxh3_64_hexdigest(text).encode() + text + _TAIL:
            return None
        return json.loads(text)
    except (OSError, ValueError, RecursionError):  # RecursionError: brackets without end
        return None


def with_checksum(body: bytes) -> bytes:
    """Return a line of JSON and the line of its checksum, as in `CURRENT`."""
    return body + b"\n" + xxhash.xxh3_64_hexdigest(body).encode() + b"\n"


def split_checksum(data: bytes) -> tuple[bytes, bool]:
    """Return the first line of such a file, and whether the checksum is right."""
    body, _, digest = data.rstrip(b"\n").partition(b"\n")
    return body, xxhash.xxh3_64_hexdigest(body).encode() == digest


def _write(path: str | os.PathLike[str], data: bytes) -> None:
    try:
        atomic.write(path, data)
    except FileNotFoundError:  # an index writer's `manifest.sweep` removed the partial file
        atomic.write(path, data)
