"""The daemon process: one per user, identified by its lock, ended cleanly or by force.

The lock (`ipc.lock`) is the only proof that a daemon runs. daemon.json records how to reach it and
which process it is, including its start time. Only the holder of the lock touches the socket, so a
socket that exists at the start belongs to a dead daemon.
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
from typing import TYPE_CHECKING, Protocol

from triseek import __version__, logs, paths
from triseek.daemon.server import Handlers, Limits, Server
from triseek.errors import Busy, DaemonUnreachable, StateUnwritable, TriseekError
from triseek.ipc import address, client, lock, wire
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from triseek.config import Settings

logger = logging.getLogger(__name__)

LOCK_WAIT_S = 3.0
"""Seconds a new daemon waits for one that is ending: its drain time and a little more."""
SWITCH_S = 0.0005
"""Seconds a busy thread may keep the interpreter from one that has an answer to send. Measured on
two busy cores, median of an echo over a new connection beside one thread of pure Python: 6 ms with
Python's own 5 ms, 1.5 ms with 1 ms, 0.8 to 2.1 ms with this; 0.3 ms alone, whatever the
interval. It cost two threads of pure Python no measurable work."""
FORCED_S = 1.5
"""Seconds that `stop --force` waits for the daemon to answer first."""
KILL_AFTER_S = 3.0
"""Seconds after SIGTERM before `stop --force` sends SIGKILL."""
HOME_CHECK_S = 5.0
"""Seconds between checks that the state folder still exists."""
_PROBE_S = 0.02


class BackgroundTask(Protocol):
    """A task that runs beside the server for the lifetime of the daemon."""

    def start(self) -> None:
        """Start without waiting: requests are served meanwhile."""

    def close(self) -> None:
        """End within a second or two. Called once, even if `start` failed."""

    def busy(self) -> bool:
        """Return whether an idle exit has to wait."""


def run(
    compose: Callable[[Settings], tuple[Handlers, Sequence[BackgroundTask]]],
    settings: Settings,
    limits: Limits | None = None,
    ending: Callable[[], None] = lambda: None,
) -> str:
    """Run as the daemon until told to stop or idle for too long.

    Args:
        compose: creates the handlers and background tasks. It is called once the lock is held and
            before the first connection, so it should import and open little.
        settings: this function reads `daemon_idle_exit_s` and `log_level`.
        limits: what clients may use of the daemon.
        ending: called once, when the daemon begins to end.

    Returns:
        Why it ended: "shutdown", "idle", "SIGTERM", "SIGINT", "homeless".

    Raises:
        Busy: another daemon runs.
        StateUnwritable: the daemon's folder cannot be used.
    """
    with ExitStack() as leaving:
        home = Home(_hold_lock(leaving))
        logs.configure("daemon", settings.log_level)
        leaving.callback(logs.close)
        try:
            faulthandler.enable()
            sys.setswitchinterval(SWITCH_S)
            _forget_record()
            handlers, tasks = compose(settings)
            try:
                listener, place, token = address.listen()
            except (OSError, address.Unreached) as error:
                raise StateUnwritable(f"cannot listen in {paths.daemon()}: {error}") from error
            if place.startswith("unix:"):
                leaving.callback(home.leave, address.remove_socket)
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
            for task in tasks:
                leaving.callback(_attempt, task, "end", task.close)
                _attempt(task, "start", task.start)
            reason = server.serve(
                settings.daemon_idle_exit_s, lambda: any(task.busy() for task in tasks)
            )
            logger.info("daemon ending", extra={"reason": reason})
        except BaseException:
            logger.exception("daemon failed")
            raise
    return reason


def stop(*, force: bool = False, timeout_s: float = 10.0) -> bool:
    """End the daemon and wait until its lock is free; False if none ran.

    Args:
        force: if the daemon does not answer, send SIGTERM and then SIGKILL, provided that the
            process is proved to hold the lock.
        timeout_s: seconds to wait after the daemon was asked to end.

    Raises:
        DaemonUnreachable: the daemon cannot be reached, or does not end, and `force` is False.
        Busy: `force` is True, and the holder of the lock cannot be identified or does not end.
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
        raise trouble  # a sandbox: a daemon that we cannot reach is not killed
    if not force:
        # The daemon may be ending or starting.
        if isinstance(trouble.__cause__, address.Absent) and lock.wait_until_free(LOCK_WAIT_S):
            return True
        trouble.next_step = "Run `triseek daemon stop --force`."
        raise trouble
    _end_by_force()
    return True


