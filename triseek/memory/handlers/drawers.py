"""Handlers of memory_remember, _recall, _recall_deep, _list, _forget, _update and _restore."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.memory import names
from triseek.memory.drawers import Draft
from triseek.memory.handlers import checks
from triseek.model.moment import rfc3339

if TYPE_CHECKING:
    from triseek.memory import requests, results
    from triseek.memory.context import MemoryContext
    from triseek.memory.drawers import Drawer
    from triseek.model.call import Call

ESSENTIAL_MAX = 300
"""Characters of an essential drawer: agents read them with each recall."""


def remember(
    context: MemoryContext, request: requests.MemoryRememberRequest, _call: Call
) -> results.StoredAnswer:
    """Write a drawer.

    Raises:
        InvalidRequest: An argument is outside of its bounds, or there is no such palace.
        BackendFailure: No daemon runs.
        StateUnwritable, StateCorrupt, Busy: The database cannot be written.
    """
    checks.in_bounds(request)
    names.text(request.text)  # before a palace is made for it
    palace = context.palace(request.palace, creates=True)
    draft = Draft(
        text=request.text, room=request.room, tags=request.tags, importance=request.importance,
        source=request.source,
    )  # fmt: skip
    drawer = context.memory.remember(palace, draft)
    return {"drawer_id": drawer.uuid, "palace": palace, "status": "stored"}


def recall(
    context: MemoryContext, request: requests.MemoryRecallRequest, _call: Call
) -> results.RecallAnswer:
    """Return the drawers that answer a query. Raises as `remember`, and InvalidQuery for a time."""
    return _recalled(context, request, deep=False)


def recall_deep(
    context: MemoryContext, request: requests.MemoryRecallDeepRequest, _call: Call
) -> results.RecallAnswer:
    """Return more of the drawers that answer a query. Raises as `recall`."""
    return _recalled(context, request, deep=True)


def _recalled(
    context: MemoryContext, request: requests.Recall, *, deep: bool
) -> results.RecallAnswer:
    checks.in_bounds(request)
    query, since_ms = checks.query(request.query), checks.since_ms(request.since)
    palace = context.palace(request.palace)
    answer: results.RecallAnswer = {
        "palace": palace, "query": request.query, "results": [],
        "context": {"identity": "", "essentials": []},
    }  # fmt: skip
    if not palace:
        answer["hint"] = checks.NO_PALACE
        return answer
    recalled = context.memory.recall(
        palace, query, request.top_k,
        room=request.room, tag=request.tag, since_ms=since_ms, deep=deep,
    )  # fmt: skip
    answer["results"] = [
        {
            "drawer_id": hit.drawer.uuid,
            "content": hit.drawer.text,
            "score": round(hit.score, 4),
            "layer": 3 if deep else 2,
            "tags": list(hit.drawer.tags),
            "importance": hit.drawer.importance,
            "room": hit.drawer.room,
            "created_at": rfc3339(hit.drawer.created_ms),
        }
        for hit in recalled.hits
    ]
    ranked = {hit.drawer.uuid for hit in recalled.hits}
    answer["context"] = {
        "identity": recalled.identity,
        "essentials": [
            _essential(drawer) for drawer in recalled.essentials if drawer.uuid not in ranked
        ],
    }
    return answer


def _essential(drawer: Drawer) -> results.EssentialDrawer:
    text = drawer.text
    if len(text) > ESSENTIAL_MAX:
        text = text[: ESSENTIAL_MAX - 1] + "…"
    return {
        "drawer_id": drawer.uuid, "content": text, "importance": drawer.importance,
        "room": drawer.room,
    }  # fmt: skip


def listed(
    context: MemoryContext, request: requests.MemoryListRequest, _call: Call
) -> results.DrawersAnswer:
    """List drawers. Raises as `recall`."""
    checks.in_bounds(request)
    since_ms = checks.since_ms(request.since)
    palace = context.palace(request.palace)
    answer: results.DrawersAnswer = {"palace": palace, "drawers": []}
    if not palace:
        answer["hint"] = checks.NO_PALACE
        return answer
    drawers = context.memory.listed(
        palace, room=request.room, tag=request.tag, since_ms=since_ms,
        limit=request.limit + 1, offset=request.offset,
    )  # fmt: skip
    answer["drawers"] = [
        {
            "drawer_id": drawer.uuid,
            "content": drawer.text,
            "importance": drawer.importance,
            "tags": list(drawer.tags),
            "created_at": rfc3339(drawer.created_ms),
            "room": drawer.room,
        }
        for drawer in drawers[: request.limit]
    ]
    if len(drawers) > request.limit:
        answer["next_offset"] = request.offset + request.limit
    return answer


def forget(
    context: MemoryContext, request: requests.MemoryForgetRequest, _call: Call
) -> results.ForgottenAnswer:
    """Delete a drawer. Raises as `remember`."""
    drawer, palace = names.drawer(request.drawer_id), context.palace(request.palace)
    is_gone = bool(palace) and context.memory.forget(palace, drawer, purges=request.purge)
    status: results.ForgottenStatus = "purged" if request.purge else "deleted"
    return {"status": status if is_gone else "not_found", "drawer_id": drawer, "palace": palace}


def restore(
    context: MemoryContext, request: requests.MemoryRestoreRequest, _call: Call
) -> results.ForgottenAnswer:
    """Bring a deleted drawer back. Raises as `remember`."""
    drawer, palace = names.drawer(request.drawer_id), context.palace(request.palace)
    is_back = bool(palace) and context.memory.restore(palace, drawer)
    return {
        "status": "restored" if is_back else "not_found", "drawer_id": drawer, "palace": palace
    }  # fmt: skip


def update(
    context: MemoryContext, request: requests.MemoryUpdateRequest, _call: Call
) -> results.StoredAnswer:
    """Write another text into a drawer. Raises as `remember`; also if there is no such drawer."""
    palace = context.palace(request.palace)
    if not palace:
        raise checks.no_palace()
    drawer = context.memory.update(palace, request.drawer_id, request.text)
    return {"drawer_id": drawer.uuid, "palace": palace, "status": "updated"}
