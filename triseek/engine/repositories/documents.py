"""A file as a query sees it: its name, text, language and symbols, each on demand."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Protocol

from triseek.files.tree import text
from triseek.query.zoekt.languages import language_of, languages_by_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.engine.symbols.symbols import FileSymbols
    from triseek.model.symbol import Symbol

FILE_BYTES_MAX = 64 << 20
"""Larger files are not read; the answer says so."""
HEAD_BYTES = 4096
"""Bytes of a file from which its language is told."""
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW


class SymbolSource(Protocol):
    """Finds the definitions in a text, as `engine.symbols` does."""

    def file_symbols(self, path: bytes, text: bytes) -> FileSymbols:
        """Return the definitions in a file, by position."""


class Document:
    """One file, read at most once. Not shared between threads."""

    __slots__ = (
        "_content", "_language", "_location", "_symbols", "_symbols_of", "_unread",
        "offset_base", "path",
    )  # fmt: skip

    def __init__(
        self,
        folder: bytes,
        path: bytes,
        symbols_of: Callable[[bytes, bytes], FileSymbols],
        unread: Callable[[bytes, str], None],
    ) -> None:
        """Prepare a file; nothing is read yet.

        folder: The repository's root.
        unread: Called with the path and the reason if not all of the file can be searched.
        """
        self.path = path
        self.offset_base = 0
        """Offset in the file of the first byte of `content`; set when that is read."""
        self._location = folder + b"/" + path
        self._symbols_of = symbols_of
        self._unread = unread
        self._content: bytes | None = None
        self._language: str | None = None
        self._symbols: tuple[Symbol, ...] | None = None

    @property
    def content(self) -> bytes:
        """The searchable text; empty if the file is binary, gone or not readable."""
        if self._content is None:
            self._content = self._read()
        return self._content

    @property
    def language(self) -> str:
        """The canonical name of its language; "" if it is not known."""
        if self._language is None:
            by_name = languages_by_name(self.path)
            decided = by_name is not None and len(by_name) == 1
            self._language = language_of(self.path, b"" if decided else self.head)
        return self._language

    @property
    def head(self) -> bytes:
        """The start of the text, from which its language is told."""
        return self.content[:HEAD_BYTES]

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The definitions in it."""
        if self._symbols is None:
            result = self._symbols_of(self.path, self.content)
            if result.problem:
                self._unread(self.path, f"definitions may be missing: {result.problem}")
            self._symbols = result.symbols
        return self._symbols

    def forget(self) -> None:
        """Free the text; it is read again if it is needed."""
        self._content = None

    def note(self, reason: str) -> None:
        """Say why not all of the file was searched."""
        self._unread(self.path, reason)

    def _read(self) -> bytes:
        try:
            file = os.open(self._location, _FLAGS)
        except (FileNotFoundError, NotADirectoryError):
            return b""  # gone since it was listed
        except OSError as error:
            if not os.path.islink(self._location):  # noqa: PTH114 - a link that replaced it
                self._unread(self.path, os.strerror(error.errno or 0))
            return b""
        try:
            data = self._all(file)
        except OSError as error:
            self._unread(self.path, os.strerror(error.errno or 0))
            return b""
        finally:
            os.close(file)
        decoded = text.decode(data)
        if decoded is None:
            return b""
        self.offset_base = decoded.offset_base
        return decoded.data

    def _all(self, file: int) -> bytes:
        """Return the bytes of an open file; none if it is no regular one or too large."""
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return b""
        if status.st_size > FILE_BYTES_MAX:
            self._unread(self.path, f"it is larger than {FILE_BYTES_MAX >> 20} MiB")
            return b""
        parts: list[bytes] = []
        left = min(status.st_size + 1, FILE_BYTES_MAX)
        while left > 0 and (part := os.read(file, left)):
            parts.append(part)
            left -= len(part)
            if left == 1:
                break  # all that it had when it was opened
        return parts[0] if len(parts) == 1 else b"".join(parts)
