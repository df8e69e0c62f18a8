"""What is done in a repository, written to the log of the session that is open there.

The daemon's one sink of actions: hooks tell of reads, edits, searches, prompts and compactions, the
servers of agents of every tool that is called. Where no session is open, a person's prompt in a
repository begins one, for nobody knows beforehand when work has to be handed over; unless that is
switched off. Else nothing is kept. A path is
kept as it counts from the root, with the SHA-256 of what the file holds at that moment and the
lines that were asked for; of files outside of the root only that there was one.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from triseek.errors import RepoNotDetected, TriseekError
from triseek.files import containment, content
from triseek.files.root import git_root
from triseek.model.agents import told_name
from triseek.service.roots import is_indexed

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.files.content import Content
    from triseek.model.session import Session
    from triseek.sessions.actions import Action
    from triseek.sessions.lifecycle import Sessions

logger = logging.getLogger(__name__)

OF_FILES = frozenset(("read", "edit", "read_denied", "memo_check"))
"""Kinds whose payload names a file."""
IDLE_S = 8 * 3600.0
"""After so long without a word a prompt begins another session, if nobody asked for the last."""
NOTES_BYTES = 1 << 20
"""How far back in a log a note is looked for that may have been told before: more than is told at
once."""
TITLE_MAX = 200
"""Characters of a prompt's first line that become the goal."""
_NOT_KEPT = frozenset(("root", "lines", "tail", "path"))


class Recorder:
    """Takes actions; shared by threads, and never fails: a log that cannot be written is logged."""

    def __init__(
        self,
        sessions: Sessions,
        compacting: Callable[[Session, str | None], None],
        *,
        by_itself: bool = True,
    ) -> None:
        """Write to the logs of `sessions`.

        Args:
            sessions: All of this machine.
            compacting: Told of a session, and whose hook it was, when an agent at work in it makes
                its context shorter.
            by_itself: Whether a prompt begins a session where none is open.
        """
        self._sessions = sessions
        self._by_itself = by_itself
        self._compacting = compacting

    def __call__(self, action: Action) -> None:
        """Write down an action, if a session is open where it was done."""
        root = action.payload.get("root")
        if isinstance(root, str):
            self.record(root, "", action)

    def record(self, root: str, session_id: str, action: Action) -> int | None:
        """Write down an action.

        Args:
            root: The repository, in its one spelling.
            session_id: Whose it is; "" for the session opened last there.
            action: What was done.

        Returns:
            The entry's number; None if there is no session for it, or it cannot be written.
        """
        session = self._session(root, session_id)
        try:
            if action.kind == "prompt" and self._by_itself:
                session = self._begun(root, session, action)
            if session is None:
                return None
            payload = _payload(session.repo_root, action)
            number = self._sessions.record(session.session_id, action.kind, payload, action.at_s)
        except TriseekError as error:
            logger.warning("entry not kept", extra={"reason": str(error)})
            return None
        if action.kind == "compact":
            self._compacting(session, payload.get("harness"))
        return number

    def notes(self, root: str, session_id: str) -> frozenset[str]:
        """The names of the notes that the newest entries of a session were made of."""
        session = self._session(root, session_id)
        if session is None:
            return frozenset()
        newest = self._sessions.log(session.session_id).newest(NOTES_BYTES)
        told = (entry.payload.get("note") for entry in newest.entries)
        return frozenset(name for name in told if isinstance(name, str))

    def _begun(self, root: str, session: Session | None, action: Action) -> Session | None:
        """The session that a prompt belongs to: a new one, unless there is one it goes on with."""
        goal = _title(action.payload.get("prompt"))
        if session is not None:
            if not session.by_itself or action.at_s - session.updated_at < IDLE_S or not goal:
                return session
            self._sessions.close(session.session_id, "abandoned")
        if not goal or not (git_root(root) or is_indexed(root)):
            return None  # somebody's home, or the whole disk, is no work
        return self._sessions.open(root, goal, by_itself=True)

    def _session(self, root: str, session_id: str) -> Session | None:
        """The open session that is meant."""
        if session_id:
            with suppress(TriseekError):
                named = self._sessions.get(session_id)
                if named.status == "open" and named.repo_root == root:
                    return named
        return self._sessions.current(root)


def _title(prompt: object) -> str:
    """What a prompt is about, in a line; "" for a command to the agent, or none."""
    lines = prompt.splitlines() if isinstance(prompt, str) else []
    first = next((line.strip() for line in lines if line.strip()), "")
    return "" if first.startswith(("/", "<", "!", "#")) else first[:TITLE_MAX]


def _payload(root: str, action: Action) -> dict[str, Any]:
    told = action.payload
    payload = {name: value for name, value in told.items() if name not in _NOT_KEPT}
    if "harness" in payload:
        payload["harness"] = told_name(str(payload["harness"]))
    if action.conversation:
        payload["conversation"] = action.conversation
    if action.kind in OF_FILES and isinstance(told.get("path"), str):
        payload |= _file(root, told)
    return payload


def _file(root: str, told: dict[str, Any]) -> dict[str, Any]:
    """Which file, what it holds now, and which lines of it."""
    try:
        path = containment.locate(root, told["path"]).named
    except (containment.PathRefused, RepoNotDetected):
        return {"outside": True}
    found = _look(root, told["path"])
    lines = _lines(told, found.lines if found else 0)
    # What is no UTF-8 cannot be said in JSON.
    shown = os.fsencode(path).decode("utf-8", "replace")
    return {"path": shown, "sha": found.sha if found else "", **lines}


def _look(root: str, path: str) -> Content | None:
    try:
        return content.look_at(containment.open_file(root, path))
    except (OSError, TriseekError):
        return None


def _lines(told: dict[str, Any], count: int) -> dict[str, int]:
    """The first and the last line that were asked for; nothing for all of the file."""
    match told:
        case {"tail": int(tail)}:
            first, last = max(1, count - tail + 1), count
        case {"lines": [int(first), int(last)]}:
            last = min(last, count) if count else last
        case {"lines": [int(first), None]} if first > 1:
            last = count
        case {"line_start": int(first), "line_end": int(last)}:
            pass
        case _:
            return {}
    is_whole = first <= 1 and count and last >= count
    return {"line_start": first, "line_end": last} if 1 <= first <= last and not is_whole else {}
