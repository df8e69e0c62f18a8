"""Which files of an index may have a language: by their names, or by contents that were looked at.

A segment does not change, so what is learnt of its files holds as long as they are searched by it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from triseek.query.zoekt.languages import languages_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.index.reader import View

Array: TypeAlias = np.ndarray[Any, Any]
Languages: TypeAlias = "frozenset[str] | None"


class _Table:
    """The possible languages of the files of one segment."""

    def __init__(self, paths: Iterable[bytes]) -> None:
        numbers: dict[Languages, int] = {}
        by_name: dict[bytes, int] = {}
        codes = []
        for path in paths:
            name = path[path.rfind(b"/") + 1 :]
            code = by_name.get(name)
            if code is None:
                languages = languages_by_name(name)
                code = by_name[name] = numbers.setdefault(languages, len(numbers))
            codes.append(code)
        self._codes = np.array(codes, np.uint32)
        self._numbers = numbers
        self._lock = threading.Lock()

    def mask(self, language: str) -> Array:
        """Return bool[files]: those that may have a language."""
        with self._lock:
            return self._are(lambda languages: languages is None or language in languages)

    def learn(self, mask: Array, language_of: Callable[[int], str | None]) -> None:
        """Look at the files of a mask whose names leave the language open.

        language_of: Returns the language of a file by its number; None if it cannot be told.
        """
        with self._lock:
            is_open = self._are(lambda languages: languages is None or len(languages) > 1)
        for file in np.flatnonzero(is_open & mask).tolist():
            language = language_of(file)
            if language is not None:
                with self._lock:
                    code = self._numbers.setdefault(frozenset((language,)), len(self._numbers))
                    self._codes[file] = code

    def _are(self, accept: Callable[[Languages], bool]) -> Array:
        """Return bool[files]: those whose possible languages are accepted."""
        accepted = np.array(list(map(accept, self._numbers)), np.bool_)
        mask: Array = accepted[self._codes]
        return mask


_tables: WeakKeyDictionary[View, _Table] = WeakKeyDictionary()


def may_have(language: str, view: View) -> Array:
    """Return bool[files]: the files of a segment that may have a language."""
    return _table(view).mask(language)


def learn(language: str, view: View, language_of: Callable[[bytes], str | None]) -> None:
    """Find out which files of a segment have a language, for later calls of `may_have`.

    language_of: Returns the language of a file; None if it cannot be told now.
    """
    chosen = view.searchable & may_have(language, view)
    _table(view).learn(chosen, lambda file: language_of(view.names[file]))


def _table(view: View) -> _Table:
    table = _tables.get(view)
    if table is None:
        table = _tables.setdefault(view, _Table(view.paths.paths))
    return table
