"""Ask the daemon for what only it can do, and start one where none runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from triseek.errors import DaemonUnreachable, RepoNotDetected, StateUnwritable, VersionMismatch
from triseek.ipc import address, client, spawn

if TYPE_CHECKING:
    from collections.abc import Mapping

READY_S = 15.0
"""How long to wait for a new daemon. It listens within a second of a machine that has time."""
ANSWER_S = 60.0
"""How long to wait for an answer: git and a large log take their time."""


def ask(verb: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the daemon; one is started, or replaced by one of this version, if it may be.

    Raises:
        DaemonUnreachable: none runs and none may be started, or it does not answer.
        TriseekError: whatever the daemon says is wrong.
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
        forbidden = spawn.veto()
        if forbidden:
            error.next_step = f"None is started because {forbidden}: run `triseek daemon start`."
            raise
        start()
    return client.ask(verb, params, timeout_s=ANSWER_S)


def start(*words: str) -> None:
    """Start a daemon and wait until it listens.

    Args:
        words: more words for `triseek daemon run`.

    Raises:
        DaemonUnreachable: it does not listen.
        StateUnwritable: it cannot be started.
    """
    try:
        pid = spawn.start(words)
    except OSError as error:
        raise StateUnwritable(f"cannot start a daemon: {error.strerror}") from error
    _wait(pid)


def folder(path: str) -> str:
    """A folder's one spelling.

    Raises:
        RepoNotDetected: there is none.
    """
    if not os.path.isdir(path):
        raise RepoNotDetected(f"{path}: no such folder")
    return os.path.realpath(path)


def _wait(pid: int) -> None:
    if not spawn.wait_until_ready(READY_S, pid):
        said = spawn.first_words().removeprefix("triseek: ")
        raise DaemonUnreachable(f"the daemon did not start: {said or 'it said nothing'}")
