"""Which conversation a row of an answer comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


@dataclass(frozen=True, slots=True)
class ConversationRef:
    """A conversation, as its agent names it."""

    session_id: int
    agent: str
    external_id: str
    """The agent's own id."""
    title: str
    project: str
    root: str


def conversation(connection: sqlite3.Connection, session_id: int) -> ConversationRef:
    """Return a conversation that exists: its id comes from a row of the same read."""
    row = connection.execute(
        "SELECT id, agent, external_id, title, project, root FROM sessions WHERE id = ?",
        (session_id,),
    ).fetchone()
    return ConversationRef(*row)
