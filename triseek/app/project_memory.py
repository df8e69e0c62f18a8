"""Adds what a project's palace has on a goal to a context pack or a resume that asks for it."""

from __future__ import annotations

import logging
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from triseek.errors import TriseekError
from triseek.memory.project import project_root
from triseek.model import token_estimate
from triseek.model.project_memory import ProjectMemory, RememberedDrawer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.memory.drawers import Drawer
    from triseek.memory.service import Memory

logger = logging.getLogger(__name__)

RECALLED_MAX = 8
GOAL_MAX = 4_000
"""Characters of a goal that are asked for."""
CONTENT_MAX = 500
"""Characters of a drawer: all of it is a call of memory_recall away."""
IDENTITY_SHARE = 0.4
"""Share of the budget that the identity may take."""
NO_PALACE = "this project has no palace: nothing is remembered of it yet"


def remembered(memory: Memory, root: str, goal: str, budget_tokens: int) -> ProjectMemory:
    """Return what the palace of the project around a folder has on a goal. Raises nothing.

    Args:
        memory: The memory of this machine.
        root: The folder, absolute.
        goal: What the work is about, in words.
        budget_tokens: Most tokens of the identity and the drawers, as JSON.
    """
    try:
        palace = memory.palace_of(project_root(root))
        if not palace:
            return ProjectMemory(note=NO_PALACE)
        recalled = memory.recall(palace, goal[:GOAL_MAX], RECALLED_MAX)
    except (TriseekError, OSError) as error:
        return ProjectMemory(note=f"the memory cannot be read: {error}")
    filled = _Filled(ProjectMemory(note=f"from the project's palace {palace}"), budget_tokens)
    filled.add_identity(recalled.identity)
    ranked = [hit.drawer for hit in recalled.hits]
    ids = {drawer.id for drawer in ranked}
    filled.add("recalled", ranked)
    filled.add("essentials", (drawer for drawer in recalled.essentials if drawer.id not in ids))
    return replace(filled.memory, estimated_tokens=filled.tokens)


class _Filled:
    """What fits a budget."""

    def __init__(self, memory: ProjectMemory, budget_tokens: int) -> None:
        """Begin with what `memory` has."""
        self.memory = memory
        self.tokens = 0
        self._budget_tokens = budget_tokens

    def add_identity(self, text: str) -> None:
        """Add as much of the identity as its share has room for."""
        room = int(self._budget_tokens * IDENTITY_SHARE) * token_estimate.TEXT_BYTES_PER_TOKEN
        line = _one_line(text, room)
        if line and self._takes(line):
            self.memory = replace(self.memory, identity=line)

    def add(self, field: str, drawers: Iterable[Drawer]) -> None:
        """Add drawers to a field until one does not fit."""
        self.memory = replace(self.memory, **{field: tuple(self._fitting(drawers))})  # type: ignore[arg-type]

    def _fitting(self, drawers: Iterable[Drawer]) -> Iterator[RememberedDrawer]:
        for drawer in drawers:
            content = _one_line(drawer.text, CONTENT_MAX)
            shown = RememberedDrawer(drawer_id=drawer.uuid, content=content)
            if not self._takes(asdict(shown)):
                return
            yield shown

    def _takes(self, value: object) -> bool:
        tokens = token_estimate.of_json([value])
        if self.tokens + tokens > self._budget_tokens:
            return False
        self.tokens += tokens
        return True


def _one_line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: max(most - 1, 0)] + "…"
