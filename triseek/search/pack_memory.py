"""A context pack that draws on the memory of its project, where that is asked for."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from triseek.model.context_pack import BUDGET_TOKENS_MAX
from triseek.model.project_memory import nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.model.context_pack import ContextPack, ContextPackRequest
    from triseek.model.project_memory import Remembering

SHARE = 0.35
"""Share of the budget that the memory may take."""

_remembering: list[Remembering] = [nothing]


def provide(remembering: Remembering) -> None:
    """Set what returns what is remembered of a project to this process's commands."""
    _remembering[:] = [remembering]


def provided() -> Remembering:
    """Return what `provide` has set."""
    return _remembering[0]


def packed(
    make: Callable[[ContextPackRequest], ContextPack],
    request: ContextPackRequest,
    root: str,
    remembering: Remembering,
) -> dict[str, Any]:
    """Return a pack as agents get it; what the memory takes, the files do not have.

    Args:
        make: Makes a pack. What it raises passes through.
        request: The task, and whether the memory is asked for.
        root: The folder of the project.
        remembering: Returns what is remembered of the project.
    """
    if not request.memory:
        return make(request).envelope()
    budget = min(max(request.budget_tokens, 1), BUDGET_TOKENS_MAX)
    memory = remembering(root, request.goal, int(SHARE * budget))
    pack = make(replace(request, budget_tokens=budget - min(memory.estimated_tokens, budget - 1)))
    return {
        **pack.envelope(),
        "budget_tokens": budget,
        "estimated_tokens": pack.estimated_tokens + memory.estimated_tokens,
        "memory": asdict(memory),
    }
