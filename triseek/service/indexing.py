"""index_status and reindex, as agents ask for them."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from triseek.service import apart, envelopes

if TYPE_CHECKING:
    from triseek.model.results import IndexStatusAnswer, ReindexAnswer
    from triseek.model.tools import IndexStatusRequest, ReindexRequest
    from triseek.service.desk import Call, Desk


def index_status(desk: Desk, _request: IndexStatusRequest, _call: Call) -> IndexStatusAnswer:
    """Say what the index holds, and whether it is what the tree holds.

    Raises:
        RepoNotDetected: the root is gone.
    """
    engine = desk.engine
    if not engine.has_index():
        return {
            **envelopes.head(engine.root),
            "index_present": False,
            "index_fresh": False,
            "indexed_files": 0,
            "index_bytes": 0,
            "last_updated": None,
            "repo_category": None,
            "routing_hint": "index_syncing" if desk.is_syncing() else "ripgrep_fallback",
        }
    status = engine.status()
    known = desk.lending.ask("sync", {"cheap": True}) or {}
    answer: IndexStatusAnswer = {
        **envelopes.head(engine.root),
        "index_present": status.present,
        # What the index lacks may be known from events, and so in every answer.
        "index_fresh": status.fresh or (status.present and known.get("clock") is not None),
        "indexed_files": status.files,
        "index_bytes": status.index_bytes,
        "last_updated": _time(status.updated_ns),
        "repo_category": status.category,
        "routing_hint": "indexed_default" if status.present else "ripgrep_fallback",
        "generation": status.generation,
        "dirty_files": status.dirty,
    }
    if status.problem:
        answer["problem"] = status.problem
    if known.get("trouble"):
        fix = f"; to fix it: {known['fix']}" if known.get("fix") else ""
        answer["not_watched"] = f"{known['trouble']}{fix}"
    return answer


def reindex(desk: Desk, request: ReindexRequest, call: Call) -> ReindexAnswer:
    """Bring the index up to date, in another process; answers go on meanwhile.

    Raises:
        Busy: another process is writing this index.
        StateUnwritable: there is nowhere to write it to.
        RepoNotDetected: the root is gone.
        BackendFailure: that process failed.
    """
    engine, began = desk.engine, time.perf_counter()
    report = apart.reindex(engine.root, request.mode, call.progress, call.cancelled)
    desk.lending.ask("reload", {})
    return {
        **envelopes.head(engine.root),
        "completed": True,
        "mode": request.mode,
        "rebuilt_full": report.rebuilt_full,
        "elapsed_ms": round((time.perf_counter() - began) * 1e3),
        "indexed_files": report.files_indexed,
    }


def _time(nanoseconds: int | None) -> str | None:
    if nanoseconds is None:
        return None
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
