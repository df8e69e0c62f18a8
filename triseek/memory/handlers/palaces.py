"""Handlers of palace_create, palace_list and palace_info."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.memory.handlers import checks

if TYPE_CHECKING:
    from triseek.memory import requests, results
    from triseek.memory.context import MemoryContext
    from triseek.model.call import Call


def create(
    context: MemoryContext, request: requests.PalaceCreateRequest, _call: Call
) -> results.CreatedAnswer:
    """Make a palace, or keep the one that is there.

    Raises:
        InvalidRequest: The name is not valid.
        BackendFailure: No daemon runs.
        StateUnwritable, StateCorrupt, Busy: The database cannot be written.
    """
    is_new = context.memory.create(request.name, request.description)
    return {"palace_id": request.name, "status": "created" if is_new else "exists"}


def listed(
    context: MemoryContext, _request: requests.PalaceListRequest, _call: Call
) -> results.PalacesAnswer:
    """List the palaces. Raises as `create`."""
    memory = context.memory
    return {"palaces": memory.palaces() if memory.exists() else []}


def info(
    context: MemoryContext, request: requests.PalaceInfoRequest, _call: Call
) -> results.InfoAnswer:
    """Return the size of a palace. Raises as `create`; also if there is no such palace."""
    palace = context.palace(request.palace)
    answer: results.InfoAnswer = {
        "id": palace, "name": palace, "drawer_count": 0, "data_dir": context.memory.folder,
        "triple_count": 0, "description": "",
    }  # fmt: skip
    if not palace:
        answer["hint"] = checks.NO_PALACE
        return answer
    known = context.memory.info(palace)
    answer["drawer_count"], answer["triple_count"] = known.drawers, known.triples
    answer["description"] = known.description
    return answer
