"""The daemon as a process: one per user, known by its lock, ended cleanly or by force.

The lock (`ipc.lock`) is the only proof that a daemon runs; daemon.json says how to reach it and
which process it is, start time included. Only the holder of the lock touches the socket, so a
socket found at the start belongs to the dead.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import signal
import sys
import threading
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Protocol

from triseek import __version__, logs, paths
from triseek.daemon.server import Handlers, Limits, Server
from triseek.errors import Busy, DaemonUnreachable, StateUnwritable, TriseekError
from triseek.ipc import address, client, folder, lock, wire
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from triseek.config import Settings

logger = logging.getLogger(__name__)

LOCK_WAIT_S = 3.0
"""How long a new daemon waits for one that is about to end: its drain, and a little."""
SWITCH_S = 0.0005
"""Seconds a busy thread may keep the interpreter from one that has an answer to give. Measured on
two busy cores, median of an echo over a new connection beside one thread of pure Python: 6 ms with
Python's own 5 ms, 1.5 ms with 1 ms, 0.8 to 2.1 ms with this; 0.3 ms alone, whatever the
interval. Two threads of pure Python lost no work by it that could be measured."""
FORCED_S = 1.5
"""How long a daemon that is to be ended by force has to answer first."""
KILL_AFTER_S = 3.0
"""What SIGTERM may take before `stop --force` sends SIGKILL."""
HOME_CHECK_S = 5.0
"""How often to look whether the state folder is still there."""
_PROBE_S = 0.02


class Work(Protocol):
    """Something that runs beside the server for as long as the daemon lives."""

    def start(self) -> None:
        """Begin, without waiting: requests are served meanwhile."""

    def close(self) -> None:
        """End within a second or two; called once, also after a `start` that failed."""

    def busy(self) -> bool:
        """Whether an idle exit has to wait."""


def run(
    compose: Callable[[Settings], tuple[Handlers, Sequence[Work]]],
    settings: Settings,
    limits: Limits | None = None,
    ending: Callable[[], None] = lambda: None,
) -> str:
    """Be the daemon until told to stop, or idle for too long.

    Args:
        compose: makes the handlers and the work beside them; called once the lock is held, and
            before the first connection, so it should import and open little.
        settings: `idle_exit_s` and `log_level` are read here.
        limits: what one client may ask.
        ending: called once, when the daemon begins to end.

    Returns:
        Why it ended: "shutdown", "idle", "SIGTERM", "SIGINT", "homeless".

    Raises:
        Busy: another daemon runs.
        StateUnwritable: the daemon's folder cannot be used.
    """
    with ExitStack() as leaving:
        held = _hold_lock(leaving)
        logs.configure("daemon", settings.log_level)
        leaving.callback(logs.close)
        try:
            return _serve(compose, settings, limits or Limits(), Home(held), leaving, ending)
        except BaseException:
            logger.exception("daemon failed")
            raise


def stop(*, force: bool = False, timeout_s: float = 10.0) -> bool:
    """End the daemon and wait until its lock is free; False if none ran.

    Args:
        force: where it does not answer, send SIGTERM and then SIGKILL, if it can be proved that
            the process holds the lock.
        timeout_s: how long to wait for a daemon that was asked.

    Raises:
        DaemonUnreachable: it cannot be asked, or does not end, and `force` was not given.
        Busy: `force` was given, and the holder of the lock cannot be identified.
    """
    try:
        client.ask("shutdown", timeout_s=min(timeout_s, FORCED_S) if force else timeout_s)
    except DaemonUnreachable as error:
        if lock.is_free():
            return False
        trouble = error
    else:
        if lock.wait_until_free(timeout_s):
            return True
        trouble = DaemonUnreachable(f"the daemon did not end within {timeout_s:g} s")
    if isinstance(trouble.__cause__, address.Forbidden):
        raise trouble  # a sandbox: what we cannot ask we do not end
    if not force:
        # It may be about to end, or to begin.
        if isinstance(trouble.__cause__, address.Absent) and lock.wait_until_free(LOCK_WAIT_S):
            return True
        trouble.next_step = "Run `triseek daemon stop --force`."
        raise trouble
    _end_by_force()
    return True


def start_time(pid: int | str = "self") -> int:
    """When a process began, in the kernel's ticks since boot; 0 where the system does not say.

    With the pid it names one process for good: pids are used again.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0


def _hold_lock(leaving: ExitStack) -> int:
    """Take the lock for life; its descriptor.

    A daemon that has removed its daemon.json is ending (or only beginning): it is waited for.
    Otherwise a few tries are enough to outlast somebody who only looks whether the lock is free.
    """
    folder.ensure()
    begun = time.monotonic()
    while True:
        try:
            descriptor = lock.take()
        except OSError as error:
            raise StateUnwritable(
                f"cannot open the lock in {paths.daemon()}: {error.strerror}"
            ) from error
        if descriptor is not None:
            leaving.callback(os.close, descriptor)
            return descriptor
        waited = time.monotonic() - begun
        if waited > (10 * _PROBE_S if address.record() else LOCK_WAIT_S):
            raise Busy(f"a daemon is running (process {lock.holder()})", next_step="")
        time.sleep(_PROBE_S)


