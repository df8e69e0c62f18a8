"""Which files of an index may have a language, by their names alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from triseek.query.zoekt.languages import languages_by_name

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        self._languages = list(numbers)

    def mask(self, language: str) -> Array:
        """Return bool[files]: those whose names allow a language."""
        allowed = [each is None or language in each for each in self._languages]
        mask: Array = np.array(allowed, np.bool_)[self._codes]
        return mask


_tables: WeakKeyDictionary[View, _Table] = WeakKeyDictionary()


def may_have(language: str, view: View) -> Array:
    """Return bool[files]: the files of a segment that may have a language."""
    table = _tables.get(view)
    if table is None:
        table = _tables.setdefault(view, _Table(view.paths.paths))
    return table.mask(language)
