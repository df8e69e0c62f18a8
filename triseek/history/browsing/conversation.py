"""A conversation page by page: messages, and uses of tools with commands, exit status and files."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NotRequired, TypedDict

from triseek.errors import InvalidRequest
from triseek.history import lookup
from triseek.model.plain_text import visible

if TYPE_CHECKING:
    import sqlite3

    from triseek.history.lookup import SessionRow
    from triseek.history.service import History

LIMIT_MAX = 200
TEXT_MAX = 20_000
"""Most characters of a text or output on the page."""
_BEFORE = 4
"""Entries before the message that is asked for."""
_FILES_MAX = 50
_NUMBER_MAX = 2**62
"""SQLite's whole numbers have 64 bits."""


class ReadFile(TypedDict):
    """A file of a tool's use."""

    path: str
    is_modified: bool


class Entry(TypedDict):
    """A message, or a use of a tool."""

    kind: str
    """user, assistant, summary, or tool."""
    id: int
    time_ms: int
    text: str
    """The text; the command or the tool's name and arguments."""
    cut: int
    """Characters of `text` that are left out."""
    name: NotRequired[str]
    """The agent's name for the tool."""
    is_command: NotRequired[bool]
    output: NotRequired[str]
    output_cut: NotRequired[int]
    failed: NotRequired[bool | None]
    exit_status: NotRequired[int | None]
    files: NotRequired[list[ReadFile]]


class ConversationReply(TypedDict):
    """A page of a conversation, in the order of time."""

    conversation: SessionRow
    resume: str
    """A line for a shell that reopens it; empty if its agent cannot."""
    entries: list[Entry]
    offset: int
    total: int


def conversation(
    history: History, number: int, *, at_message: int, offset: int, limit: int
) -> ConversationReply:
    """Return a page of a conversation.

    Args:
        history: Where it is kept.
        number: The conversation's number in the database.
        at_message: The message that the page has to hold, instead of `offset`; 0 if none.
        offset: Entries before the page.
        limit: Entries of the page.

    Raises:
        InvalidRequest: It is not known, or `offset` or `limit` is not possible.
    """
    if not 1 <= limit <= LIMIT_MAX or offset < 0:
        raise InvalidRequest(f"limit has to be from 1 to {LIMIT_MAX}, offset at least 0")
    row = None
    if history.exists() and 0 < number < _NUMBER_MAX:
        with history.database.read() as connection:
            row = lookup.session(connection, number)
            if row is not None:
                order = connection.execute(_ORDER, {"session": number}).fetchall()
                if at_message:
                    offset = max(0, _place(order, at_message) - _BEFORE)
                entries = [
                    _message(connection, id_) if kind == 0 else _event(connection, id_)
                    for kind, id_, _ in order[offset : offset + limit]
                ]
    if row is None:
        raise InvalidRequest(
            f"no conversation {number}",
            next_step="It may have been forgotten: go back to the list.",
        )
    return ConversationReply(
        conversation=row,
        resume=resume_line(row),
        entries=entries,
        offset=offset,
        total=len(order),
    )


def resume_line(row: SessionRow) -> str:
    """Return a line for a POSIX shell that reopens a conversation.

    Empty if its agent cannot, or if a name holds characters that a terminal would obey when the
    line is pasted.
    """
    words = lookup.resume_command(row)
    if not words:
        return ""
    folder = f"cd -- {shlex.quote(row['cwd'])} && " if row["cwd"] else ""
    line = folder + shlex.join(words)
    return line if line == visible(line) and "\n" not in line else ""


_ORDER = """
SELECT 0 AS kind, id, created_at_epoch AS time FROM messages WHERE session_id = :session
UNION ALL
SELECT 1, id, created_at_epoch FROM tool_events WHERE session_id = :session
ORDER BY time, kind, id
"""


def _place(order: list[tuple[int, int, int]], message: int) -> int:
    """Return the place of a message; 0 if it is not there."""
    return next((at for at, entry in enumerate(order) if entry[:2] == (0, message)), 0)


def _message(connection: sqlite3.Connection, number: int) -> Entry:
    role, text, length, time_ms = connection.execute(
        "SELECT role, substr(text, 1, ?), length(text), created_at_epoch FROM messages"
        " WHERE id = ?",
        (TEXT_MAX, number),
    ).fetchone()
    return Entry(kind=role, id=number, time_ms=time_ms, text=text, cut=max(0, length - TEXT_MAX))


def _event(connection: sqlite3.Connection, number: int) -> Entry:
    name, arguments, command, output, failed, exit_status, time_ms = connection.execute(
        "SELECT name, input, command, output, failed, exit_status, created_at_epoch"
        " FROM tool_events WHERE id = ?",
        (number,),
    ).fetchone()
    files = connection.execute(
        "SELECT path, max(role = 'modified') FROM event_files WHERE event_id = ?"
        " GROUP BY path ORDER BY path LIMIT ?",
        (number, _FILES_MAX),
    )
    text = command or arguments
    return Entry(
        kind="tool",
        id=number,
        time_ms=time_ms,
        text=text[:TEXT_MAX],
        cut=max(0, len(text) - TEXT_MAX),
        name=name,
        is_command=bool(command),
        output=output[:TEXT_MAX],
        output_cut=max(0, len(output) - TEXT_MAX),
        failed=None if failed is None else bool(failed),
        exit_status=exit_status,
        files=[ReadFile(path=path, is_modified=bool(modified)) for path, modified in files],
    )
