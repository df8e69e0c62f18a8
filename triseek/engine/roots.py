"""Find the root of a path and the folder of its index."""

from __future__ import annotations

import os
from pathlib import Path

from triseek import paths
from triseek.errors import RepoNotDetected
from triseek.files.tree import root
from triseek.files.tree.index_policy import repository
from triseek.store import layout


def root_for(path: str) -> str:
    """Return the canonical root of a folder: the nearest indexed one at or above it, or itself.

    Raises:
        RepoNotDetected: The path is not a folder.
    """
    folder = root.resolve(path).path
    return next(filter(is_indexed, upwards(folder)), folder)


def project(folder: str) -> str:
    """Return the root of work in a folder, whether or not there is an index.

    This is the nearest indexed root at or above it, else the repository around it, else the folder
    itself. A folder that does not exist is its own root.
    """
    try:
        nearest = root_for(folder)
    except RepoNotDetected:
        return os.path.realpath(folder)
    return nearest if is_indexed(nearest) else repository(nearest) or nearest


def index_dir(canonical: str) -> str:
    """Return the index folder of a canonical root; it may not exist."""
    return paths.index_of(root.key(os.fsencode(canonical)))


def is_indexed(canonical: str) -> bool:
    """Return whether a root has its own index, even a broken one."""
    # Not Path.exists, which raises if the state folder may not be read.
    return os.path.exists(os.path.join(index_dir(canonical), layout.CURRENT))  # noqa: PTH110, PTH118


def upwards(folder: str) -> list[str]:
    """Return a folder and its parents, nearest first."""
    return [folder, *map(str, Path(folder).parents)]
