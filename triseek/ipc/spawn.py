"""Start a daemon in the background, and wait for it where the caller needs it.

Automatic starts are vetoed by TRISEEK_NO_DAEMON, by CI (a build machine wants no process left
behind) and by `[daemon] autostart = false`. After an attempt no process tries again for ten
seconds, so that a daemon that dies at its start is not started over and over. One that had come up
and was killed is followed by another at once. If several daemons start at once, the daemon's lock
decides which one runs.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

from triseek import __version__, errors, paths
from triseek.ipc import address, client, lock
from triseek.ipc.aside import AGAIN_S, STAMP

FIRST_WORDS = "start.log"
"""The file with the new daemon's stderr: output before it has a log, and crash output."""
RAN_AGAIN_S = 2.0
"""Minimum seconds between attempts if the last daemon had come up: longer than a new one takes
until it has the daemon's lock."""
IDLE_S = 5.0
"""Seconds for which `ensure` waits for a daemon while none is starting."""
_PROBE_S = 0.02

_children: list[int] = []
"""Pids of daemons started by this process. Ended ones are reaped, or they would stay zombies."""


def veto() -> str:
    """Return why no daemon may be started automatically, as one phrase; "" if one may."""
    if os.environ.get("TRISEEK_NO_DAEMON"):
        return "TRISEEK_NO_DAEMON is set"
    if os.environ.get("CI"):
        return "CI is set"
    from triseek import config

    try:
        return "" if config.read().daemon_autostart else "daemon.autostart is false"
    except errors.InvalidRequest as error:
        return str(error)  # `triseek daemon run` reports it; a search goes on


def behind(again_s: float = AGAIN_S) -> bool:
    """Start a daemon if allowed, without waiting for it; return whether one was started.

    Call it only after `ipc.address.Absent`: `Forbidden` is no reason to start one. Never raises.

    again_s: Minimum seconds since the last attempt; fewer if that daemon is known to have run.
    """
    return not veto() and _start_once(again_s)


def ensure(timeout_s: float, again_s: float = AGAIN_S) -> bool:
    """Start a daemon if none runs and one may; return whether one accepts connections.

    It also waits for a daemon that another process starts. If a daemon is killed while it starts,
    another is started. The wait ends after `IDLE_S` in which no daemon has been starting.

    Args:
        timeout_s: The longest wait.
        again_s: As of `behind`.
    """
    is_allowed = not veto()
    now = time.monotonic()
    until, idle_until = now + timeout_s, now + IDLE_S
    while now <= min(until, idle_until):
        try:
            address.connect(address.CONNECT_S).close()
        except address.Absent:
            if not is_allowed:
                return False
        except (address.Unreached, OSError):
            return False
        else:
            return True
        if not lock.is_free() or _start_once(again_s):
            idle_until = time.monotonic() + IDLE_S
        _reap()
        time.sleep(_PROBE_S)
        now = time.monotonic()
    return False


def start(words: tuple[str, ...] = ()) -> int:
    """Start a daemon on explicit request and return its pid. It may still fail to come up.

    Args:
        words: further arguments of `triseek daemon run`.

    Raises:
        StateUnwritable: the daemon's folder cannot be used.
        OSError: the process cannot be started.
    """
    import subprocess

    where = lock.ensure_folder()
    _reap()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    with open(os.open(os.path.join(where, FIRST_WORDS), flags, 0o600), "wb") as stderr:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "triseek", "daemon", "run", *words],
            cwd="/" if os.name == "posix" else None,  # do not keep a folder of the user busy
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            close_fds=True,  # an agent waits until pipes that we inherited are closed
            start_new_session=True,  # Ctrl-C in the terminal is not for the daemon
        )
    _children.append(child.pid)
    child.returncode = 0  # `_reap` waits for it; avoids the warning of Popen
    return child.pid


def wait_until_ready(timeout_s: float, pid: int = 0) -> bool:
    """Wait until a daemon accepts connections; return whether one does.

    Args:
        timeout_s: the longest wait.
        pid: a daemon that this process started. The wait also stops when it has ended and no other
            daemon is about to listen.
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
    """Replace a daemon of another version; return whether one of this version runs now.

    Two versions used in turn would end each other's daemon with every search, so the ten seconds
    between attempts apply here too. Never raises.
    """
    if veto():
        return False
    try:
        lock.ensure_folder()
        if not _claim():
            return False
        with contextlib.suppress(errors.DaemonUnreachable):  # it may have ended in the meantime
            if client.ask("ping", timeout_s=timeout_s).get("version") == __version__:
                return True  # another process has replaced it already
            client.ask("shutdown", timeout_s=timeout_s)
        return lock.wait_until_free(timeout_s) and start() > 0
    except (OSError, errors.TriseekError):
        return False


def first_words() -> str:
    """Return the last line that the last started daemon wrote to stderr; "" if there is none."""
    try:
        with open(os.path.join(paths.daemon(), FIRST_WORDS), encoding="utf-8") as file:
            lines = file.read(1 << 16).strip().splitlines()
    except (OSError, ValueError):
        return ""
    return lines[-1] if lines else ""


def _start_once(again_s: float) -> bool:
    """Start a daemon unless the last attempt is too recent; return whether one was started."""
    try:
        lock.ensure_folder()
        return _claim(again_s) and start() > 0
    except (OSError, errors.TriseekError):
        return False  # a read-only home, say: the search works without a daemon


def _claim(again_s: float = AGAIN_S) -> bool:
    """Claim an attempt for this process; return False if the last one by anybody is too recent."""
    # A daemon forgets the record of the one before it when it starts, and its own when it ends.
    if address.record():
        again_s = min(again_s, RAN_AGAIN_S)
    descriptor = os.open(os.path.join(paths.daemon(), STAMP), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # At the first attempt the file is empty; byte and time are written under a lock.
        if not lock.try_lock(descriptor):
            return False
        status = os.fstat(descriptor)
        if status.st_size and abs(time.time() - status.st_mtime) < again_s:
            return False
        os.pwrite(descriptor, b"*", 0)
        os.utime(descriptor)
        return True
    finally:
        os.close(descriptor)


def _environment() -> dict[str, str]:
    """Return our environment with relative paths made absolute and this package on PYTHONPATH."""
    environ = {**os.environ, "TRISEEK_HOME": paths.home()}
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    inherited = environ.get("PYTHONPATH")
    places = [*map(os.path.abspath, inherited.split(os.pathsep))] if inherited else []
    if os.path.basename(package) not in ("site-packages", "dist-packages"):
        places = [package, *(place for place in places if place != package)]
    if places:
        environ["PYTHONPATH"] = os.pathsep.join(places)
    return environ


def _reap() -> None:
    """Reap the daemons that this process started and that have ended."""
    for pid in _children[:]:
        try:
            ended = os.waitpid(pid, os.WNOHANG)[0] == pid
        except (OSError, AttributeError):
            ended = True
        if ended:
            _children.remove(pid)
