"""Writes the records of a source that holds conversations of several agents.

Its records name a conversation `agent/id`. Conversations that a better source has recorded are left
alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.history.importing import precedence
from triseek.history.importing.writing import Writer, Written
from triseek.model.conversation import Conversation

if TYPE_CHECKING:
    import sqlite3

    from triseek.history.tombstones import Tombstones
    from triseek.model.conversation import Message, ToolEvent


class RoutingWriter:
    """As `Writer`, for a source of one of the kinds in `precedence.LESSER`."""

    def __init__(self, source_agent: str, source_id: int, tombstones: Tombstones) -> None:
        """Write records of a source."""
        self._source_agent = source_agent
        self._source_id = source_id
        self._tombstones = tombstones
        self._writers: dict[str, Writer] = {}
        self._may_write: dict[str, bool] = {}
        self.written = Written()

    def write(
        self, connection: sqlite3.Connection, record: Conversation | Message | ToolEvent
    ) -> None:
        """Write one record, unless a better source has its conversation."""
        name = record.id if isinstance(record, Conversation) else record.conversation
        agent, _, conversation = name.partition("/")
        if name not in self._may_write:
            self._may_write[name] = precedence.may_write(
                connection, agent, conversation, self._source_agent
            )
        if not self._may_write[name]:
            return
        if agent not in self._writers:
            self._writers[agent] = self._writer(agent)
        if isinstance(record, Conversation):
            self._writers[agent].write(connection, replace(record, id=conversation))
        else:
            self._writers[agent].write(connection, replace(record, conversation=conversation))

    def finish(self, connection: sqlite3.Connection) -> None:
        """As `Writer.finish`."""
        for writer in self._writers.values():
            writer.finish(connection)

    def _writer(self, agent: str) -> Writer:
        rank = precedence.rank(self._source_agent)
        writer = Writer(agent, self._source_id, self._tombstones, rank)
        writer.written = self.written
        return writer
