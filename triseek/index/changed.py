"""What of a tree an index does not hold as it is: all that a commit needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from triseek.index.tree import Tree

Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """The difference between a tree and one reader's generation, however it was found."""

    dead: list[Array]
    """Per view, int64: live files that changed, vanished or are no longer listed."""
    paths: list[bytes]
    """Files to read, new and changed, each once, in path order. None of them is live beside
    `dead`: a search would find it twice."""
    allowlisted: set[bytes]
    """Those of `paths` in hidden places that ripgrep would leave out."""
    tree: Tree | None
    """Directories, what was left out and what has a say, as they are now; None: as the newest
    tables that the reader has say."""
    scanned_ns: int
    """`time.time_ns()` from before the looking began that found all this."""
    removed: int
    """Files that are gone, for the report."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to commit."""
        return not self.paths and self.tree is None and not any(len(dead) for dead in self.dead)
