"""The difference between a tree and its index: what to leave out, what to look at directly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from triseek.model.search import Freshness
    from triseek.query.scope import Excluded

Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(slots=True)
class Dirt:
    """What of a tree one generation of its index does not know; not changed once it is made."""

    freshness: Freshness
    masks: list[Array]
    """Per view, bool[files]: indexed files to leave out, because they changed or are gone."""
    scan: list[bytes] = field(default_factory=list)
    """Files to look at directly, new and changed ones, in path order."""
    allowlisted: set[bytes] = field(default_factory=set)
    """Those of `scan` that are hidden places ripgrep would leave out."""
    removed: int = 0
    """Indexed files that are gone."""
    directories: list[bytes] = field(default_factory=list)
    """Every directory of the tree as it is now, when a walk was needed to tell; else empty."""
    excluded: list[Excluded] = field(default_factory=list)
    """What was left out of the folders that had to be looked at."""
    listed: list[bytes] = field(default_factory=list)
    """Folders the index knows that were listed anew, because there is something new in them."""
    appeared: list[bytes] = field(default_factory=list)
    """Folders the index does not know, found below those."""
    special: list[bytes] = field(default_factory=list)
    """What gives rules of their own to folders that were listed anew or appeared."""
    lost: list[bytes] = field(default_factory=list)
    """Folders the index knows that are gone, without those below another one."""
    closed: list[bytes] = field(default_factory=list)
    """Folders that may not be read: what is in them is not searched."""
    suspect: list[bytes] = field(default_factory=list)
    """Folders the index knows whose stats are not what they were, or may hide a change."""
    problem: str = ""
    """Why the tree could not be compared with its index, in one line, where it is `unverified`."""
    ruled: bool = False
    """Whether ignore rules are, or may be, others than those the index was made by."""

    @property
    def count(self) -> int:
        """How many files differ."""
        return len(self.scan) + self.removed

    def same_files(self, other: Dirt) -> bool:
        """Whether both leave out, and look at, the same files."""
        return self.scan == other.scan and all(map(np.array_equal, self.masks, other.masks))
