"""Which root answers for a path, and where its index is."""

from __future__ import annotations

import os
from pathlib import Path

from triseek import paths
from triseek.errors import RepoNotDetected
from triseek.files import root
from triseek.files.root import git_root
from triseek.store import layout


def root_for(path: str) -> str:
    """Return the canonical root that answers for a folder: the nearest with an index, or itself.

    Raises:
        RepoNotDetected: The path is not a folder.
    """
    folder = root.resolve(path).path
    return next(filter(is_indexed, upwards(folder)), folder)


def project(folder: str) -> str:
    """Return the root that work in a folder is about, whether or not there is an index.

    The nearest indexed root above it, else the repository around it, else itself; a folder that is
    not there is its own.
    """
    try:
        found = root_for(folder)
    except RepoNotDetected:
        return os.path.realpath(folder)
    return found if is_indexed(found) else git_root(found) or found


def index_dir(canonical: str) -> str:
    """Return where the index of a canonical root is, or would be."""
    return paths.index_of(root.key(os.fsencode(canonical)))


def is_indexed(canonical: str) -> bool:
    """Return whether a root has an index of its own, be it a broken one."""
    # Not Path.exists, which raises where the state folder may not be looked into.
    return os.path.exists(os.path.join(index_dir(canonical), layout.CURRENT))  # noqa: PTH110, PTH118


def upwards(folder: str) -> list[str]:
    """Return a folder and those above it, nearest first."""
    return [folder, *map(str, Path(folder).parents)]
