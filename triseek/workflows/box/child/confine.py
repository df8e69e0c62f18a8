"""Puts the walls up around this process, before the script is compiled."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time

from triseek.workflows.box.child import landlock, seccomp, system

_FILE_BYTES = 16 << 20
_OPEN_FILES = 64
_APART = {"site-packages", "dist-packages"}
"""Folders of the standard library's folder that belong to others."""


def limit(seconds: float, memory_bytes: int) -> None:
    """Set the limits of one process: CPU time, address space, sizes and numbers of files.

    Raises:
        OSError: one cannot be set.
        ValueError: likewise.
    """
    cpu = int(seconds) + 2
    for name, soft, hard in (
        ("RLIMIT_CPU", cpu, cpu + 1),
        ("RLIMIT_AS", memory_bytes, memory_bytes),
        ("RLIMIT_FSIZE", _FILE_BYTES, _FILE_BYTES),
        ("RLIMIT_NOFILE", _OPEN_FILES, _OPEN_FILES),
        ("RLIMIT_CORE", 0, 0),
    ):
        number = getattr(resource, name)
        _, most = resource.getrlimit(number)
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        try:
            resource.setrlimit(number, (soft, hard))
        except (OSError, ValueError):
            if sys.platform.startswith("linux"):  # macOS has RLIMIT_AS and does not set it
                raise


def confine(*, use_landlock: bool, use_seccomp: bool, folder: str) -> None:
    """Put up the walls that are asked for. No code of the script has run before.

    Raises:
        OSError: one of them cannot be put up.
    """
    time.tzset()  # reads a file that is out of reach later
    _load_with_libraries()
    if sys.platform.startswith("linux"):
        system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
        # A core dump to a program, as systemd has it, ignores its limit.
        system.prctl(system.PR_SET_DUMPABLE, 0)
    if use_landlock:
        readable, listable = _interpreter()
        landlock.restrict(readable=readable, listable=listable, writable=folder)
    if use_seccomp:
        seccomp.restrict()


def limit_processes(room: int) -> None:
    """Let this user have `room` more processes and threads than now, where no filter denies them.

    It does not bind root.
    """
    mine = os.getuid()
    tasks = 0
    for name in os.listdir("/proc") if sys.platform.startswith("linux") else ():
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == mine:
                tasks += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    if tasks:
        _, most = resource.getrlimit(resource.RLIMIT_NPROC)
        wanted = tasks + room
        wanted = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NPROC, (wanted, wanted))


def _load_with_libraries() -> None:
    """Load modules whose shared libraries lie outside the interpreter's folders."""
    with contextlib.suppress(ImportError):
        import _decimal  # noqa: F401 - of `statistics`


def _interpreter() -> tuple[list[str], list[str]]:
    """The standard library: what may be read, and folders that may be listed."""
    readable: list[str] = []
    listable: list[str] = []
    for path in sys.path:
        if not os.path.isdir(path):
            readable += [path] if os.path.isfile(path) else []
            continue
        listable.append(path)
        readable += [entry.path for entry in os.scandir(path) if entry.name not in _APART]
    return readable, listable
