"""Checks of the repository the doctor was called in: its index, and whether it is watched."""

from __future__ import annotations

import datetime as dt
import shlex
from typing import TYPE_CHECKING, Any

from triseek import errors
from triseek.agents.doctor.checks import fail, info, ok, warn
from triseek.files.mounts import obstacle
from triseek.files.tree.root import git_root
from triseek.ipc import client
from triseek.kernels import cache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.doctor.checks import Finding
    from triseek.agents.doctor.host import DoctorHost
    from triseek.engine.engine import Engine

PATIENCE_S = 8.0
"""Seconds. A daemon that has not opened the root yet sweeps it first."""


def repository(host: DoctorHost, engine: Engine) -> Iterator[Finding]:
    """Check the index, whether it matches the tree, and whether the tree is watched."""
    repo = git_root(host.cwd)
    if not engine.has_index():
        if repo is None:
            yield info("index", f"none of {engine.root}, which is no git repository")
        else:
            yield warn(
                "index",
                f"none of {repo}; other backends answer",
                f"triseek build {shlex.quote(repo)}",
            )
        return
    state = None if host.is_daemon_stuck else _told(engine)
    if state is not None and state.get("freshness") in ("synced", "swept"):
        yield ok("index", f"of {engine.root}, {_differing(state['dirty'])}")
        yield _watched(engine, state)
    elif cache.is_ready():
        yield _looked_at(engine)
    else:
        yield info(
            "index", f"of {engine.root}; not compared with the tree, because that takes kernels",
            "triseek warmup",
        )  # fmt: skip


def _told(engine: Engine) -> dict[str, Any] | None:
    """Return the daemon's state of the root; None if there is no daemon or it gives an error."""
    try:
        return client.ask("sync", {"target_root": engine.root}, timeout_s=PATIENCE_S)
    except errors.TriseekError:
        return None  # another check reports problems of the daemon


def _watched(engine: Engine, state: dict[str, Any]) -> Finding:
    if state.get("watched"):
        return ok("watching", f"{engine.root}: an edit is seen by the next answer")
    why = obstacle(engine.root.encode(errors="surrogateescape")) or str(state.get("trouble") or "")
    if not why:
        return info("watching", f"{engine.root}: not yet; the next answers are")
    return warn(
        "watching", f"{engine.root}: not watched, so each answer takes a sweep: {why}",
        str(state.get("fix") or "") or "triseek daemon logs",
    )  # fmt: skip


def _looked_at(engine: Engine) -> Finding:
    """Compare the index with the tree in this process."""
    status = engine.status()
    if not status.present:
        return fail(
            "index", f"of {engine.root}: {status.problem or 'it cannot be read'}",
            f"triseek reindex {shlex.quote(engine.root)}",
        )  # fmt: skip
    made = dt.datetime.fromtimestamp((status.updated_ns or 0) / 1e9).astimezone()
    detail = f"of {engine.root}, {status.files:,} files, written {made:%Y-%m-%d %H:%M}"
    if status.fresh:
        return ok("index", f"{detail}, {_differing(0)}")
    return info(
        "index",
        f"{detail}, {_differing(status.dirty)}",
        f"triseek update {shlex.quote(engine.root)}",
    )


def _differing(dirty: int | None) -> str:
    if not dirty:
        return "and it is what the tree holds"
    files = "1 file" if dirty == 1 else f"{dirty:,} files"
    return f"{files} changed since; they are scanned"
