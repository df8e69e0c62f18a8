"""What one process knows of a tree from its events, told to another that has the same index open.

A `Dirt` names files by their numbers in the segments of one generation, so it means something
only where the very same generation is open: `edition` says which.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import xxhash

from triseek.engine.dirt import Dirt
from triseek.query.scope import Excluded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.index.reader import Reader

T = TypeVar("T")

MOST = 4096
"""Paths and files in all; a tree that differs in more is swept sooner than it is told of."""


def edition(reader: Reader) -> str:
    """Name of what a reader has open: equal where file numbers mean the same files."""
    manifest = reader.manifest
    digest = xxhash.xxh3_64_hexdigest(repr((manifest.segments, manifest.tree)).encode())
    return f"{manifest.generation}-{digest}"


def told(dirt: Dirt) -> dict[str, Any] | None:
    """What a search needs of it, as JSON values; None where that is too much to tell."""
    changed = [np.flatnonzero(mask) for mask in dirt.masks]
    listed = len(dirt.scan) + len(dirt.directories) + len(dirt.excluded) + len(dirt.closed)
    if listed + sum(map(len, changed)) > MOST:
        return None
    return {
        "changed": [numbers.tolist() for numbers in changed],
        "scan": [os.fsdecode(path) for path in dirt.scan],
        "allowlisted": [os.fsdecode(path) for path in sorted(dirt.allowlisted)],
        "removed": dirt.removed,
        "directories": [os.fsdecode(path) for path in dirt.directories],
        "closed": [os.fsdecode(path) for path in dirt.closed],
        "excluded": [[os.fsdecode(each.path), each.is_dir, each.hidden] for each in dirt.excluded],
    }


def heard(body: Any, reader: Reader) -> Dirt | None:  # noqa: ANN401 - JSON
    """What `told` made, of the same edition; None for anything else."""
    try:
        masks = _masks(body["changed"], reader)
        return Dirt(
            "synced",
            masks,
            scan=_paths(body["scan"]),
            allowlisted=set(_paths(body["allowlisted"])),
            removed=int(body["removed"]),
            directories=_paths(body["directories"]),
            closed=_paths(body["closed"]),
            excluded=[
                Excluded(os.fsencode(path), bool(is_dir), bool(hidden))
                for path, is_dir, hidden in body["excluded"]
            ],
        )
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        return None


def _masks(changed: Sequence[Sequence[int]], reader: Reader) -> list[np.ndarray[Any, Any]]:
    masks = []
    for numbers, view in zip(changed, reader.views, strict=True):
        told = np.array(_listed(numbers) or np.empty(0, np.int64))
        if told.ndim != 1 or told.dtype != np.int64 or (told < 0).any():
            raise ValueError("file numbers are whole and not negative")
        mask = np.zeros(len(view.names), np.bool_)
        mask[told] = True
        masks.append(mask)
    return masks


def _paths(names: Sequence[str]) -> list[bytes]:
    return [os.fsencode(name) for name in _listed(names)]


def _listed(items: Sequence[T]) -> Sequence[T]:
    if not isinstance(items, list):
        raise TypeError("it is no list")
    return items
