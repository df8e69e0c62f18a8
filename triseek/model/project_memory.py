"""What is remembered of a project, as other answers carry it beside their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedDrawer:
    """A drawer of the project's palace."""

    drawer_id: str
    """Its UUID."""
    content: str
    """Its text on one line; an ellipsis stands for what is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectMemory:
    """What a project's palace has on a goal, within a budget."""

    note: str
    """Where it is from, or why there is nothing."""
    identity: str = ""
    """What is said of the project before everything else; "" if nothing is."""
    recalled: tuple[RememberedDrawer, ...] = ()
    """The drawers that answer the goal, best first."""
    essentials: tuple[RememberedDrawer, ...] = ()
    """The most important of the other drawers."""
    estimated_tokens: int = 0
    """Of the identity and the drawers, as JSON."""


Remembering: TypeAlias = Callable[[str, str, int], ProjectMemory]
"""`remembering(root, goal, budget_tokens)` returns what is remembered. Raises nothing."""


def nothing(_root: str, _goal: str, _budget_tokens: int) -> ProjectMemory:
    """Return that this process has no memory."""
    return ProjectMemory(note="the memory cannot be used here")
