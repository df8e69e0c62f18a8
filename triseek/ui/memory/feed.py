"""The feed of the memory's changes as server-sent events (SSE).

The database keeps the newest changes of all processes, with numbers: see `triseek.memory.events`.
Each stream reads them from its own place on, as fast as its client takes them, so nothing is
buffered here: a client that falls too far behind is told how many changes it has missed. The
number of a change is its event's id, by which a client resumes after a lost connection.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.responses import StreamingResponse

from triseek.errors import TriseekError
from triseek.memory import events
from triseek.ui.runner import Document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from triseek.memory.events import Event, Totals
    from triseek.memory.service import Memory

POLL_S = 1.0
"""Seconds between two looks at the database, for all streams together."""
KEEP_ALIVE_S = 15.0
"""Seconds without an event after which a comment is sent."""
STREAMS_MAX = 32
BATCH = 128
"""Changes that are read at once."""
TOTALS_SHARE = 20
"""The totals are counted again after this many times as long as counting them took."""


class Feed:
    """The streams of one server."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._ended = anyio.Event()
        self._streams = 0
        self._position = 0
        self._polled_s = float("-inf")
        self._reading = anyio.Lock()
        self._totals: tuple[int, Totals] | None = None
        """The totals and the position of which they are."""
        self._totals_due_s = 0.0

    async def respond(self, request: Request) -> Response:
        """GET /sse: stream the changes from now on, or after the `Last-Event-ID` of the request."""
        last = request.headers.get("last-event-id", "").strip()
        if last and not (last.isascii() and last.isdigit() and len(last) <= 18):
            return Document({"error": f"Last-Event-ID is no id of this feed: {last[:60]!r}"}, 400)
        if self._streams >= STREAMS_MAX:
            return Document({"error": f"there are {STREAMS_MAX} streams; close one first"}, 503)
        try:  # before the answer begins: what is written once the client has it is sent
            newest = await self._newest(is_new=True)
        except TriseekError:
            newest = 0  # the stream says why
        return StreamingResponse(
            self._stream(int(last) if last else newest),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
        )

    def stop(self) -> None:
        """End all streams; called in the thread that serves them."""
        self._ended.set()

    async def end(self) -> None:
        """End all streams."""
        self.stop()

    async def _stream(self, begin: int) -> AsyncIterator[bytes]:
        self._streams += 1
        try:
            async for frame in self._frames(begin):
                yield frame
        except TriseekError as error:
            yield f": {' '.join(error.message.split())}\n\n".encode()
        finally:
            self._streams -= 1

    async def _frames(self, seq: int) -> AsyncIterator[bytes]:
        yield _frame({"type": "connected"}, seq)
        sent_s, shown, is_due = time.monotonic(), None, False
        while not self._ended.is_set():
            position = await self._newest()
            if position < seq:  # the database is another than the client's
                seq = position
                yield _frame({"type": "lag", "skipped": 0}, seq)
            elif position > seq:
                frames, seq = await anyio.to_thread.run_sync(self._read_after, seq)
                sent_s, is_due = time.monotonic(), True
                yield b"".join(frames)
                if position > seq:
                    continue
            if is_due and (totals := await self._read_totals(seq)) is not None:
                is_due = False
                if totals != shown:
                    shown = totals
                    yield _frame(_status(totals))
            if time.monotonic() - sent_s >= KEEP_ALIVE_S:
                sent_s = time.monotonic()
                yield b": keep-alive\n\n"
            with anyio.move_on_after(POLL_S):
                await self._ended.wait()

    async def _newest(self, *, is_new: bool = False) -> int:
        """Return the position of the newest change, read at most once in `POLL_S` seconds.

        is_new: Read it now in any case.
        """
        asked_s = time.monotonic()
        async with self._reading:
            if is_new or asked_s - self._polled_s >= POLL_S * 0.9:
                self._polled_s = time.monotonic()
                self._position = await anyio.to_thread.run_sync(self._read_position)
            return self._position

    def _read_position(self) -> int:
        if not self._memory.exists():
            return 0
        with self._memory.watched().read() as connection:
            return events.position(connection)

    def _read_after(self, seq: int) -> tuple[list[bytes], int]:
        """Return the next frames after a position, and their last position."""
        with self._memory.watched().read() as connection:
            batch, skipped = events.after(connection, seq, BATCH)
            newest = events.position(connection)
            counts = events.drawer_counts(connection)
        frames = [_frame({"type": "lag", "skipped": skipped})] if skipped else []
        frames += [_frame(_shown(event, counts), event.seq) for event in _merged(batch)]
        return frames, batch[-1].seq if batch else newest

    async def _read_totals(self, seq: int) -> Totals | None:
        """Return the totals at a position or later; None if it is too early to count them again."""
        if self._totals is None or self._totals[0] < seq:
            if time.monotonic() < self._totals_due_s:
                return None
            began_s = time.monotonic()
            self._totals = seq, await anyio.to_thread.run_sync(self._count)
            self._totals_due_s = began_s + (time.monotonic() - began_s) * (TOTALS_SHARE + 1)
        return self._totals[1]

    def _count(self) -> Totals:
        with self._memory.watched().read() as connection:
            return events.totals(connection)


def _merged(batch: Sequence[Event]) -> list[Event]:
    """Return changes without those of a graph that are followed by another of the same graph."""
    return [
        event
        for event, following in zip(batch, [*batch[1:], None], strict=True)
        if event.kind != "kg_changed"
        or following is None
        or (following.kind, following.palace) != (event.kind, event.palace)
    ]


def _shown(event: Event, counts: dict[str, int]) -> dict[str, Any]:
    if event.kind == "palace_created":
        return {"type": event.kind, "id": event.palace, "name": event.palace}
    shown: dict[str, Any] = {"type": event.kind}
    if event.palace:
        shown["palace_id"] = event.palace
    if event.drawer:
        shown |= {"drawer_count": counts.get(event.palace, 0), "drawer_id": event.drawer}
    return shown | (json.loads(event.detail) if event.detail else {})


def _status(totals: Totals) -> dict[str, Any]:
    return {
        "type": "status_changed",
        "total_drawers": totals.drawers,
        "total_vectors": totals.vectors,
        "total_kg_triples": totals.triples,
    }


def _frame(data: dict[str, Any], seq: int | None = None) -> bytes:
    line = "" if seq is None else f"id: {seq}\n"
    return f"{line}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
