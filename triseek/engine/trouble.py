"""Why answers about a root take a sweep."""

from __future__ import annotations

from typing import NamedTuple


class Trouble(NamedTuple):
    """What keeps a root from being watched, or its index from being kept."""

    reason: str
    """One line."""
    fix: str = ""
    """What the user can do, a command or a sentence; empty if nothing."""
