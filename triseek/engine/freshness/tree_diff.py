"""The difference between a tree and its index: files to mask and files to scan directly.

In a watched tree it is known which files and folders differ, so `changed_of` can update its index
without a walk. If ignore rules may have changed, any file may be listed or not, and a walk is
needed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek.files.tree.walk import path_order
from triseek.index.tree import Tree
from triseek.index.update import Changed
from triseek.query.globs.scope import Excluded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.index.reader import IndexReader
    from triseek.model.search import Freshness

Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(slots=True)
class TreeDiff:
    """The changes in a tree that one index generation lacks; not modified once complete."""

    freshness: Freshness
    masks: list[Array]
    """Per view, bool[files]: indexed files to leave out because they changed or are gone."""
    scan: list[bytes] = field(default_factory=list)
    """New and changed files, to be scanned directly, in path order."""
    allowlisted: set[bytes] = field(default_factory=set)
    """Those of `scan` in hidden places, which ripgrep would leave out."""
    removed: int = 0
    """Number of indexed files that are gone."""
    directories: list[bytes] = field(default_factory=list)
    """Every current directory of the tree if a full walk was needed; else empty."""
    excluded: list[Excluded] = field(default_factory=list)
    """Entries excluded from the folders that were listed."""
    listed: list[bytes] = field(default_factory=list)
    """Indexed folders that were listed again because they hold something new."""
    appeared: list[bytes] = field(default_factory=list)
    """Folders below those that are not in the index."""
    special: list[bytes] = field(default_factory=list)
    """Ignore files and repository markers in the folders that were listed again or appeared."""
    lost: list[bytes] = field(default_factory=list)
    """Indexed folders that are gone, without those below another one."""
    closed: list[bytes] = field(default_factory=list)
    """Folders that may not be read; their contents are not searched."""
    suspect: list[bytes] = field(default_factory=list)
    """Indexed folders whose stats changed or may hide a change."""
    problem: str = ""
    """If `unverified`: why the tree could not be compared with its index, in one line."""
    ruled: bool = False
    """Whether ignore rules differ, or may differ, from those the index was built with."""

    @property
    def count(self) -> int:
        """The number of files that differ."""
        return len(self.scan) + self.removed

    def same_files(self, other: TreeDiff) -> bool:
        """Return whether both mask and scan the same files."""
        return self.scan == other.scan and all(map(np.array_equal, self.masks, other.masks))


def excluded_entries(reader: IndexReader) -> list[Excluded]:
    """Return the entries that the index's walk left out."""
    table = reader.excluded
    flags = (table.numbers(name).astype(np.bool_).tolist() for name in ("is_dir", "hidden"))
    return list(map(Excluded, table.names("path").all(), *flags))


def changed_of(reader: IndexReader, diff: TreeDiff, started_ns: int) -> Changed | None:
    """Return the changes that the index needs; None if only a walk can find them.

    started_ns: when the comparison that made `diff` began, or earlier.
    """
    if diff.ruled or diff.directories or diff.freshness == "unverified":
        return None
    masks = zip(reader.views, diff.masks, strict=True)
    differs = bool(diff.suspect or diff.lost or diff.listed)
    return Changed(
        dead=[np.flatnonzero(view.alive & mask) for view, mask in masks],
        paths=diff.scan,
        allowlisted=diff.allowlisted,
        tree=_tree(reader, diff) if differs else None,
        scanned_ns=started_ns,
        removed=diff.removed,
    )


def _tree(reader: IndexReader, diff: TreeDiff) -> Tree:
    root = os.fsencode(reader.manifest.root)
    folders = [
        path for path in reader.directories.names("path").all() if not _is_below(path, diff.lost)
    ]
    excluded = [*_still_excluded(reader, diff, root), *diff.excluded]
    special = [os.path.join(root, path) for path in diff.special]  # noqa: PTH118 - bytes
    return Tree(
        directories=sorted({*folders, *diff.appeared}, key=path_order),
        excluded=sorted(set(excluded), key=lambda entry: path_order(entry.path)),
        watched=sorted({*reader.watched.names("path").all(), *special}),
    )


def _still_excluded(reader: IndexReader, diff: TreeDiff, root: bytes) -> list[Excluded]:
    """Return the excluded entries that still apply: all but those listed again or gone."""
    relisted, touched = {*diff.listed, *diff.appeared}, set(diff.suspect)
    kept = []
    for entry in excluded_entries(reader):
        folder = entry.path.rpartition(b"/")[0]
        if folder in relisted or _is_below(entry.path, diff.lost):
            continue
        if folder in touched and not os.path.lexists(os.path.join(root, entry.path)):  # noqa: PTH118
            continue
        kept.append(entry)
    return kept


def _is_below(path: bytes, folders: Sequence[bytes]) -> bool:
    return any(path == folder or path.startswith(folder + b"/") for folder in folders)
