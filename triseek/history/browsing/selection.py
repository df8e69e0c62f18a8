"""Which conversations, messages and observations a listing is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from triseek.errors import InvalidRequest
from triseek.history.browsing.activity import span_of
from triseek.history.reading.filters import Where, visible

Kind: TypeAlias = Literal["session", "message", "observation"]
KINDS: tuple[Kind, ...] = ("session", "message", "observation")


def checked_kind(name: str) -> Kind:
    """Return a kind by its name; session if it is empty.

    Raises:
        InvalidRequest: There is no such kind.
    """
    for kind in KINDS:
        if name == kind or not name:
            return kind
    raise InvalidRequest(f"cannot list {name!r:.40}", next_step=f"Say one of {', '.join(KINDS)}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingFilters:
    """What is listed; empty fields do not restrict."""

    agent: str = ""
    project: str = ""
    """A project's name, or its root folder."""
    day: str = ""
    """`YYYY-MM-DD`, local."""
    type: str = ""
    """Of observations."""

    @property
    def span(self) -> tuple[int, int] | None:
        """The day's first millisecond and the next day's. Raises as `span_of`."""
        return span_of(self.day) if self.day else None

    def of_sessions(self) -> Where:
        """Return the conditions for rows `s` of `sessions`, by their messages' days."""
        where = Where()
        if self.agent:
            where.add("s.agent = ?", self.agent)
        if self.project:
            where.add("s.project = ? OR s.root = ?", self.project, self.project)
        if self.span:
            where.add(
                "s.id IN (SELECT session_id FROM messages"
                " WHERE created_at_epoch >= ? AND created_at_epoch < ?)",
                *self.span,
            )
        return where

    def of_observations(self, now_ms: int) -> Where:
        """Return the conditions for rows `o` of `observations`, without the hidden ones."""
        where = self.of_records("o")
        where.add(visible("o"), now_ms)
        if self.type:
            where.add("o.type = ?", self.type)
        return where

    def of_records(self, table: str) -> Where:
        """Return the conditions for rows of a table of messages or observations."""
        where = Where()
        if self.agent or self.project:
            owners = ListingFilters(agent=self.agent, project=self.project).of_sessions()
            where.add(
                f"{table}.session_id IN (SELECT s.id FROM sessions s WHERE {owners.sql})",  # noqa: S608
                *owners.parameters,
            )
        if self.span:
            where.add(f"{table}.created_at_epoch >= ? AND {table}.created_at_epoch < ?", *self.span)
        return where
