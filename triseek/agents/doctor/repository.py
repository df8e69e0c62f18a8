"""Checks of the repository the doctor was called in: its index, and whether it is watched."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek import config, errors
from triseek.agents.doctor.checks import fail, info, ok, warn
from triseek.files.mounts import obstacle
from triseek.files.tree.index_policy import is_home_or_above
from triseek.files.tree.index_policy import repository as repository_of
from triseek.files.watch import inotify, watched
from triseek.ipc import client
from triseek.kernels import cache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.doctor.checks import Finding
    from triseek.agents.doctor.host import DoctorHost
    from triseek.engine.engine import Engine

PATIENCE_S = 8.0
"""Seconds. A daemon that has not opened the root yet sweeps it first."""
_PROC = "/proc"
_INOTIFY = "anon_inode:inotify"


def repository(host: DoctorHost, engine: Engine) -> Iterator[Finding]:
    """Check the index, whether it matches the tree, and whether the tree is watched."""
    repo = repository_of(host.cwd)
    if not engine.has_index():
        if repo is None:
            is_wide = is_home_or_above(engine.root)
            why = "is not indexed by itself" if is_wide else "is no git repository"
            yield info("index", f"none of {engine.root}, which {why}")
        else:
            yield warn(
                "index",
                f"none of {repo}; other backends answer",
                f"triseek build {shlex.quote(repo)}",
            )
        return
    state = None if host.is_daemon_stuck else _daemon_state(engine)
    if state is not None and state.get("freshness") in ("synced", "swept"):
        yield ok("index", f"of {engine.root}, {_differing(state['dirty'])}")
        yield _watching(engine, state)
    elif cache.is_ready():
        yield _compared(engine)
    else:
        yield info(
            "index", f"of {engine.root}; not compared with the tree, because that takes kernels",
            "triseek warmup",
        )  # fmt: skip


def _daemon_state(engine: Engine) -> dict[str, Any] | None:
    """Return the daemon's state of the root; None if there is no daemon or it gives an error."""
    try:
        return client.ask("sync", {"target_root": engine.root}, timeout_s=PATIENCE_S)
    except errors.TriseekError:
        return None  # another check reports problems of the daemon


def _watching(engine: Engine, state: dict[str, Any]) -> Finding:
    if state.get("watched"):
        return ok("watching", f"{engine.root}: an edit is seen by the next answer")
    why = obstacle(engine.root.encode(errors="surrogateescape")) or str(state.get("trouble") or "")
    if not why:
        return info("watching", f"{engine.root}: not yet; the next answers are")
    return warn(
        "watching", f"{engine.root}: not watched, so each answer takes a sweep: {why}",
        str(state.get("fix") or "") or "triseek daemon logs",
    )  # fmt: skip


def _compared(engine: Engine) -> Finding:
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


class Taken(NamedTuple):
    """Inotify instances and watches in use by processes of this user."""

    instances: int
    watches: int


def limits(_host: DoctorHost, engine: Engine) -> Iterator[Finding]:
    """Check that this repository's folders can be watched and that an instance is free."""
    watches, instances = (inotify.limit(f"max_user_{name}") for name in ("watches", "instances"))
    if watches is None or instances is None:
        yield info("watch limits", "this system has none that can be read")
        return
    taken, need = taken_by(_own_processes()), folders(engine)
    if taken.instances >= instances:
        yield warn(
            "watch limits", f"all {instances} inotify instances are taken",
            f"sudo sysctl fs.inotify.max_user_instances={instances * 4}",
        )  # fmt: skip
    allowed = watched.allowance(config.Settings().watch_max_folders)
    with contextlib.suppress(errors.InvalidRequest):
        allowed = watched.allowance(config.read().watch_max_folders)
    yield enough(need, allowed, watches, taken)


def enough(need: int, allowed: int, watches: int, taken: Taken) -> Finding:
    """Compare the watches that a root needs with the limits.

    Args:
        need: folders to be watched; 0 if not known.
        allowed: the most watches that the daemon takes.
        watches: the kernel's limit of watches per user.
        taken: watches and instances in use by the user's processes, the daemon included.
    """
    if need > watches // 4:
        return warn(
            "watch limits", f"{need:,} folders here, of {watches:,} watches a quarter may be taken",
            f"sudo sysctl fs.inotify.max_user_watches={_round(need * 4)}",
        )  # fmt: skip
    if need > allowed:
        return warn(
            "watch limits", f"{need:,} folders here, and watch.max_folders is {allowed:,}",
            f"export TRISEEK_WATCH_MAX_FOLDERS={_round(need)}; triseek daemon restart",
        )  # fmt: skip
    if taken.watches >= watches:
        return warn(
            "watch limits", f"all {watches:,} watches are taken",
            f"sudo sysctl fs.inotify.max_user_watches={_round(watches * 2)}",
        )  # fmt: skip
    needed = f"{need:,} needed here, " if need else ""
    return ok("watch limits", f"{needed}{taken.watches:,} of {watches:,} watches taken")


def folders(engine: Engine) -> int:
    """Return the number of folders in the index; 0 without a usable index."""
    if not engine.has_index():
        return 0
    try:
        return int(engine.reader().directories.rows)
    except errors.TriseekError:
        return 0


def taken_by(processes: Iterator[str]) -> Taken:
    """Count instances and watches of processes, named by their folders below /proc."""
    instances = watches = 0
    for process in processes:
        with contextlib.suppress(OSError):
            for number in os.listdir(f"{process}/fd"):  # noqa: PTH208
                with contextlib.suppress(OSError):
                    if os.readlink(f"{process}/fd/{number}") == _INOTIFY:  # noqa: PTH115
                        instances += 1
                        watches += _watches(f"{process}/fdinfo/{number}")
    return Taken(instances, watches)


def _watches(path: str) -> int:
    with open(path, "rb") as file:  # noqa: PTH123 - a path of the kernel's
        return sum(line.startswith(b"inotify ") for line in file)


def _own_processes() -> Iterator[str]:
    user = os.geteuid()
    for name in os.listdir(_PROC):  # noqa: PTH208
        path = f"{_PROC}/{name}"
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(path).st_uid == user:  # noqa: PTH116
                yield path


def _round(count: int) -> int:
    """Round up to the next power of two, as such limits usually are."""
    return 1 << max(count - 1, 1).bit_length()
