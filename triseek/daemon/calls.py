"""The daemon's JSON verbs: parameters from outside in, plain values out."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from triseek.daemon.upkeep import state_of
from triseek.errors import Busy, InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.daemon.upkeep import Upkeep
    from triseek.engine.engine import Engine


def calls(upkeep: Upkeep) -> Mapping[str, Callable[[dict[str, Any]], Any]]:
    """Every verb but those the server itself knows."""
    found = (status, preload_root, reload_root, sync, frecency_select)
    names = {"reload_root": "reload"}
    return {names.get(call.__name__, call.__name__): partial(call, upkeep) for call in found}


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
    """`{target_root}`: open a root and keep it from now on."""
    engine = _engine(upkeep, params)
    return {"preloaded": True, "target_root": engine.root}


def reload_root(upkeep: Upkeep, params: dict[str, Any]) -> dict[str, Any]:
    """`{target_root}`: let the newest generation of the index answer."""
    engine = _engine(upkeep, params)
    if engine.has_index():
        engine.indexed().catch_up()
    return {"reloaded": True, "target_root": engine.root}


def sync(upkeep: Upkeep, params: dict[str, Any]) -> dict[str, Any]:
    """`{target_root}`: take in everything that happened until now, and say what is dirty."""
    engine = _engine(upkeep, params)
    if not engine.has_index() or not upkeep.is_warm:
        told = _state(upkeep, engine)
        return {**told, "freshness": "unverified", "dirty": None, "index_generation": None}
    began = time.perf_counter()
    dirt = engine.indexed().dirt()
    return {
        **_state(upkeep, engine),  # now: the clock has counted what was taken in
        "freshness": dirt.freshness,
        "dirty": dirt.count,
        "index_generation": engine.reader().generation,
        "ms": round((time.perf_counter() - began) * 1e3, 3),
    }


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


def _state(upkeep: Upkeep, engine: Engine) -> dict[str, Any]:
    keeper = upkeep.keeper(engine.root)
    return state_of(keeper) if keeper else {"target_root": engine.root}


def _engine(upkeep: Upkeep, params: dict[str, Any]) -> Engine:
    root = params.get("target_root")
    if not isinstance(root, str) or not os.path.isabs(root) or "\0" in root:  # noqa: PTH117
        raise InvalidRequest(f"target_root has to be an absolute path, not {root!r}")
    return upkeep.service.engine(root)
