"""What the rules read: one session's prompts, answers and tool events, in order.

Everything comes from outside: texts may be huge. The ends of an output are enough for the rules,
and outputs beyond a session's budget are left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.history.commands_run import Run, main_run, runs_of
from triseek.history.errors import NO_ERROR, ErrorSignature, error_of
from triseek.history.outcomes import Outcome, outcome_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

HEAD, TAIL = 8_000, 24_000
"""Characters of an output's ends that are read."""
OUTPUTS_MAX = 12_000_000
"""Characters of all outputs of a session; further ones are read as empty."""
EDIT_MAX = 60_000
"""Characters of the text before and after an edit that are read."""
EDITS_MAX = 12_000_000
EVENTS_MAX = 50_000
"""Events of a session that are read, the newest ones."""

FileRole: TypeAlias = Literal["read", "modified"]


@dataclass(frozen=True, slots=True)
class EventFile:
    """A file that an event has read or changed."""

    path: str
    """Relative to the session's root if it is below it, else absolute."""
    role: FileRole
    before: str = ""
    after: str = ""
    is_whole: bool = True
    """Whether `before` and `after` are complete as recorded."""


@dataclass(frozen=True)
class SessionEvent:
    """One use of a tool."""

    id: int
    key: str
    """The agent's id of the use: the same after another import."""
    prompt: int
    name: str
    input: str
    command: str
    exit_status: int | None
    failed: bool | None
    output: str
    time_ms: int
    ended_ms: int
    root: str
    uses: tuple[EventFile, ...] = ()

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """What its command runs."""
        return runs_of(self.command) if self.command else ()

    @cached_property
    def run(self) -> Run | None:
        """What its command is about: the last check, else the last program; None if it looks."""
        return main_run(self.runs)

    @cached_property
    def outcome(self) -> Outcome:
        """How it ended."""
        is_hidden = self.run is not None and self.run.is_filtered
        return outcome_of(self.exit_status, self.failed, self.output, hides_status=is_hidden)

    @cached_property
    def error(self) -> ErrorSignature:
        """The error that its output shows; empty unless it failed."""
        if self.outcome != "failed" or not self.command:
            return NO_ERROR
        return error_of(self.output, self.exit_status or 1, self.root)

    @cached_property
    def edits(self) -> tuple[EventFile, ...]:
        """The files it changed; none if it failed."""
        if self.failed:
            return ()
        return tuple(use for use in self.uses if use.role == "modified")

    @cached_property
    def reads(self) -> tuple[EventFile, ...]:
        """The files it read."""
        return tuple(use for use in self.uses if use.role == "read")

    @cached_property
    def arguments(self) -> dict[str, object]:
        """Its input, if that is a JSON object."""
        try:
            value = json.loads(self.input) if self.input.startswith("{") else None
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def argument(self, *names: str) -> str:
        """Return the first of these arguments that is a text; "" if none is."""
        values = (self.arguments.get(name) for name in names)
        return next((value for value in values if isinstance(value, str) and value), "")


@dataclass(frozen=True, slots=True)
class Said:
    """A prompt, or an answer."""

    key: str
    prompt: int
    text: str
    time_ms: int


@dataclass(frozen=True, slots=True)
class SessionView:
    """One session."""

    id: int
    agent: str
    external_id: str
    project: str
    root: str
    prompts: tuple[Said, ...] = ()
    answers: tuple[Said, ...] = ()
    events: tuple[SessionEvent, ...] = field(default=())

    def between(self, first: int, last: int) -> Iterator[SessionEvent]:
        """Yield the events strictly between two positions in `events`."""
        return iter(self.events[first + 1 : last])


def load(connection: sqlite3.Connection, session_id: int) -> SessionView | None:
    """Read a session; None if there is no such session."""
    row = connection.execute(
        "SELECT agent, external_id, project, root FROM sessions WHERE id = ?", (session_id,)
    ).fetchone()
    if row is None:
        return None
    agent, external_id, project, root = row
    said: dict[str, list[Said]] = {"user": [], "assistant": []}
    for role, key, prompt, text, time_ms in connection.execute(
        "SELECT role, external_id, prompt_number, substr(text, 1, 4000), created_at_epoch"
        " FROM messages WHERE session_id = ? AND role != 'summary' ORDER BY id",
        (session_id,),
    ):
        said[role].append(Said(key, prompt, text, time_ms))
    events = tuple(_events(connection, session_id, root))
    return SessionView(
        session_id, agent, external_id, project, root,
        tuple(said["user"]), tuple(said["assistant"]), events,
    )  # fmt: skip


def _events(connection: sqlite3.Connection, session_id: int, root: str) -> Iterator[SessionEvent]:
    uses = _uses(connection, session_id, root)
    left = OUTPUTS_MAX
    rows = connection.execute(
        "SELECT id, external_id, prompt_number, name, substr(input, 1, 20000),"
        " substr(command, 1, 20000), exit_status, failed, created_at_epoch, ended_at_epoch,"
        " CASE WHEN command = '' THEN '' WHEN length(output) <= ?1 THEN output"
        " ELSE substr(output, 1, ?2) || char(10) || substr(output, -?3) END"
        " FROM tool_events WHERE session_id = ?4 AND id > coalesce((SELECT id FROM tool_events"
        " WHERE session_id = ?4 ORDER BY id DESC LIMIT 1 OFFSET ?5), 0) ORDER BY id",
        (HEAD + TAIL, HEAD, TAIL, session_id, EVENTS_MAX),
    )
    for number, key, prompt, name, given, command, status, failed, begun, ended, output in rows:
        left -= len(output)
        yield SessionEvent(
            number, key, prompt, name, given, command, status,
            None if failed is None else bool(failed), output if left >= 0 else "",
            begun, ended, root, tuple(uses.get(number, ())),
        )  # fmt: skip


def _uses(connection: sqlite3.Connection, session_id: int, root: str) -> dict[int, list[EventFile]]:
    uses: dict[int, list[EventFile]] = {}
    left = EDITS_MAX
    for number, path, role, before, after, size in connection.execute(
        "SELECT event_id, path, role, substr(before, 1, ?1), substr(after, 1, ?1),"
        " max(length(before), length(after)) FROM event_files"
        " JOIN tool_events ON tool_events.id = event_id WHERE session_id = ?2"
        " ORDER BY event_id, path, role",
        (EDIT_MAX, session_id),
    ):
        left -= len(before) + len(after)
        is_whole = size <= EDIT_MAX and left >= 0
        if left < 0:
            before = after = ""
        uses.setdefault(number, []).append(
            EventFile(relative(path, root), role, before, after, is_whole)
        )
    return uses


def relative(path: str, root: str) -> str:
    """Return a path relative to a root if it is below it, else the path itself."""
    prefix = root.rstrip("/") + "/"
    return path[len(prefix) :] if root and path.startswith(prefix) else path
