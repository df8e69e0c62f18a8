"""Checks of the kernel's inotify limits against what is in use and what is needed."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

from triseek import config, errors
from triseek.agents.doctor.checks import info, ok, warn
from triseek.files.watch import inotify, watched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.doctor.checks import Finding
    from triseek.agents.doctor.host import DoctorHost
    from triseek.engine.engine import Engine

PROC = "/proc"
_INOTIFY = "anon_inode:inotify"


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
    for name in os.listdir(PROC):  # noqa: PTH208
        path = f"{PROC}/{name}"
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(path).st_uid == user:  # noqa: PTH116
                yield path


def _round(count: int) -> int:
    """Round up to the next power of two, as such limits usually are."""
    return 1 << max(count - 1, 1).bit_length()
