"""The sink of an agent's server: every action becomes an entry of a session, kept by the daemon.

Actions are told in order, several at a time, by a thread of its own, so that no answer waits for
it. Nothing is lost while there is a daemon: one that is busy, or is being started anew, is told
later. Where none runs there are no sessions, and what happened is forgotten after a while. Each is
numbered: of what is told again, because no answer came, the daemon keeps what it has not kept.
"""

from __future__ import annotations

import itertools
import json
import logging
import secrets
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.errors import (
    Busy,
    DaemonUnreachable,
    StateUnwritable,
    TriseekError,
    VersionMismatch,
)
from triseek.ipc import client

if TYPE_CHECKING:
    from triseek.sessions.actions import Action

logger = logging.getLogger(__name__)

QUEUE_MAX = 20_000
"""Actions that wait to be told; beyond that the oldest go."""
BATCH_MAX, BATCH_BYTES = 200, 256 << 10
"""Actions, and about how many bytes of them, that are told at once."""
NOTE_BYTES = 64 << 10
"""An action with a larger payload is told without its arguments."""
PATIENCE_S = 20.0
"""How long the daemon may take for a batch."""
RETRY_S = 0.25
KEPT_S = 5.0
"""How long what belongs to no session of this server's is kept for a daemon that is not there."""
FLUSH_S, END_S = 10.0, 3.0
"""How long a question about sessions, and the end of the server, waits until all is told."""
_PASSING = (DaemonUnreachable, VersionMismatch, Busy, StateUnwritable)
"""What may be over by the next time."""


class Note(NamedTuple):
    """An action as it is told."""

    session_id: str
    body: dict[str, Any]
    size: int


class Noting:
    """Tells the daemon of actions; safe to use from several threads."""

    def __init__(self, root: str) -> None:
        """Of the actions done in `root`."""
        self._root = root
        self._queue: deque[Note] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._put = self._done = self._failures = 0
        self._name = secrets.token_hex(4)
        self._numbers = itertools.count(1)
        self._again = False
        self._ended = False

    def __call__(self, action: Action) -> None:
        """Take an action; returns at once."""
        with self._changed:
            if self._ended:
                return
            note = _note(action, f"{self._name}:{next(self._numbers)}")
            if len(self._queue) >= QUEUE_MAX:
                self._queue.popleft()
                self._done += 1
            self._queue.append(note)
            self._put += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="triseek-note", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, timeout_s: float = FLUSH_S) -> None:
        """Wait until what happened before is told, or cannot be told now."""
        with self._changed:
            wanted, failures = self._put, self._failures
            self._changed.wait_for(
                lambda: self._done >= wanted or self._failures > failures, timeout_s
            )

    def close(self) -> None:
        """Tell what there is to tell, and take no more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(END_S)

    def _run(self) -> None:
        failing_since = 0.0
        while batch := self._next():
            try:
                told = self._tell(batch)
            except Exception:
                logger.exception("actions are not noted")
                told = True
            now = time.monotonic()
            if told:
                failing_since = 0.0
            else:
                failing_since = failing_since or now
                told = not batch[0].session_id and now - failing_since > KEPT_S
            with self._changed:
                if told:
                    self._taken(batch)
                else:
                    self._failures += 1
                self._changed.notify_all()
                if not told:
                    if self._ended:
                        return
                    self._changed.wait_for(lambda: self._ended, RETRY_S)

    def _next(self) -> list[Note]:
        """The oldest actions of one session; none once there will be no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._ended)
            batch: list[Note] = []
            size = 0
            for note in self._queue:
                size += note.size
                full = len(batch) == BATCH_MAX or size > BATCH_BYTES
                if batch and (full or note.session_id != batch[0].session_id):
                    break
                batch.append(note)
            return batch

    def _taken(self, batch: list[Note]) -> None:
        """Forget what was told; some of it may have gone already, where there was too much."""
        for note in batch:
            if self._queue and self._queue[0] is note:
                self._queue.popleft()
                self._done += 1

    def _tell(self, batch: list[Note]) -> bool:
        """Whether it is settled, one way or the other."""
        params: dict[str, Any] = {
            "target_root": self._root, "notes": [note.body for note in batch]
        }  # fmt: skip
        if batch[0].session_id:
            params["session_id"] = batch[0].session_id
        if self._again:
            params["again"] = True
        self._again = True
        try:
            client.ask("session_note", params, timeout_s=PATIENCE_S)
        except _PASSING:
            return False
        except TriseekError as error:
            logger.warning("%d actions are not noted: %s", len(batch), error)
        self._again = False
        return True


def _note(action: Action, name: str) -> Note:
    body: dict[str, Any] = {
        "note": name, "kind": action.kind, "payload": action.payload, "at_s": action.at_s,
    }  # fmt: skip
    if action.conversation is not None:
        body["conversation"] = action.conversation
    size = len(json.dumps(body))
    if size > NOTE_BYTES:
        body["payload"] = {**action.payload, "arguments": {}}
        size = len(json.dumps(body))
    return Note(action.session_id, body, size)
