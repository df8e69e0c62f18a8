"""Start a daemon behind the process that wanted one, and wait for it where somebody must.

A daemon that starts by itself is vetoed by TRISEEK_NO_DAEMON, by CI (a build machine wants no
process left behind) and by `[daemon] autostart = false`; one that dies at its start is not tried
again for ten seconds, by whichever process. The daemon's own lock decides between several.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

from triseek import __version__, errors, paths
from triseek.ipc import address, client, folder, lock
from triseek.ipc.aside import AGAIN_S, STAMP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

FIRST_WORDS = "start.log"
"""The new daemon's stderr: what it says before it has a log, and what a crash says."""
_PROBE_S = 0.02

_children: list[int] = []
"""Daemons we started; each is waited for once it has ended, or it would stay a zombie."""


def veto() -> str:
    """Why no daemon may start by itself: one phrase, "" if it may."""
    if os.environ.get("TRISEEK_NO_DAEMON"):
        return "TRISEEK_NO_DAEMON is set"
    if os.environ.get("CI"):
        return "CI is set"
    from triseek import config

    try:
        return "" if config.read().autostart else "daemon.autostart is false"
    except errors.InvalidRequest as error:
        return str(error)  # whoever runs the daemon hears of it; a search goes on


def behind() -> bool:
    """Start a daemon if one may start by itself, and do not wait; whether one was started.

    Only after `ipc.address.Absent`: `Forbidden` is no reason to start anything. Never raises.
    """
    if veto():
        return False
    try:
        folder.ensure()
        return _claim() and start() > 0
    except (OSError, errors.TriseekError):
        return False  # a read-only home: the search has its answer without a daemon


def start(words: tuple[str, ...] = ()) -> int:
    """Start a daemon because somebody asked for it; its pid. Whether it lives is not known yet.

    Args:
        words: more words for `triseek daemon run`.

    Raises:
        StateUnwritable: the daemon's folder is not to be used.
        OSError: the process cannot be started.
    """
    where = folder.ensure()
    _reap()
    with open(os.path.join(where, FIRST_WORDS), "wb", opener=_private) as said:
        return _detached(("-m", "triseek", "daemon", "run", *words), said)


def wait_until_ready(timeout_s: float, pid: int = 0) -> bool:
    """Wait until a daemon takes connections; whether one does.

    Args:
        timeout_s: the longest wait.
        pid: a daemon of our own; that it has ended, and no other is about to listen, ends the wait.
    """
    until = time.monotonic() + timeout_s
    while True:
        _reap()
        ended = pid != 0 and pid not in _children and lock.is_free()
        try:
            address.connect(timeout_s).close()
        except address.Absent:
            if ended or time.monotonic() > until:
                return False
        except (address.Forbidden, address.Stuck):
            return False
        else:
            return True
        time.sleep(_PROBE_S)


def replace(timeout_s: float = 10.0) -> bool:
    """End a daemon of another version and start this version's; whether one of ours runs now.

    Two versions used in turn would end each other's daemon with every search: the ten seconds
    between attempts count here too. Never raises.
    """
    if veto():
        return False
    try:
        folder.ensure()
        if not _claim():
            return False
        with contextlib.suppress(errors.DaemonUnreachable):  # it may have ended by itself
            if client.ask("ping", timeout_s=timeout_s).get("version") == __version__:
                return True  # somebody else was quicker
            client.ask("shutdown", timeout_s=timeout_s)
        return lock.wait_until_free(timeout_s) and start() > 0
    except (OSError, errors.TriseekError):
        return False


def replace_behind() -> None:
    """`replace` in a process of its own, and do not wait. Never raises.

    The old daemon may take seconds to finish its requests; who waits for us has the answer.
    """
    if veto():
        return
    with contextlib.suppress(OSError):
        _detached(("-c", "from triseek.ipc import spawn; spawn.replace()"))


def first_words() -> str:
    """What the daemon started last said on its way: its last line, "" for nothing."""
    try:
        with open(os.path.join(paths.daemon(), FIRST_WORDS), encoding="utf-8") as file:
            lines = file.read(1 << 16).strip().splitlines()
    except (OSError, ValueError):
        return ""
    return lines[-1] if lines else ""


def _claim() -> bool:
    """Whether this process may try now: the last attempt, by anybody, is long enough ago."""
    descriptor = os.open(os.path.join(paths.daemon(), STAMP), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # The first attempt finds an empty file; the byte and the time are written under a lock.
        if not lock.try_exclusively(descriptor):
            return False
        found = os.fstat(descriptor)
        if found.st_size and abs(time.time() - found.st_mtime) < AGAIN_S:
            return False
        os.pwrite(descriptor, b"*", 0)
        os.utime(descriptor)
        return True
    finally:
        os.close(descriptor)


def _detached(arguments: tuple[str, ...], said: IO[bytes] | None = None) -> int:
    """Start a Python that has nothing to do with us any more, its stderr in `said`; its pid.

    Raises:
        OSError: the process cannot be started.
    """
    import subprocess

    child = subprocess.Popen(
        [sys.executable, "-P", *arguments],
        cwd="/" if os.name == "posix" else None,  # hold no folder of the user's
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said or subprocess.DEVNULL,
        close_fds=True,  # an agent waits for the end of pipes it gave us
        start_new_session=True,  # Ctrl-C in the terminal is not for the daemon
    )
    _children.append(child.pid)
    child.returncode = 0  # its end is not this object's business, and not worth a warning
    return child.pid


def _environment() -> dict[str, str]:
    """Ours, with what is relative to our folder made absolute, and this very package in reach."""
    environ = {**os.environ, "TRISEEK_HOME": paths.home()}
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    places = [os.path.abspath(place) for place in environ.get("PYTHONPATH", "").split(os.pathsep)]
    if not environ.get("PYTHONPATH"):
        places = []
    if os.path.basename(package) not in ("site-packages", "dist-packages"):
        places = [package, *(place for place in places if place != package)]
    if places:
        environ["PYTHONPATH"] = os.pathsep.join(places)
    return environ


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_APPEND, 0o600)


def _reap() -> None:
    """Forget the daemons of ours that have ended."""
    for pid in _children[:]:
        try:
            ended = os.waitpid(pid, os.WNOHANG)[0] == pid
        except (OSError, AttributeError):
            ended = True
        if ended:
            _children.remove(pid)
