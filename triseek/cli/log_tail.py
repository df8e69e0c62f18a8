"""Read the end of a log file and follow what is appended, across rotations."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, BinaryIO

from triseek.model.plain_text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

BLOCK = 1 << 16
POLL_S = 0.2


class LogTail:
    """Follows one path by name: if another file takes the name, it continues with that file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def last(self, count: int) -> str:
        """Return the last `count` lines; `following` continues at the end of the file.

        Raises:
            FileNotFoundError: There is no file.
        """
        self._file = open(self._path, "rb")  # noqa: SIM115 - kept open to be followed
        start = self._file.seek(0, os.SEEK_END)
        data = b""
        while start and data.count(b"\n") <= count:
            size = min(BLOCK, start)
            start = self._file.seek(start - size)
            data = self._file.read(size) + data
        self._file.seek(0, os.SEEK_END)
        lines = data.splitlines(keepends=True)
        return _text(b"".join(lines[-count:] if count else []))

    def following(self) -> Iterator[str]:
        """Yield appended text, without end; a file that takes the name is read from the start."""
        while True:
            data = self._file.read() if self._file else b""
            if data:
                yield _text(data)
            elif not self._reopened():
                time.sleep(POLL_S)

    def _reopened(self) -> bool:
        """Open the file if another one has the name by now; return whether that was so."""
        try:
            current = os.stat(self._path)
            if self._file and os.path.samestat(current, os.fstat(self._file.fileno())):
                return False
            fresh = open(self._path, "rb")  # noqa: SIM115 - kept open to be followed
        except OSError:
            return False
        if self._file:
            self._file.close()
        self._file = fresh
        return True


def _text(data: bytes) -> str:
    return json_text(data.decode("utf-8", "replace"))
