"""What is in the database and not in the index's files yet, as segments in memory.

A search sees each change at once: sessions that changed since the files were written are indexed in
memory, and their copies in the files do not count. Changes come one after another, so they are kept
in layers, of which the newest is rebuilt with each change; layers of like size are merged. So a
change costs as much as the sessions that it touches, and not as much as all that changed.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triseek.recall.index import LiveSegment, alive
from triseek.recall.segment_writer import SegmentWriter

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from triseek.recall.index import Opened
    from triseek.recall.segment import Segment
    from triseek.recall.source import Source


class _Layer(NamedTuple):
    segment: Segment | None
    """None if all of its sessions are empty."""
    sessions: frozenset[int]
    """Those whose older copies do not count; an empty one is not in the segment."""
    messages: int


class _State(NamedTuple):
    stamp: tuple[int, int]
    """Of the manifest that the layers lie upon."""
    position: int
    layers: tuple[_Layer, ...]
    """Oldest first."""
    live: list[LiveSegment]
    """The segments of the index and of the layers."""


class Fresh:
    """The layers upon an index; thread-safe."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._state: _State | None = None

    def segments(
        self, connection: sqlite3.Connection, opened: Opened
    ) -> Sequence[LiveSegment] | None:
        """Return the segments of the index and of what has changed since; None if that is much.

        Args:
            connection: A connection of the source's database, opened after the index was.
            opened: The index.
        """
        source = self._source
        with self._lock:
            position = source.position(connection)
            state = self._state
            if state is None or state.stamp != opened.stamp or state.position > position:
                state = _State(opened.stamp, opened.position, (), opened.segments)
            if position != state.position:
                if source.size(connection, state.position) > source.in_memory_max:
                    return None
                changed = frozenset(source.changed(connection, state.position))
                layers = _merged((*state.layers, self._layer(connection, changed)))
                state = _State(opened.stamp, position, layers, _live(opened, layers))
            self._state = state
            return state.live

    @property
    def messages(self) -> int:
        """The number of messages in memory."""
        state = self._state
        return sum(layer.messages for layer in state.layers) if state else 0

    def _layer(self, connection: sqlite3.Connection, sessions: frozenset[int]) -> _Layer:
        writer = SegmentWriter()
        for session_id, started_ms, messages in self._source.read(connection, sorted(sessions)):
            writer.add(session_id, started_ms, messages)
        return _layer(writer, sessions)


def _layer(writer: SegmentWriter, sessions: frozenset[int]) -> _Layer:
    messages = writer.messages
    return _Layer(writer.in_memory() if messages else None, sessions, messages)


def _merged(layers: tuple[_Layer, ...]) -> tuple[_Layer, ...]:
    """Merge the newest layers until each is more than twice as large as the one upon it."""
    while len(layers) > 1 and layers[-2].messages <= 2 * layers[-1].messages:
        older, newer = layers[-2:]
        writer = SegmentWriter()
        for segment, dead in ((older.segment, newer.sessions), (newer.segment, frozenset[int]())):
            if segment is not None:
                keeps = alive(segment, dead).live.astype(bool)
                if keeps.any():
                    writer.copy(segment, keeps)
        layers = (*layers[:-2], _layer(writer, older.sessions | newer.sessions))
    return layers


def _live(opened: Opened, layers: Sequence[_Layer]) -> list[LiveSegment]:
    """Return the segments; of a session that is in several, the newest copy counts."""
    dead = set[int]()
    live: list[LiveSegment] = []
    for layer in reversed(layers):
        if layer.segment is not None:
            live.append(alive(layer.segment, dead))
        dead |= layer.sessions
    for older in reversed(opened.segments):
        mask = older.live & alive(older.segment, dead).live
        is_same = np.array_equal(mask, older.live)
        live.append(older if is_same else LiveSegment(older.segment, mask))
    return live[::-1]
