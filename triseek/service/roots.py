"""Which root answers for a path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from triseek.errors import RepoNotDetected

if TYPE_CHECKING:
    from collections.abc import Callable


def root_for(path: str, is_indexed: Callable[[str], bool]) -> str:
    """Return the canonical root that answers for a folder: the nearest with an index, or itself.

    Raises:
        RepoNotDetected: The path is not a folder.
    """
    folder = os.path.realpath(path)
    if not os.path.isdir(folder):  # noqa: PTH112
        raise RepoNotDetected(f"not a folder: {path}")
    return next(filter(is_indexed, upwards(folder)), folder)


def upwards(folder: str) -> list[str]:
    """Return a folder and those above it, nearest first."""
    return [folder, *map(str, Path(folder).parents)]
