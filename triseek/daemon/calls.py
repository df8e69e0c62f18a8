"""The daemon's JSON verbs on roots."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from triseek.daemon.background_jobs import state_of
from triseek.daemon.params import Verb, is_true, optional_root, target_root
from triseek.engine.freshness.journal import Clock
from triseek.errors import Busy, InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.daemon.background_jobs import BackgroundJobs, RootState
    from triseek.engine.engine import Engine


def _clock(params: Mapping[str, object], name: str) -> str | None:
    clock = params.get(name)
    if clock is not None and not isinstance(clock, str):
        raise InvalidRequest(f"{name} has to be a clock as an answer gave it")
    return clock


def _paths(params: Mapping[str, object], name: str) -> list[str]:
    paths = params.get(name)
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise InvalidRequest(f"{name} has to be a list of paths below the root")
    return paths


@dataclass(frozen=True, slots=True)
class StatusRequest:
    """`{target_root?, clock?, cheap?}`: as `SyncRequest`; by default no root in particular."""

    target_root: Annotated[str, optional_root]
    clock: Annotated[str | None, _clock]
    cheap: Annotated[bool, is_true]


@dataclass(frozen=True, slots=True)
class PreloadRequest:
    """`{target_root, exact?}`; `exact`: no folder above it instead."""

    target_root: Annotated[str, target_root]
    exact: Annotated[bool, is_true]


@dataclass(frozen=True, slots=True)
class ReloadRequest:
    """`{target_root}`."""

    target_root: Annotated[str, target_root]


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """`{target_root, clock?, cheap?}`.

    clock: Of an earlier answer, for the changes since then. cheap: Skip the check where it would
    take a sweep because the root is not watched.
    """

    target_root: Annotated[str, target_root]
    clock: Annotated[str | None, _clock]
    cheap: Annotated[bool, is_true]


@dataclass(frozen=True, slots=True)
class SelectRequest:
    """`{target_root, paths}`; paths below the root."""

    target_root: Annotated[str, target_root]
    paths: Annotated[list[str], _paths]


class Status(TypedDict):
    """Answer of `status`."""

    warm: bool
    active_roots: int
    roots: list[RootState]
    root: NotRequired[dict[str, Any]]


class Preloaded(TypedDict):
    """Answer of `preload_root`."""

    preloaded: bool
    target_root: str


class Reloaded(TypedDict):
    """Answer of `reload`."""

    reloaded: bool
    target_root: str


class Selected(TypedDict):
    """Answer of `frecency_select`."""

    recorded: int


class SyncBatch(TypedDict):
    """SyncChanges that were made at one time."""

    generation: int
    everything: bool
    changes: Mapping[str, str]


class SyncChanges(TypedDict):
    """SyncChanges since a clock."""

    kind: str
    reason: str | None
    batches: list[SyncBatch]


class Since(TypedDict, total=False):
    """Part of the answer of `sync`: only if a clock was passed."""

    since: SyncChanges


NOT_WATCHED: SyncChanges = {"kind": "unknown", "reason": "not_watched", "batches": []}
"""SyncChanges since a clock for a root that is not watched."""


def status(jobs: BackgroundJobs, request: StatusRequest) -> Status:
    """Return the open roots and their state; of one root, the dirty count too."""
    answer: Status = {
        "warm": jobs.is_warm,
        "active_roots": len(jobs.service.engines()),
        "roots": jobs.states(),
    }
    if request.target_root:
        root = SyncRequest(request.target_root, request.clock, request.cheap)
        answer["root"] = sync(jobs, root)
    return answer


def preload_root(jobs: BackgroundJobs, request: PreloadRequest) -> Preloaded:
    """Open and maintain a root."""
    engine = jobs.service.engine(request.target_root, exact=request.exact)
    return {"preloaded": True, "target_root": engine.root}


def reload_root(jobs: BackgroundJobs, request: ReloadRequest) -> Reloaded:
    """Switch to the newest generation of the index."""
    engine = jobs.service.engine(request.target_root)
    if engine.has_index():
        engine.indexed().catch_up()
    return {"reloaded": True, "target_root": engine.root}


def sync(jobs: BackgroundJobs, request: SyncRequest) -> dict[str, Any]:
    """Process all events until now; return what is dirty, and what has changed since a clock."""
    engine = jobs.service.engine(request.target_root)
    needs_sweep = request.cheap and engine.watched is None
    if needs_sweep or not engine.has_index() or not jobs.is_warm:
        answer = _state(jobs, engine)
        return {**answer, "freshness": "unverified", "dirty": None, "index_generation": None}
    began = time.perf_counter()
    reader, dirty = engine.indexed().look()
    answer = {
        **_state(jobs, engine),  # read after `look`: the clock includes the new events
        "freshness": dirty.freshness,
        "dirty": dirty.count,
        "index_generation": reader.generation,
        "ms": round((time.perf_counter() - began) * 1e3, 3),
        **_since(engine, request.clock),
    }
    # A sweep does not record its findings in the journal.
    if dirty.freshness == "synced":
        return answer
    unknown: Since = {} if request.clock is None else {"since": NOT_WATCHED}
    return {**answer, "clock": None, **unknown}


def frecency_select(jobs: BackgroundJobs, request: SelectRequest) -> Selected:
    """Record that the user chose files."""
    frecency = jobs.service.engine(request.target_root).frecency
    if frecency is None or not frecency.claim():
        raise Busy("another process owns the scores of this root")
    recorded = frecency.touch("select", map(os.fsencode, request.paths))
    frecency.save()
    return {"recorded": recorded}


def _since(engine: Engine, clock: str | None) -> Since:
    """Return the changes that the journal records since a clock."""
    if clock is None:
        return {}
    watch = engine.watched
    if watch is None:
        return {"since": NOT_WATCHED}
    since = watch.journal.since(Clock.parse(clock))
    batches: list[SyncBatch] = [
        {
            "generation": batch.generation,
            "everything": batch.everything,
            "changes": {os.fsdecode(path): what for path, what in batch.changes.items()},
        }
        for batch in since.batches
    ]
    return {"since": {"kind": since.kind, "reason": since.reason, "batches": batches}}


def _state(jobs: BackgroundJobs, engine: Engine) -> dict[str, Any]:
    maintainer = jobs.maintainer(engine.root)
    return dict(state_of(maintainer)) if maintainer else {"target_root": engine.root}


VERBS: Mapping[str, Verb[BackgroundJobs, Any]] = {
    "status": Verb(StatusRequest, status),
    "preload_root": Verb(PreloadRequest, preload_root),
    "reload": Verb(ReloadRequest, reload_root),
    "sync": Verb(SyncRequest, sync),
    "frecency_select": Verb(SelectRequest, frecency_select),
}
