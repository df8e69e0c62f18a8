"""Send a request to the daemon, starting one where the policy allows: one policy for every front.

- What only the daemon can do (sessions, snapshots, the memo) is sent to it (`required`). If none
  runs, one is started, unless that is forbidden.
- What can be done without it (searches, scores, reports) is sent to it if one runs; otherwise the
  front does it itself (`if_running`). A search, or another command of
  `cli.quick`, then starts a daemon without waiting for it (`ipc.spawn`), so that the next one is
  faster; an agent's process waits (`mcp.backends`).
- A report never starts a daemon: reporting must not change the machine.

TRISEEK_NO_DAEMON, CI and `daemon.autostart = false` forbid starting one. Where TRISEEK_NO_DAEMON is
set, the command line's fast path does not even contact a running daemon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.errors import DaemonUnreachable, StateUnwritable, VersionMismatch
from triseek.ipc import address, client, spawn

if TYPE_CHECKING:
    from collections.abc import Mapping

READY_S = 15.0
"""Seconds to wait for a new daemon. On an idle machine it listens within a second."""
ANSWER_S = 60.0
"""Seconds to wait for an answer: git and a large log are slow."""


def required(verb: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Send a request to the daemon; start one, or replace one of another version, if allowed.

    Raises:
        DaemonUnreachable: None runs and none may be started, or it does not answer.
        TriseekError: The error that the daemon reports.
    """
    try:
        return client.ask(verb, params, timeout_s=ANSWER_S)
    except VersionMismatch:
        if not spawn.replace():
            raise
        _wait(0)
    except DaemonUnreachable as error:
        if not isinstance(error.__cause__, address.Absent):
            raise
        veto = spawn.veto()
        if veto:
            raise DaemonUnreachable(
                str(error),
                next_step=f"None is started because {veto}: run `triseek daemon start`.",
                tool_step=error.tool_step,
            ) from error.__cause__
        start()
    return client.ask(verb, params, timeout_s=ANSWER_S)


def if_running(
    verb: str, params: Mapping[str, Any] | None = None, timeout_s: float = ANSWER_S
) -> dict[str, Any] | None:
    """Send a request to the daemon; return None if none runs.

    Raises:
        DaemonUnreachable: A daemon may run but cannot be reached.
        VersionMismatch: The daemon belongs to another version of triseek.
        TriseekError: The error that the daemon reports.
    """
    try:
        return client.ask(verb, params, timeout_s=timeout_s)
    except DaemonUnreachable as error:
        if isinstance(error.__cause__, address.Absent):
            return None
        raise


def start(*words: str) -> None:
    """Start a daemon and wait until it listens.

    Args:
        words: Further arguments of `triseek daemon run`.

    Raises:
        DaemonUnreachable: It does not listen.
        StateUnwritable: It cannot be started.
    """
    try:
        pid = spawn.start(words)
    except OSError as error:
        raise StateUnwritable(f"cannot start a daemon: {error.strerror}") from error
    _wait(pid)


def _wait(pid: int) -> None:
    if not spawn.wait_until_ready(READY_S, pid):
        output = spawn.first_words().removeprefix("triseek: ")
        raise DaemonUnreachable(f"the daemon did not start: {output or 'it said nothing'}")