class Home:
    """The daemon's folder, for as long as it is the one in which the lock is held.

    Who removes the state folder wants to be rid of triseek: then the daemon ends too. Whatever is
    at that path by then is not its own, and may be another daemon's.
    """

    def __init__(self, lock_descriptor: int) -> None:
        self._held = os.fstat(lock_descriptor)

    def is_ours(self) -> bool:
        """Whether the lock that is held is the one others see."""
        try:
            seen = os.stat(os.path.join(paths.daemon(), lock.NAME))
        except OSError:
            return False
        return os.path.samestat(seen, self._held)

    def leave(self, remove: Callable[[], object]) -> None:
        """Remove something in it, if it is ours."""
        if self.is_ours():
            remove()

    def watch(self, server: Server) -> threading.Event:
        """End the server once it is not; the event ends the watching."""
        ended = threading.Event()

        def run() -> None:
            while not ended.wait(HOME_CHECK_S):
                if not self.is_ours():
                    server.stop("homeless")
                    return

        threading.Thread(target=run, name="triseek-home", daemon=True).start()
        return ended


def _serve(
    compose: Callable[[Settings], tuple[Handlers, Sequence[Work]]],
    settings: Settings,
    limits: Limits,
    home: Home,
    leaving: ExitStack,
    ending: Callable[[], None],
) -> str:
    faulthandler.enable()
    sys.setswitchinterval(SWITCH_S)
    _forget_record()
    handlers, work = compose(settings)
    listener, place, token = _listen(home, leaving)
    server = Server(
        listener,
        handlers,
        token=token,
        limits=limits,
        closing=lambda: home.leave(_forget_record),
        ending=ending,
    )
    leaving.callback(home.leave, _forget_record)
    _on_signals(server, leaving)
    _write_record(place, token)
    leaving.callback(home.watch(server).set)
    logger.info("daemon started", extra={"pid": os.getpid(), "version": __version__})
    for one in work:
        leaving.callback(_closed, one)
        _started(one)
    why = server.serve(settings.idle_exit_s, lambda: any(one.busy() for one in work))
    logger.info("daemon ending", extra={"reason": why})
    return why


def _listen(home: Home, leaving: ExitStack) -> tuple[Any, str, str]:
    try:
        listener, place, token = address.listen()
    except (OSError, address.Unreached) as error:
        raise StateUnwritable(f"cannot listen in {paths.daemon()}: {error}") from error
    if place.startswith("unix:"):
        leaving.callback(home.leave, address.remove_socket)
    return listener, place, token


def _started(work: Work) -> None:
    try:
        work.start()
    except Exception:
        logger.exception("background work failed to start", extra={"work": type(work).__name__})


def _closed(work: Work) -> None:
    try:
        work.close()
    except Exception:
        logger.exception("background work failed to end", extra={"work": type(work).__name__})


def _on_signals(server: Server, leaving: ExitStack) -> None:
    def stopped(number: int, _: FrameType | None) -> None:
        server.stop(signal.Signals(number).name)

    for number in (signal.SIGTERM, signal.SIGINT):
        leaving.callback(signal.signal, number, signal.signal(number, stopped))


def _write_record(place: str, token: str) -> None:
    document = {
        "pid": os.getpid(),
        "version": __version__,
        "protocol": wire.PROTOCOL,
        "started": time.time(),
        "start_time": start_time(),
        "address": place,
        "token": token,
    }
    before = os.umask(0o177)  # a token that others could read for a moment would be none
    try:
        atomic.write(_record_path(), json.dumps(document, indent=2).encode() + b"\n")
    except OSError as error:
        raise StateUnwritable(f"cannot write {_record_path()}: {error.strerror}") from error
    finally:
        os.umask(before)


def _forget_record() -> None:
    with suppress(OSError):
        os.unlink(_record_path())


def _record_path() -> str:
    return os.path.join(paths.daemon(), address.RECORD)


def _end_by_force() -> None:
    """Signal the holder of the lock, and nobody else.

    Raises:
        Busy: it cannot be proved which process that is, or it does not end.
    """
    record = address.record()
    pid, began = record.get("pid"), record.get("start_time")
    if not (isinstance(pid, int) and isinstance(began, int) and pid > 1 and began > 0):
        raise _unidentified("daemon.json does not say which process it is")
    with ExitStack() as leaving:
        send = _signaller(pid, leaving)
        # The process is held by its descriptor first and looked at after: a pid that is used
        # again between the two would be seen here.
        if start_time(pid) != began:
            raise _unidentified(f"process {pid} is not the one that wrote daemon.json")
        if not _holds_lock(pid):
            raise _unidentified(f"process {pid} does not hold it")
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                send(number)
            if lock.wait_until_free(KILL_AFTER_S):
                return
    raise Busy(f"process {pid} does not end", next_step="")


def _signaller(pid: int, leaving: ExitStack) -> Callable[[int], None]:
    """What sends a signal to exactly the process that has this pid now."""
    if not hasattr(os, "pidfd_open"):
        return lambda number: os.kill(pid, number)
    try:
        descriptor = os.pidfd_open(pid)
    except OSError as error:
        raise _unidentified(f"process {pid}: {error.strerror}") from error
    leaving.callback(os.close, descriptor)
    return lambda number: signal.pidfd_send_signal(descriptor, number)


def _holds_lock(pid: int) -> bool:
    """Whether a process has the lock file open and locked, as Linux tells it in fdinfo."""
    try:
        ours = os.stat(os.path.join(paths.daemon(), lock.NAME))
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(FileNotFoundError):  # closed since it was listed
                found = os.stat(f"/proc/{pid}/fd/{name}")
                if os.path.samestat(ours, found) and _is_locked(pid, name):
                    return True
    except OSError:
        return False
    return False


def _is_locked(pid: int, name: str) -> bool:
    with open(f"/proc/{pid}/fdinfo/{name}", "rb") as file:
        return any(line.startswith(b"lock:") and b"FLOCK" in line for line in file)


def _unidentified(why: str) -> TriseekError:
    return Busy(
        f"the daemon's lock is held by a process that cannot be identified: {why}",
        next_step=f"Find out who has {os.path.join(paths.daemon(), lock.NAME)} open.",
    )
