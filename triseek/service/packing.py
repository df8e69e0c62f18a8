"""context_pack, as agents ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.engine.context_pack import context_pack
from triseek.service import envelopes
from triseek.service.desk import patience, working

if TYPE_CHECKING:
    from triseek.model.context_pack import ContextPackRequest
    from triseek.service.desk import Call, Desk


def pack(desk: Desk, request: ContextPackRequest, call: Call) -> dict[str, Any]:
    """Choose the few files to start a task from.

    Raises:
        InvalidQuery: the goal is blank, or there is no such intent.
        InvalidRequest: a changed file lies outside of the root.
        RepoNotDetected: the root is gone.
    """
    engine = desk.engine
    with working(call):
        answer = context_pack(engine, request, patience(call)).envelope()
    return answer | {"repo_root": envelopes.printable(engine.root)}
