"""Reads the text of a file as it is now, if it has any.

Agents name any path, so reading never waits and never wakes a device: only regular files are
opened, and a pipe that replaces the file in between does not block.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

from triseek.files.access import is_absent
from triseek.model import spans, token_estimate

if TYPE_CHECKING:
    from triseek.model.hook_event import FileRead
    from triseek.model.spans import Spans

MOST_BYTES = 2 * 1024 * 1024
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY


@dataclass(frozen=True, eq=False)
class FileText:
    """A file's text at one moment."""

    path: str
    """Absolute, links resolved."""
    data: bytes

    @cached_property
    def digest(self) -> str:
        """BLAKE2b of the bytes, 32 hex digits; collision-resistant."""
        return blake2b(self.data, digest_size=16).hexdigest()

    @cached_property
    def sha(self) -> str:
        """SHA-256 of the bytes, as work snapshots record it."""
        return sha256(self.data).hexdigest()

    @cached_property
    def lines(self) -> int:
        """Number of lines; the last one need not have a line end."""
        data = self.data
        return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)

    @property
    def whole(self) -> Spans:
        """All lines."""
        return spans.of(1, self.lines)

    @property
    def tokens(self) -> int:
        """Estimate for the whole file."""
        return token_estimate.of_source(len(self.data))

    @cached_property
    def texts(self) -> list[str]:
        """The lines as an agent is shown them: no line ends, U+FFFD for invalid UTF-8."""
        texts = self.data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
        if texts[-1] == "":
            texts.pop()
        return [text.removesuffix("\r") for text in texts]

    def requested(self, read: FileRead) -> Spans:
        """Return the lines of this file that a read requests."""
        if read.tail is not None:
            return spans.of(max(1, self.lines - read.tail + 1), self.lines)
        last = self.lines if read.last is None else min(read.last, self.lines)
        return spans.of(max(1, read.first), last)

    def tokens_of(self, requested: Spans) -> int:
        """Return the estimated tokens of some of the lines."""
        if requested == self.whole:
            return self.tokens
        return token_estimate.of_source(sum(self.sizes_of(requested)))

    def sizes_of(self, requested: Spans) -> list[int]:
        """Return the bytes of each of the lines, with its line end."""
        if b"\r" in self.data:
            ended = [line + b"\n" for line in self.data.split(b"\n")]
        else:
            ended = self.data.splitlines(keepends=True)
        return [len(line) for first, last in requested for line in ended[first - 1 : last]]


def real(path: str) -> str | None:
    """Return a path in its canonical spelling; None if it is not a valid absolute path."""
    if not path.startswith("/") or "\0" in path:
        return None
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


def is_missing(path: str) -> bool:
    """Return whether certainly nothing exists at a path."""
    try:
        os.stat(path, follow_symlinks=False)  # noqa: PTH116
    except OSError as error:
        return is_absent(error)
    except ValueError:
        return False
    return False


def look(path: str) -> FileText | None:
    """Read a file; None if it is not a regular file of text, is too large, or is being written.

    Args:
        path: As `real` returns it.
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
    return None if data is None or b"\0" in data else FileText(path, data)


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
    # A file whose size differs from its content is in /proc or is growing.
    return b"".join(parts) if same and left == 1 else None
