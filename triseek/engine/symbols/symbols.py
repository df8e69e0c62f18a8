"""Definitions, references and outlines, whoever parses the file."""

from __future__ import annotations

import atexit
import threading
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import xxhash
from cachetools import TTLCache

from triseek.engine.symbols import ctags
from triseek.engine.symbols.cache import SymbolCache
from triseek.engine.symbols.ctags import Ctags
from triseek.engine.symbols.grammars import Grammar, grammar_of
from triseek.engine.symbols.parser import Parsed, Parser
from triseek.model import budget

if TYPE_CHECKING:
    from typing import Self

    from triseek.model.symbol import Symbol

FILE_BYTES_MAX = 2 << 20
"""Larger files are not parsed."""
FILE_SECONDS = 2.0
"""Most time for one file."""
SLOW_S = 60.0
"""Seconds for which a text that could not be parsed is not tried again; the machine may be busy."""
_SLOW_MAX = 1_024


class FileSymbols(NamedTuple):
    """The definitions of one file, by position."""

    symbols: tuple[Symbol, ...] = ()
    problem: str = ""
    """Why some may be missing, without the file's name; "" if nothing went wrong."""
    is_parsed: bool = True
    """Whether there is a parser for files of this kind."""


class Symbols:
    """Parses files and keeps what it learns; thread-safe, one for a process.

    Files are parsed in processes of their own, which are started with the first file and end when
    they have not been needed for a minute.
    """

    def __init__(
        self, cache: SymbolCache | None = None, *, file_seconds: float = FILE_SECONDS
    ) -> None:
        """Prepare; nothing is started or opened yet.

        Args:
            cache: Where results are kept; that of the state folder if None.
            file_seconds: Most time for one file.
        """
        self._cache = cache or SymbolCache()
        self._file_seconds = file_seconds
        self._parser = Parser()
        self._ctags: Ctags | None = None
        self._lock = threading.Lock()
        self._slow: TTLCache[tuple[Grammar, int, bytes], Parsed] = TTLCache(_SLOW_MAX, SLOW_S)

    def of_file(self, path: bytes, text: bytes) -> tuple[Symbol, ...]:
        """Return the definitions in a file, by position; none if there is no parser for it.

        Args:
            path: Its path, by which its language is recognized.
            text: Its content, decoded as for a search. Offsets refer to it.

        Raises:
            OutOfTime: The time of the current request is over.
        """
        return self.file_symbols(path, text).symbols

    def file_symbols(self, path: bytes, text: bytes) -> FileSymbols:
        """Return the definitions in a file, and whether some may be missing.

        Raises: as `of_file`.
        """
        budget.check()
        if len(text) > FILE_BYTES_MAX:
            return FileSymbols(problem=f"it is larger than {FILE_BYTES_MAX >> 20} MiB")
        grammar = self.grammar_of(path, text)
        if grammar is None and not ctags.program():
            return FileSymbols(is_parsed=False)
        edition = grammar.edition if grammar else _ctags_edition(path)
        parsed = self._cache.get(edition, text)
        if parsed is None:
            parsed = self._parsed(path, text, grammar)
            if not parsed.problem:
                self._cache.put(edition, text, parsed)
        return FileSymbols(parsed.symbols, parsed.problem)

    def uses_in_file(self, path: bytes, text: bytes, name: bytes) -> tuple[FileSymbols, list[int]]:
        """Return the definitions in a file, and the offsets of the uses of a name in its code.

        Comments, strings and definitions of the name are no uses.

        Raises: as `of_file`.
        """
        budget.check()
        grammar = self.grammar_of(path, text)
        if grammar is None:
            return FileSymbols(is_parsed=False), []
        if len(text) > FILE_BYTES_MAX:
            return FileSymbols(problem=f"it is larger than {FILE_BYTES_MAX >> 20} MiB"), []
        parsed = self._parse(text, grammar, name)
        return FileSymbols(parsed.symbols, parsed.problem), list(parsed.uses)

    def grammar_of(self, path: bytes, text: bytes) -> Grammar | None:
        """Return the installed grammar for a file; None if there is none."""
        grammar = grammar_of(path, text)
        return grammar if grammar is not None and grammar.is_installed else None

    def close(self) -> None:
        """End the processes and close the cache. A later call starts them again."""
        self._parser.close()
        if self._ctags is not None:
            self._ctags.close()
        self._cache.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _parsed(self, path: bytes, text: bytes, grammar: Grammar | None) -> Parsed:
        if grammar is not None:
            return self._parse(text, grammar, None)
        with self._lock:
            if self._ctags is None:
                self._ctags = Ctags()
        return self._ctags.parse(path, text, min(self._file_seconds, budget.left()))

    def _parse(self, text: bytes, grammar: Grammar, name: bytes | None) -> Parsed:
        """Parse a text, unless it took all the time that a file may take a while ago."""
        key = (grammar, len(text), xxhash.xxh3_128_digest(text))
        seconds = min(self._file_seconds, budget.left())
        with self._lock:
            parsed = self._slow.get(key)
        if parsed is None:
            parsed = self._parser.parse(text, grammar, seconds, name)
            if parsed.is_hopeless and seconds == self._file_seconds:
                with self._lock:
                    self._slow[key] = parsed
        return parsed


@cache
def shared() -> Symbols:
    """Return the one of this process, which is closed when the process ends."""
    symbols = Symbols()
    atexit.register(symbols.close)
    return symbols


def _ctags_edition(path: bytes) -> str:
    """Return the edition of ctags and of the name by which it chooses a language."""
    name = path[path.rfind(b"/") + 1 :]
    suffix = name[name.rfind(b".") :] if b"." in name else name
    return f"{ctags.edition()} {suffix.decode(errors='replace')}"
