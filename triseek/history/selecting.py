"""What is to be forgotten, and which records the ids name that people and agents pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triseek.errors import InvalidQuery, InvalidRequest
from triseek.history import lookup, references

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from triseek.history.references import Reference

_STEP = "Take an id from a search's answer."


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to forget: ids of rows of the database, each once."""

    sessions: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()
    """Of whichever role."""
    observations: tuple[int, ...] = ()
    prompts: tuple[int, ...] = ()
    """Messages of role `user`."""
    events: tuple[int, ...] = ()
    """Uses of tools."""

    @property
    def said(self) -> tuple[int, ...]:
        """The ids of messages and prompts, each once."""
        return tuple(dict.fromkeys((*self.messages, *self.prompts)))


def selection_of(connection: sqlite3.Connection, names: Iterable[str]) -> Selection:
    """Return the records that some ids name.

    `123`, `#123` and `claude-mem://observation/123` name an observation, `S4` the whole session
    that summary 4 is of, `P5` a message, `claude-mem://session/ID` a session. Everything else is
    the agent's id of a session, or the beginning of it.

    Raises:
        InvalidQuery: A record that is named by its number is not there.
        InvalidRequest: A name is no session's, or that of several.
    """
    rows: dict[str, list[int]] = {"sessions": [], "messages": [], "observations": [], "prompts": []}
    for name in names:
        reference = _reference(name)
        if reference is None:
            rows["sessions"].append(lookup.find(connection, name))
        else:
            kind, number = _row(connection, reference, name)
            rows[kind].append(number)
    return Selection(**{kind: tuple(dict.fromkeys(numbers)) for kind, numbers in rows.items()})


def with_project(connection: sqlite3.Connection, selection: Selection, project: str) -> Selection:
    """Return the selection with all of a project, which its name or its root folder names.

    A conversation may have observations of several projects.
    """
    sessions, observations = (
        [row[0] for row in connection.execute(
            f"SELECT id FROM {table} WHERE ? IN (project, root)", (project,)  # noqa: S608 - ours
        )]
        for table in ("sessions", "observations")
    )  # fmt: skip
    return replace(
        selection,
        sessions=tuple(dict.fromkeys((*selection.sessions, *sessions))),
        observations=tuple(dict.fromkeys((*selection.observations, *observations))),
    )


def _reference(name: str) -> Reference | None:
    """Return what a name refers to; None for the agent's id of a session."""
    if name.startswith(references.URI):
        return references.parse(name)
    try:
        reference = references.parse(name)
    except InvalidQuery:
        return None
    return None if reference.kind == "time" else reference


def _row(connection: sqlite3.Connection, reference: Reference, name: str) -> tuple[str, int]:
    """Return the kind and the row of a record. Raises InvalidQuery if it is not there."""
    if reference.kind == "session":
        row = references.session_row(connection, reference.text)
        if row is None:
            raise InvalidRequest(f"no conversation {reference.text!r:.80}", tool_step=_STEP)
        return "sessions", row
    query, kind = {
        "observation": ("SELECT id, '' FROM observations WHERE id = ?", "observations"),
        "summary": ("SELECT session_id, '' FROM session_summaries WHERE id = ?", "sessions"),
        "prompt": ("SELECT id, role FROM messages WHERE id = ?", "messages"),
    }[reference.kind]
    row = connection.execute(query, (reference.number,)).fetchone()
    if row is None:
        raise InvalidQuery(
            f"{name[:80]!r} not found",
            next_step="Name a conversation whose id has digits only as claude-mem://session/ID.",
            tool_step=_STEP,
        )
    return ("prompts" if row[1] == "user" else kind), int(row[0])
