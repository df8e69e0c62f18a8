"""What is forgotten with what somebody names: sub-agents, and copies in other conversations.

Agents copy messages and uses of tools into new conversations (forks). Texts that are said again by
chance, and ids that are unique in their conversation only, are short; they are left out, as
tombstones leave them out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.history.tombstones import TEXT_MIN, USE_MIN

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from triseek.history.selecting import Selection


def complete(connection: sqlite3.Connection, selection: Selection) -> Selection:
    """Return the selection with the sub-agents of its conversations, and copies of its records."""
    return with_copies(connection, with_sub_agents(connection, selection))


def with_sub_agents(connection: sqlite3.Connection, selection: Selection) -> Selection:
    """Return the selection with all sub-agents of its conversations, and theirs."""
    begun: dict[tuple[str, str], list[tuple[int, str, str]]] = {}
    for number, agent, name, parent in connection.execute(
        "SELECT id, agent, external_id, parent_external_id FROM sessions"
        " WHERE is_sub_agent AND parent_external_id != ''"
    ):
        begun.setdefault((agent, parent), []).append((number, agent, name))
    numbers = dict.fromkeys(selection.sessions)
    waiting = [
        row
        for number in (numbers if begun else ())
        for row in connection.execute(
            "SELECT agent, external_id FROM sessions WHERE id = ?", (number,)
        )
    ]
    while waiting:
        for number, *key in begun.pop(waiting.pop(), ()):
            numbers[number] = None
            waiting.append((key[0], key[1]))
    return replace(selection, sessions=tuple(numbers))


def with_copies(connection: sqlite3.Connection, selection: Selection) -> Selection:
    """Return the selection with all messages that say the same, and all copies of uses of tools."""
    within = set(selection.sessions)
    asked = {number: text for number, _, text in messages(connection, selection)}
    texts = {text for text in asked.values() if len(text) >= TEXT_MIN}
    said = [
        number
        for number, session, text in connection.execute(
            "SELECT id, session_id, text FROM messages WHERE length(text) >= ?", (TEXT_MIN,)
        )
        if text in texts and session not in within and number not in asked
    ] if texts else []  # fmt: skip
    ids = {(agent, name) for _, _, agent, name in uses(connection, selection)}
    events = [
        number
        for number, session, agent, name in connection.execute(_USES, (USE_MIN,))
        if (agent, name) in ids and session not in within
    ] if ids else []  # fmt: skip
    return replace(
        selection,
        messages=(*selection.messages, *said),
        events=tuple(dict.fromkeys((*selection.events, *events))),
    )


def messages(
    connection: sqlite3.Connection, selection: Selection
) -> Iterator[tuple[int, int, str]]:
    """Yield the id, the session and the text of each selected message."""
    columns = "SELECT id, session_id, text FROM messages"
    for number in selection.sessions:
        yield from connection.execute(f"{columns} WHERE session_id = ?", (number,))
    for number in selection.said:
        yield from connection.execute(f"{columns} WHERE id = ?", (number,))


def uses(
    connection: sqlite3.Connection, selection: Selection
) -> Iterator[tuple[int, int, str, str]]:
    """Yield the uses of tools in the selected conversations whose ids are unique everywhere.

    Each with its id, its session, the agent, and the agent's id of it.
    """
    for number in selection.sessions:
        yield from connection.execute(f"{_USES} AND session_id = ?", (USE_MIN, number))


_USES = (
    "SELECT tool_events.id, session_id, agent, tool_events.external_id FROM tool_events"
    " JOIN sessions ON sessions.id = session_id WHERE length(tool_events.external_id) >= ?"
)