def start_time(pid: int | str = "self") -> int:
    """Return a process's start time in kernel ticks since boot; 0 where the system has none.

    Together with the pid it identifies one process for good, because pids are reused.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0


def _hold_lock(leaving: ExitStack) -> int:
    """Take the lock for the life of the process, and return its descriptor.

    A daemon without a daemon.json is ending (or just starting), so this waits for it. Otherwise a
    few attempts are enough to outlast a process that only checks whether the lock is free.
    """
    lock.ensure_folder()
    started_at = time.monotonic()
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
        waited = time.monotonic() - started_at
        if waited > (10 * _PROBE_S if address.record() else LOCK_WAIT_S):
            raise Busy(f"a daemon is running (process {lock.holder()})", next_step="")
        time.sleep(_PROBE_S)


class Home:
    """The daemon's folder, while it is still the one that contains the held lock.

    A user who removes the state folder wants to get rid of triseek, so the daemon ends, too.
    Whatever is at that path by then is not this daemon's, and may be another daemon's.
    """

    def __init__(self, lock_descriptor: int) -> None:
        self._held = os.fstat(lock_descriptor)

    def is_ours(self) -> bool:
        """Return whether the lock file at the path is the one that this process holds."""
        try:
            status = os.stat(os.path.join(paths.daemon(), lock.NAME))
        except OSError:
            return False
        return os.path.samestat(status, self._held)

    def leave(self, remove: Callable[[], object]) -> None:
        """Call `remove` if the folder is still ours."""
        if self.is_ours():
            remove()

    def watch(self, server: Server) -> threading.Event:
        """Stop the server once the folder is not ours. Setting the returned event ends this."""
        ended = threading.Event()

        def run() -> None:
            while not ended.wait(HOME_CHECK_S):
                if not self.is_ours():
                    server.stop("homeless")
                    return

        threading.Thread(target=run, name="triseek-home", daemon=True).start()
        return ended


def _attempt(task: BackgroundTask, what: str, step: Callable[[], None]) -> None:
    """Start or end a task. The daemon goes on if that fails."""
    try:
        step()
    except Exception:
        logger.exception("background work failed to %s", what, extra={"work": type(task).__name__})


def _on_signals(server: Server, leaving: ExitStack) -> None:
    def stopped(number: int, _: FrameType | None) -> None:
        server.stop(signal.Signals(number).name)

    for number in (signal.SIGTERM, signal.SIGINT):
        leaving.callback(signal.signal, number, signal.signal(number, stopped))


def _write_record(place: str, token: str) -> None:
    document: address.DaemonRecord = {
        "pid": os.getpid(),
        "version": __version__,
        "protocol": wire.PROTOCOL,
        "started": time.time(),
        "start_time": start_time(),
        "address": place,
        "token": token,
    }
    umask = os.umask(0o177)  # others must not be able to read the token even for a moment
    try:
        atomic.write(_record_path(), json.dumps(document, indent=2).encode() + b"\n")
    except OSError as error:
        raise StateUnwritable(f"cannot write {_record_path()}: {error.strerror}") from error
    finally:
        os.umask(umask)


def _forget_record() -> None:
    with suppress(OSError):
        os.unlink(_record_path())


def _record_path() -> str:
    return os.path.join(paths.daemon(), address.RECORD)


def _end_by_force() -> None:
    """End the process that holds the lock by signals, and no other process.

    Raises:
        Busy: it cannot be proved which process holds the lock, or it does not end.
    """
    record = address.record()
    pid, ticks = record.get("pid"), record.get("start_time")
    if not (isinstance(pid, int) and isinstance(ticks, int) and pid > 1 and ticks > 0):
        raise _unidentified("daemon.json does not say which process it is")
    with ExitStack() as leaving:
        send = _signaller(pid, leaving)
        # The process is opened first and checked afterwards, so a pid that was reused before the
        # descriptor was opened is detected here.
        if start_time(pid) != ticks:
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
    """Return a function that sends a signal to exactly the process that has this pid now."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError as error:
        raise _unidentified(f"process {pid}: {error.strerror}") from error
    leaving.callback(os.close, descriptor)
    return lambda number: signal.pidfd_send_signal(descriptor, number)


def _holds_lock(pid: int) -> bool:
    """Return whether a process has the lock file open and locked, according to Linux's fdinfo."""
    try:
        lock_status = os.stat(os.path.join(paths.daemon(), lock.NAME))
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(FileNotFoundError):  # closed since it was listed
                status = os.stat(f"/proc/{pid}/fd/{name}")
                if os.path.samestat(lock_status, status) and _is_locked(pid, name):
                    return True
    except OSError:
        return False
    return False


def _is_locked(pid: int, name: str) -> bool:
    with open(f"/proc/{pid}/fdinfo/{name}", "rb") as file:
        return any(line.startswith(b"lock:") and b"FLOCK" in line for line in file)


def _unidentified(reason: str) -> TriseekError:
    return Busy(
        f"the daemon's lock is held by a process that cannot be identified: {reason}",
        next_step=f"Find out who has {os.path.join(paths.daemon(), lock.NAME)} open.",
    )
