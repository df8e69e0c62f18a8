"""The daemon's JSON verbs: parameters from outside in, plain values out."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from triseek.daemon.params import target_root
from triseek.daemon.upkeep import state_of
from triseek.engine import lent
from triseek.engine.journal import Clock
from triseek.errors import Busy, InvalidRequest
from triseek.service.roots import project

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.daemon.upkeep import Upkeep
    from triseek.engine.engine import Engine


NOT_WATCHED = {"kind": "unknown", "reason": "not_watched", "batches": []}
"""What is known of the time since a clock where nobody can say."""


def calls(
    upkeep: Upkeep, resumed: Callable[[str], int] | None = None
) -> Mapping[str, Callable[[dict[str, Any]], Any]]:
    """Every verb but those the server itself knows.

    resumed: The number of a repository's newest resume, told with each `sync`, so that who
        searches there learns of it.
    """
    found = (status, preload_root, reload_root, sync, dirt, frecency_select, frecency_found)
    names = {"reload_root": "reload"}
    verbs = {names.get(call.__name__, call.__name__): partial(call, upkeep) for call in found}
    if resumed is not None:
        verbs["sync"] = partial(_sync_and_resumed, upkeep, resumed)
    return verbs


def status(upkeep: Upkeep, params: dict[str, Any]) -> dict[str, Any]:
    """`{target_root?}`: what is open and how it is kept; of one root, what is dirty now."""
    told: dict[str, Any] = {
        "warm": upkeep.is_warm,
        "active_roots": len(upkeep.service.engines()),
        "roots": upkeep.states(),
    }
    if params.get("target_root") is not None:
        told["root"] = sync(upkeep, params)
    return told


def preload_root(upkeep: Upkeep, params: dict[str, Any]) -> dict[str, Any]:
    """`{target_root, exact?}`: open a root and keep it from now on; `exact`: no folder above it."""
    engine = _engine(upkeep, params, exact=params.get("exact") is True)
    return {"preloaded": True, "target_root": engine.root}


def reload_root(upkeep: Upkeep, params: dict[str, Any]) -> dict[str, Any]:
    """`{target_root}`: let the newest generation of the index answer."""
    engine = _engine(upkeep, params)
    if engine.has_index():
        engine.indexed().catch_up()
    return {"reloaded": True, "target_root": engine.root}


def sync(upkeep: Upkeep, params: dict[str, Any]) -> dict[str, Any]:
    """`{target_root, clock?, cheap?}`: take in all that happened until now; say what is dirty.

    With a clock that an earlier answer gave: also what happened since. `cheap`: not where it takes
    a sweep, because nobody watches.
    """
    engine = _engine(upkeep, params)
    dear = params.get("cheap") is True and engine.watched is None
    if dear or not engine.has_index() or not upkeep.is_warm:
        told = _state(upkeep, engine)
        return {**told, "freshness": "unverified", "dirty": None, "index_generation": None}
    began = time.perf_counter()
    reader, dirty = engine.indexed().look()
    told = {
        **_state(upkeep, engine),  # now: the clock has counted what was taken in
        "freshness": dirty.freshness,
        "dirty": dirty.count,
        "index_generation": reader.generation,
        "ms": round((time.perf_counter() - began) * 1e3, 3),
        **_since(engine, params.get("clock")),
    }
    # A sweep does not tell the journal what it found.
    return told if dirty.freshness == "synced" else {**told, "clock": None, **_unknown(params)}


def _sync_and_resumed(
    upkeep: Upkeep, resumed: Callable[[str], int], params: dict[str, Any]
) -> dict[str, Any]:
    told = sync(upkeep, params)
    return {**told, "hydration": resumed(project(told["target_root"]))}


def dirt(upkeep: Upkeep, params: dict[str, Any]) -> dict[str, Any]:
    """`{target_root, edition}`: the difference to that generation, for who has it open too."""
    engine = _engine(upkeep, params)
    answer = {"target_root": engine.root, "dirt": None}
    if not (engine.has_index() and upkeep.is_warm and engine.watched):
        return answer
    reader, dirty = engine.indexed().look()
    if dirty.freshness != "synced" or lent.edition(reader) != params.get("edition"):
        return answer
    return {**answer, "dirt": lent.told(dirty)}


def frecency_select(upkeep: Upkeep, params: dict[str, Any]) -> dict[str, Any]:
    """`{target_root, paths}`: count files, given by their paths below the root, as chosen."""
    engine = _engine(upkeep, params)
    paths = params.get("paths")
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise InvalidRequest("paths has to be a list of paths below the root")
    frecency = engine.frecency
    if frecency is None or not frecency.claim():
        raise Busy("another process owns the scores of this root")
    recorded = frecency.touch("select", map(os.fsencode, paths))
    frecency.save()
    return {"recorded": recorded}


def frecency_found(upkeep: Upkeep, params: dict[str, Any]) -> dict[str, Any]:
    """`{target_root, pattern, kind, paths}`: count files that an answer listed."""
    engine = _engine(upkeep, params)
    pattern, kind, paths = (params.get(name) for name in ("pattern", "kind", "paths"))
    if not (isinstance(pattern, str) and isinstance(kind, str) and isinstance(paths, list)):
        raise InvalidRequest("pattern and kind have to be texts, paths a list of paths")
    engine.remember(pattern, kind, [os.fsencode(path) for path in paths if isinstance(path, str)])
    return {"recorded": engine.has_index()}


def _since(engine: Engine, clock: object) -> dict[str, Any]:
    """What the journal says of the time since a clock."""
    if clock is None:
        return {}
    if not isinstance(clock, str):
        raise InvalidRequest("clock has to be a clock as an answer gave it")
    watch = engine.watched
    if watch is None:
        return {"since": NOT_WATCHED}
    since = watch.journal.since(Clock.parse(clock))
    batches = [
        {
            "generation": batch.generation,
            "everything": batch.everything,
            "changes": {os.fsdecode(path): what for path, what in batch.changes.items()},
        }
        for batch in since.batches
    ]
    return {"since": {"kind": since.kind, "reason": since.reason, "batches": batches}}


def _unknown(params: dict[str, Any]) -> dict[str, Any]:
    return {} if params.get("clock") is None else {"since": NOT_WATCHED}


def _state(upkeep: Upkeep, engine: Engine) -> dict[str, Any]:
    keeper = upkeep.keeper(engine.root)
    return state_of(keeper) if keeper else {"target_root": engine.root}


def _engine(upkeep: Upkeep, params: dict[str, Any], *, exact: bool = False) -> Engine:
    return upkeep.service.engine(target_root(params), exact=exact)
