"""From what is dirty to what an index has to take in, where no rules have changed.

A watched tree tells which files and folders differ, so nothing has to be walked to update its
index. Where ignore rules may have changed anything may be listed or not: that takes a walk.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from triseek.index.changed import Changed
from triseek.index.tree import Tree
from triseek.query.scope import Excluded

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from triseek.engine.dirt import Dirt
    from triseek.index.reader import Reader


def changed_of(reader: Reader, dirt: Dirt, started_ns: int) -> Changed | None:
    """What the index has to take in; None where only a walk can tell.

    started_ns: when the looking behind `dirt` began, or earlier.
    """
    if dirt.ruled or dirt.directories or dirt.freshness == "unverified":
        return None
    dead = [
        np.flatnonzero(view.alive & mask)
        for view, mask in zip(reader.views, dirt.masks, strict=True)
    ]
    differs = bool(dirt.suspect or dirt.lost or dirt.listed)
    return Changed(
        dead=dead,
        paths=dirt.scan,
        allowlisted=dirt.allowlisted,
        tree=_tree(reader, dirt) if differs else None,
        scanned_ns=started_ns,
        removed=dirt.removed,
    )


def _tree(reader: Reader, dirt: Dirt) -> Tree:
    root = os.fsencode(reader.manifest.root)
    folders = [
        path for path in reader.directories.names("path").all() if not _is_below(path, dirt.lost)
    ]
    excluded = [*_still_excluded(reader, dirt, root), *dirt.excluded]
    special = [os.path.join(root, path) for path in dirt.special]  # noqa: PTH118 - bytes
    return Tree(
        directories=sorted({*folders, *dirt.appeared}, key=_order),
        excluded=sorted(set(excluded), key=lambda entry: _order(entry.path)),
        watched=sorted({*reader.watched.names("path").all(), *special}),
    )


def _still_excluded(reader: Reader, dirt: Dirt, root: bytes) -> list[Excluded]:
    """What was left out and still is: all but what was listed anew, or is gone."""
    anew: Container[bytes] = {*dirt.listed, *dirt.appeared}
    touched: Container[bytes] = set(dirt.suspect)
    table = reader.excluded
    columns = (table.names("path").all(), table.numbers("is_dir"), table.numbers("hidden"))
    kept = []
    for path, is_dir, hidden in zip(*columns, strict=True):
        folder = path.rpartition(b"/")[0]
        if folder in anew or _is_below(path, dirt.lost):
            continue
        if folder in touched and not os.path.lexists(os.path.join(root, path)):  # noqa: PTH118
            continue
        kept.append(Excluded(path, bool(is_dir), bool(hidden)))
    return kept


def _is_below(path: bytes, folders: Sequence[bytes]) -> bool:
    return any(path == folder or path.startswith(folder + b"/") for folder in folders)


def _order(path: bytes) -> bytes:
    return path.replace(b"/", b"\0")
