"""Handlers of index_status and reindex."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from triseek.engine import reindex_process
from triseek.search import envelopes

if TYPE_CHECKING:
    from triseek.model.call import Call
    from triseek.search.context import SearchContext
    from triseek.search.requests import IndexStatusRequest, ReindexRequest
    from triseek.search.results import IndexStatusAnswer, ReindexAnswer


def index_status(
    context: SearchContext, _request: IndexStatusRequest, _call: Call
) -> IndexStatusAnswer:
    """Return what the index holds, and whether it matches the tree.

    Raises:
        RepoNotDetected: the root does not exist any more.
    """
    engine = context.engine
    if not engine.has_index():
        return {
            **envelopes.head(engine.root),
            "index_present": False,
            "index_fresh": False,
            "indexed_files": 0,
            "index_bytes": 0,
            "last_updated": None,
            "repo_category": None,
            "routing_hint": "index_syncing" if context.is_building else "ripgrep_fallback",
        }
    status = engine.status()
    clock, _ = engine.since()
    answer: IndexStatusAnswer = {
        **envelopes.head(engine.root),
        "index_present": status.present,
        # Changes that the index lacks may be known from events, and so be in every answer.
        "index_fresh": status.fresh or (status.present and clock is not None),
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
    trouble = context.host.trouble(engine)
    if trouble is not None and trouble.reason:
        fix = f"; to fix it: {trouble.fix}" if trouble.fix else ""
        answer["not_watched"] = f"{trouble.reason}{fix}"
    return answer


def reindex(context: SearchContext, request: ReindexRequest, call: Call) -> ReindexAnswer:
    """Update the index in another process; searches go on meanwhile.

    Raises:
        Busy: another process is writing this index.
        StateUnwritable: there is nowhere to write it to.
        RepoNotDetected: the root does not exist any more.
        BackendFailure: that process failed.
    """
    engine, began = context.engine, time.perf_counter()
    report = reindex_process.reindex(engine.root, request.mode, call.progress, call.cancelled)
    if engine.has_index():
        engine.indexed().catch_up()
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
