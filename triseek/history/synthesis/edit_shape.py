"""The shape of edits: lines added and removed, names defined, files added, names moved.

Names come from the forms of definitions that the search ranks by, applied to the text before and
after each edit. They are as exact as one line shows them.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from triseek.engine.ranking.definition_names import defined_name, family_of
from triseek.engine.ranking.path_class import PathClass, path_class

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.history.synthesis.session_events import EventFile

_DIFF_MAX = 600
"""Lines on both sides together up to which they are compared; beyond it they are counted."""
_TEXTS_KEPT = 64
"""Texts whose figures are kept: several rules ask for those of one edit."""
_LINES_KEPT = 4_096
"""Lines whose names are kept."""
_LINES_MAX = 3_000
_KEYWORDS = frozenset(("if", "for", "while", "switch", "return", "catch", "else", "and", "or"))
"""Words that look like a name before a parenthesis."""
_LINE_MAX = 400


@dataclass(frozen=True, slots=True)
class FileShape:
    """What the edits of one file amount to."""

    path: str
    added: int
    """Lines."""
    removed: int
    is_new: bool
    new_names: tuple[str, ...]
    """Names that the edits define and that were not defined before."""
    lost_names: tuple[str, ...]
    """Names that were defined before, and are not any more."""
    touched: tuple[str, ...]
    """All names whose definitions the edits contain."""

    @property
    def is_test(self) -> bool:
        """Whether it is a test's file, by its path."""
        return is_test_path(self.path)

    @property
    def is_source(self) -> bool:
        """Whether it is code, or a setting of it, and no test or documentation."""
        return is_source_path(self.path)

    @property
    def counts(self) -> str:
        """Lines added and removed, as `+12/−3`."""
        return f"+{self.added}/−{self.removed}"

    def fact(self) -> str:
        """Return `src/cart.py:total, discount +12/−3`."""
        names = ", ".join(self.touched[:4])
        return f"{self.path}{':' if names else ''}{names} {self.counts}"


def is_test_path(path: str) -> bool:
    """Whether a path is that of tests, by its folders or its name."""
    return path_class(path.encode("utf-8", "replace")) is PathClass.TEST


def is_source_path(path: str) -> bool:
    """Whether a path is that of code, or a setting of it, and no test or documentation."""
    return path_class(path.encode("utf-8", "replace")) not in (PathClass.TEST, PathClass.DOCS)


def shapes_of(uses: Sequence[EventFile], known: frozenset[str] = frozenset()) -> list[FileShape]:
    """Return the shape of each edited file, in order of the first edit.

    known: Paths that existed before.
    """
    by_path: dict[str, list[EventFile]] = {}
    for use in uses:
        by_path.setdefault(use.path, []).append(use)
    return [_shape(path, edits, known) for path, edits in by_path.items()]


def _shape(path: str, edits: list[EventFile], known: frozenset[str]) -> FileShape:
    added = removed = 0
    before: dict[str, None] = {}
    after: dict[str, None] = {}
    for edit in edits:
        plus, minus = lines_changed(edit.before, edit.after)
        added, removed = added + plus, removed + minus
        old, new = symbols_of(path, edit.before), symbols_of(path, edit.after)
        before.update(dict.fromkeys(name for name in old if name not in after))
        for name in old:
            if name not in new:
                after.pop(name, None)
        after.update(dict.fromkeys(new))
    is_new = path not in known and not edits[0].before and bool(edits[0].after)
    return FileShape(
        path, added, removed, is_new,
        tuple(name for name in after if name not in before),
        tuple(name for name in before if name not in after),
        tuple(dict.fromkeys([*after, *before])),
    )  # fmt: skip


@lru_cache(maxsize=_TEXTS_KEPT)
def lines_changed(before: str, after: str) -> tuple[int, int]:
    """Return the number of lines that an edit adds and removes."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > _DIFF_MAX:
        same = len(set(old) & set(new))
        return max(len(new) - same, 0), max(len(old) - same, 0)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    kept = sum(block.size for block in matcher.get_matching_blocks())
    return len(new) - kept, len(old) - kept


@lru_cache(maxsize=_TEXTS_KEPT)
def symbols_of(path: str, text: str) -> tuple[str, ...]:
    """Return the names that a text of a file defines, in order; at most 200."""
    family = family_of(path.encode("utf-8", "replace"))
    if family is None or not text:
        return ()
    names: dict[str, None] = {}
    for line in text.split("\n", _LINES_MAX)[:_LINES_MAX]:
        name = _symbol_of(line[:_LINE_MAX], family) if line and not line.isspace() else ""
        if name:
            names[name] = None
    return tuple(name for name in names if name not in _KEYWORDS)[:200]


@lru_cache(maxsize=_LINES_KEPT)
def _symbol_of(line: str, family: str) -> str:
    """Return the name that a line defines; "" if none. Texts before and after share most lines."""
    data = line.encode("utf-8", "replace")
    span = defined_name(data, family)
    return data[slice(*span)].decode("utf-8", "replace") if span is not None else ""
