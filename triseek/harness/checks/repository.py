"""The repository the doctor was called in: its index, and whether it is watched."""

from __future__ import annotations

import datetime as dt
import shlex
from typing import TYPE_CHECKING, Any

from triseek import errors
from triseek.files.mounts import obstacle
from triseek.files.root import git_root
from triseek.harness.checks.finding import fail, info, ok, warn
from triseek.ipc import client
from triseek.kernels import cache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.engine import Engine
    from triseek.harness.checks.finding import Finding
    from triseek.harness.checks.host import Host

PATIENCE_S = 8.0
"""A daemon that has yet to open the root sweeps it first."""


def repository(host: Host, engine: Engine) -> Iterator[Finding]:
    """Its index, whether that is what the tree holds, and whether it is watched."""
    repo = git_root(host.cwd)
    if not engine.has_index():
        if repo is None:
            yield info("index", f"none of {engine.root}, which is no git repository")
        else:
            yield warn(
                "index", f"none of {repo}; other roads answer", f"triseek build {shlex.quote(repo)}"
            )
        return
    told = None if host.is_daemon_stuck else _told(engine)
    if told is not None and told.get("freshness") in ("synced", "swept"):
        yield ok("index", f"of {engine.root}, {_differing(told['dirty'])}")
        yield _watched(engine, told)
    elif cache.is_ready():
        yield _looked_at(engine)
    else:
        yield info(
            "index", f"of {engine.root}; not compared with the tree, because that takes kernels",
            "triseek warmup",
        )  # fmt: skip


def _told(engine: Engine) -> dict[str, Any] | None:
    """What the daemon knows of the root; None if there is none, or it cannot say."""
    try:
        return client.ask("sync", {"target_root": engine.root}, timeout_s=PATIENCE_S)
    except errors.TriseekError:
        return None  # what is wrong with the daemon is another check's


def _watched(engine: Engine, told: dict[str, Any]) -> Finding:
    if told.get("watched"):
        return ok("watching", f"{engine.root}: an edit is seen by the next answer")
    why = obstacle(engine.root.encode(errors="surrogateescape")) or str(told.get("trouble") or "")
    if not why:
        return info("watching", f"{engine.root}: not yet; the next answers are")
    return warn(
        "watching", f"{engine.root}: not watched, so each answer takes a sweep: {why}",
        str(told.get("fix") or "") or "triseek daemon logs",
    )  # fmt: skip


def _looked_at(engine: Engine) -> Finding:
    """Compare it with the tree here."""
    found = engine.status()
    if not found.present:
        return fail(
            "index", f"of {engine.root}: {found.problem or 'it cannot be read'}",
            f"triseek reindex {shlex.quote(engine.root)}",
        )  # fmt: skip
    made = dt.datetime.fromtimestamp((found.updated_ns or 0) / 1e9).astimezone()
    detail = f"of {engine.root}, {found.files:,} files, written {made:%Y-%m-%d %H:%M}"
    if found.fresh:
        return ok("index", f"{detail}, {_differing(0)}")
    return info(
        "index",
        f"{detail}, {_differing(found.dirty)}",
        f"triseek update {shlex.quote(engine.root)}",
    )


def _differing(dirty: int | None) -> str:
    if not dirty:
        return "and it is what the tree holds"
    files = "1 file" if dirty == 1 else f"{dirty:,} files"
    return f"{files} changed since; they are scanned"
