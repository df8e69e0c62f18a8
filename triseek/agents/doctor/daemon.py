"""Check whether the daemon runs, can be reached from here, and has this version."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from triseek import __version__, errors, paths
from triseek.agents.doctor.checks import fail, ok, warn
from triseek.ipc import address, client, lock, spawn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.doctor.checks import Finding
    from triseek.agents.doctor.host import DoctorHost

PATIENCE_S = 3.0
_START = "triseek daemon start"


def daemon(_host: DoctorHost) -> Iterator[Finding]:
    """Ask the daemon for its status."""
    try:
        status = client.ask("status", timeout_s=PATIENCE_S)
    except errors.DaemonUnreachable as error:
        yield _unreached(error)
    except errors.TriseekError as error:
        yield fail("daemon", f"answers with an error: {error}", "triseek daemon restart")
    else:
        yield _running(status)


def _running(status: dict[str, Any]) -> Finding:
    who = f"process {status.get('pid')}"
    if status.get("version") != __version__:
        return warn(
            "daemon", f"{who} is version {status.get('version')}, and this is {__version__}",
            "triseek daemon restart",
        )  # fmt: skip
    return ok("daemon", f"runs ({who}), and is reached from here")


def _unreached(error: errors.DaemonUnreachable) -> Finding:
    """Return the finding for the cause: no daemon, no answer, or no permission to connect."""
    cause = error.__cause__
    if isinstance(cause, address.Absent):
        return _absent()
    if isinstance(cause, address.Forbidden):
        if isinstance(cause.__cause__, PermissionError):
            socket = os.path.join(paths.daemon(), address.SOCKET)  # noqa: PTH118
            return warn(
                "daemon", "may not be reached from here: a sandbox, or another user's rights",
                f"allow the socket {socket} in the sandbox",
            )  # fmt: skip
        return fail("daemon", str(error), "triseek daemon status")
    return fail(
        "daemon", f"process {lock.holder()} does not answer: {error}",
        "triseek daemon restart --force",
    )  # fmt: skip


def _absent() -> Finding:
    if not lock.is_free():
        return fail(
            "daemon", f"process {lock.holder()} holds its lock, and does not listen",
            "triseek daemon restart --force",
        )  # fmt: skip
    veto = spawn.veto()
    if veto:
        return warn("daemon", f"none runs, and none starts by itself: {veto}", _START)
    return warn("daemon", "none runs; the memo needs one, and the next search starts it", _START)
