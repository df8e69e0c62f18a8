"""Records what is done in a repository in the log of the session that it belongs to.

This is the daemon's only sink of actions. Hooks report reads, edits, searches, prompts and
compactions; the agents' servers report every tool call. The first prompt of a conversation in a
repository begins its session, unless that is switched off: nobody knows beforehand when work has to
be handed over. What belongs to no session (`sessions.attribution`) is not recorded.

A path is recorded relative to the root, with the SHA-256 of the file's content at that moment and
the lines that were requested. For a file outside the root, only the fact that there was one is
recorded.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from triseek.agents.registry import recorded_name
from triseek.engine.roots import is_indexed, project
from triseek.errors import RepoNotDetected, TriseekError
from triseek.files import access, containment
from triseek.files.tree.root import git_root
from triseek.model.origin import Origin
from triseek.sessions import prompts
from triseek.sessions.attribution import Attribution
from triseek.sessions.working_set import OF_FILES

if TYPE_CHECKING:
    from triseek.model.session import Session
    from triseek.sessions.lifecycle import Sessions

logger = logging.getLogger(__name__)

IDLE_S = 8 * 3600.0
"""After so many idle seconds a prompt of an unnamed conversation begins a new session, if the last
began by itself."""
OWN_TOOL = "own_tool"
"""The kind of an action that is not recorded: a hook reports a call of one of our tools."""
_NOT_KEPT = frozenset(("root", "lines", "tail", "path"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing that was done."""

    at_s: float
    """Unix time."""
    kind: str
    """search, read, context_pack, or the tool's name."""
    conversation: str | None
    """The conversation that did it, if known."""
    payload: dict[str, Any] = field(default_factory=dict)
    """The arguments and the outcome, as JSON values; no file contents."""
    session_id: str = ""
    """The session it belongs to; "" for that of its origin."""
    origin: Origin = Origin()  # noqa: RUF009 - frozen
    """Who did it."""


Sink: TypeAlias = Callable[[Action], None]
"""Takes an action. Several threads call it, and it must never fail."""


class Recorder:
    """Records actions. Threads may share it, and it never fails: write errors are only logged."""

    def __init__(
        self,
        sessions: Sessions,
        compacting: Callable[[Session, str | None], None],
        *,
        by_itself: bool = True,
    ) -> None:
        """Write to the logs of `sessions`.

        Args:
            sessions: All sessions of this machine.
            compacting: Called with a session and the harness of the hook, when an agent at work in
                that session compacts its context.
            by_itself: Whether a prompt begins a session if none is open.
        """
        self._sessions = sessions
        self._by_itself = by_itself
        self._compacting = compacting
        self.attribution = Attribution(sessions)

    def __call__(self, action: Action) -> None:
        """Record an action of a hook, if it has a session where it was done."""
        root = action.payload.get("root")
        if not isinstance(root, str):
            return
        if action.kind == OWN_TOOL:
            self.attribution.heard(action.origin)
        else:
            self.record(root, "", action)

    def of_tools(self, root: str, action: Action) -> None:
        """Record a call of a tool.

        Args:
            root: The folder that the tool works on; the action's paths are relative to it.
            action: What was done.
        """
        repository = project(root)
        self.attribution.called(action.origin)
        self.record(repository, action.session_id, placed(action, root, repository))

    def record(self, root: str, session_id: str, action: Action) -> int | None:
        """Record an action.

        Args:
            root: The canonical path of the repository.
            session_id: The session it belongs to; "" for that of its origin.
            action: What was done.

        Returns:
            The entry's number; None if it has no session, or cannot be written.
        """
        try:
            session = self.attribution.session(root, action.origin, session_id)
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

    def _begun(self, root: str, session: Session | None, action: Action) -> Session | None:
        """Return the session that a prompt belongs to, the open one or a new one, or None."""
        text = action.payload.get("prompt")
        prompt = text if isinstance(text, str) else ""
        goal = prompts.title(prompt)
        conversation = self.attribution.conversation(root, action.origin)
        if session is not None:
            is_nameless = not conversation or conversation.endswith("/")
            is_old = action.at_s - session.updated_at >= IDLE_S
            if not (session.by_itself and is_old and goal and is_nameless):
                is_unnamed = session.by_itself and goal and not session.goal
                return self._sessions.name(session.session_id, goal) if is_unnamed else session
            self._sessions.close(session.session_id, "abandoned")
        if prompts.is_for_program(prompt) or not (git_root(root) or is_indexed(root)):
            return None  # a home folder, or the whole disk, is not a project
        return self._sessions.open(root, goal, by_itself=True, conversation=conversation)


def placed(action: Action, folder: str, root: str) -> Action:
    """Return the action with its paths, relative to `folder` before, made relative to `root`."""
    payload = dict(action.payload)
    if isinstance(payload.get("path"), str):
        payload["path"] = os.path.join(folder, payload["path"])  # noqa: PTH118
    results = payload.get("result_paths")
    if isinstance(results, list) and folder != root:
        below = os.path.relpath(folder, root)
        texts = (path for path in results if isinstance(path, str))
        payload["result_paths"] = [os.path.normpath(os.path.join(below, path)) for path in texts]  # noqa: PTH118
    return replace(action, payload=payload)


def _payload(root: str, action: Action) -> dict[str, Any]:
    fields = action.payload
    payload = {name: value for name, value in fields.items() if name not in _NOT_KEPT}
    if "harness" in payload:
        payload["harness"] = recorded_name(str(payload["harness"]))
    if action.conversation:
        payload["conversation"] = action.conversation
    if action.kind in OF_FILES and isinstance(fields.get("path"), str):
        payload |= _file(root, action)
    return payload


def _file(root: str, action: Action) -> dict[str, Any]:
    """Return a file's path, the hash of its content now, and the lines that were requested."""
    try:
        path = containment.locate(root, action.payload["path"]).named
    except (containment.PathRefused, RepoNotDetected):
        return {"outside": True}
    try:
        current = access.fingerprint(containment.open_file(root, action.payload["path"]))
    except (OSError, TriseekError):
        current = None
    lines = _lines(action, current.lines if current else 0)
    # JSON cannot hold a path that is not UTF-8.
    shown = os.fsencode(path).decode("utf-8", "replace")
    return {"path": shown, "sha": current.sha if current else "", **lines}


def _lines(action: Action, count: int) -> dict[str, int]:
    """Return the first and last line that were requested; nothing for the whole file."""
    match action.payload:
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
