"""One look at a file: its text as it is now, or nothing.

Agents name any path, so a look never waits and never wakes a device: only regular files are
opened, and a pipe that takes a file's place in between does not block.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

from triseek.sessions.memo import spans

if TYPE_CHECKING:
    from triseek.model.hook_event import FileRead
    from triseek.sessions.memo.spans import Spans

MOST_BYTES = 2 * 1024 * 1024
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY


@dataclass(frozen=True, eq=False)
class Look:
    """A file's text at one moment."""

    path: str
    """Absolute, links resolved."""
    data: bytes

    @cached_property
    def digest(self) -> str:
        """BLAKE2b of the bytes, 32 hex digits: nobody can make two files that share one."""
        return blake2b(self.data, digest_size=16).hexdigest()

    @cached_property
    def sha(self) -> str:
        """SHA-256 of the bytes, as snapshots of work have it."""
        return sha256(self.data).hexdigest()

    @cached_property
    def lines(self) -> int:
        """How many lines; the last one need not end."""
        data = self.data
        return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)

    @property
    def whole(self) -> Spans:
        """All lines."""
        return spans.of(1, self.lines)

    @property
    def tokens(self) -> int:
        """An estimate for all of it."""
        return tokens(len(self.data))

    @cached_property
    def texts(self) -> list[str]:
        """The lines as an agent is shown them: no line ends, U+FFFD for what is not UTF-8."""
        texts = self.data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
        if texts[-1] == "":
            texts.pop()
        return [text.removesuffix("\r") for text in texts]

    def asked(self, read: FileRead) -> Spans:
        """The lines of this file that a read asks for."""
        if read.tail is not None:
            return spans.of(max(1, self.lines - read.tail + 1), self.lines)
        last = self.lines if read.last is None else min(read.last, self.lines)
        return spans.of(max(1, read.first), last)

    def tokens_of(self, asked: Spans) -> int:
        """An estimate for some of the lines."""
        return self.tokens if asked == self.whole else tokens(sum(self.sizes_of(asked)))

    def sizes_of(self, asked: Spans) -> list[int]:
        """The bytes of each of the lines, with its end."""
        ended = self.data.splitlines(keepends=True) if b"\r" not in self.data else self._ended()
        return [len(line) for first, last in asked for line in ended[first - 1 : last]]

    def _ended(self) -> list[bytes]:
        return [line + b"\n" for line in self.data.split(b"\n")]


def tokens(size: int) -> int:
    """The estimate for so many bytes: ceil(bytes / 3.5)."""
    return (2 * size + 6) // 7


def tokens_of_text(text: str) -> int:
    """The estimate for a text."""
    return tokens(len(text.encode("utf-8", "surrogatepass")))


def real(path: str) -> str | None:
    """The one spelling of a path; None for what cannot be one."""
    if not path.startswith("/") or "\0" in path:
        return None
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


def look(path: str) -> Look | None:
    """Read a file; None for what is no regular file of text, too large, or being written.

    Args:
        path: As `real` gives it.
    """
    try:
        if not _readable(os.stat(path, follow_symlinks=False)):  # noqa: PTH116
            return None
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return None
    try:
        data = _read(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None if data is None or b"\0" in data else Look(path, data)


def _readable(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_size <= MOST_BYTES


def _read(descriptor: int) -> bytes | None:
    before = os.fstat(descriptor)
    if not _readable(before):
        return None
    parts: list[bytes] = []
    left = before.st_size + 1
    while left > 0 and (part := os.read(descriptor, left)):
        parts.append(part)
        left -= len(part)
    after = os.fstat(descriptor)
    same = (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
    # A file whose size is not what it holds is one of /proc, or is growing.
    return b"".join(parts) if same and left == 1 else None
