"""What a search leaves out as hidden or ignored, counted for whoever is told "no matches"."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.engine.search.query import Selection
from triseek.engine.search.router import BACKEND_FAILED
from triseek.files.tree.walk import walk
from triseek.model.search import LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.engine.engine import Engine
    from triseek.model.search import ScopeSpec
    from triseek.query.globs.scope import Excluded

LOOKED_AT_MAX = 5_000
"""Most entries that are looked for in the file system; further ones count unseen."""


def left_out(engine: Engine, scope: ScopeSpec, paths: tuple[str, ...] = ()) -> LeftOut:
    """Return how much a search with this scope leaves out of the folders that it names.

    Raises:
        TriseekError: The tree cannot be listed, or time is up.
    """
    return counted(left_out_entries(engine, scope, paths), scope)


def counted(entries: Sequence[Excluded], scope: ScopeSpec) -> LeftOut:
    """Return the numbers of entries that a search with this scope leaves out."""
    hidden = sum(entry.hidden for entry in entries)
    return LeftOut(0 if scope.hidden else hidden, 0 if scope.no_ignore else len(entries) - hidden)


def left_out_entries(
    engine: Engine, scope: ScopeSpec, paths: tuple[str, ...] = ()
) -> list[Excluded]:
    """Return what a search with this scope leaves out of the folders that it names.

    The repository's own `.git` does not count.

    Raises:
        TriseekError: The tree cannot be listed, or time is up.
    """
    selection = Selection.of(engine.root, scope, paths)
    searched = {path for file in scope.also for path in _with_folders(file)}
    entries = {
        entry.path: entry
        for entry in _entries(engine, selection, paths)
        if selection.includes(entry.path) and entry.path not in searched
        if entry.path.rpartition(b"/")[2] != b".git"
    }
    files = [entry for entry in entries.values() if not entry.is_dir]
    selected = selection.scope.select([entry.path for entry in files]).tolist() if files else []
    left = [entry for entry in entries.values() if entry.is_dir]
    left += [entry for entry, is_meant in zip(files, selected, strict=True) if is_meant]
    root = os.fsencode(engine.root)
    return [
        entry
        for number, entry in enumerate(left)
        if number >= LOOKED_AT_MAX or os.path.lexists(os.path.join(root, entry.path))  # noqa: PTH118
    ]


def _entries(engine: Engine, selection: Selection, paths: tuple[str, ...]) -> Iterable[Excluded]:
    """Return what the index's walk has left out, or one that is done now."""
    if engine.has_index() and not engine.is_cold:
        try:
            return engine.indexed().excluded(selection)
        except BACKEND_FAILED:
            pass
    return walk(engine.root, selection.spec, within=paths).excluded


def _with_folders(file: bytes) -> list[bytes]:
    """Return a path and the folders above it."""
    parts = file.split(b"/")
    return [b"/".join(parts[:size]) for size in range(1, len(parts) + 1)]
