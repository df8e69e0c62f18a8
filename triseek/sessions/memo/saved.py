"""The memo's file: written aside, made durable, renamed; only the user may read it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek import errors, private
from triseek.sessions.memo import primed, state
from triseek.sessions.memo.primed import Primings
from triseek.store import sealed

if TYPE_CHECKING:
    from triseek.sessions.memo.context import Conversation

_LOG = logging.getLogger(__name__)
_NAME = "memo.json"


class Saved:
    """What of the memo is on disk. Not thread-safe."""

    def __init__(self, folder: str | None) -> None:
        self._folder = None if folder is None else Path(folder)
        self._is_there = False

    def load(self, now_s: float) -> tuple[list[Conversation], Primings]:
        """What was saved, the least recently active first; nothing if it is damaged."""
        if self._folder is None:
            return [], Primings()
        body = sealed.read(self._folder / _NAME, most_bytes=state.MOST_BYTES)
        self._is_there = body is not None
        told = body.get("primed") if body is not None and state.is_ours(body) else None
        return state.load(body, now_s), primed.load(told, now_s)

    def write(self, body: dict[str, Any]) -> None:
        """Replace it; what cannot be written is logged."""
        if self._folder is None:
            return
        path = self._folder / _NAME
        try:
            private.make(self._folder)
            sealed.write(path, body)
            path.chmod(0o600)
        except (OSError, errors.StateUnwritable) as error:
            _LOG.warning("the memo is not saved: %s", error)
        else:
            self._is_there = True

    def remove(self) -> None:
        """Let there be none."""
        if self._folder is None or not self._is_there:
            return
        try:
            (self._folder / _NAME).unlink(missing_ok=True)
        except OSError as error:
            _LOG.warning("what the memo saved is not removed: %s", error)
        else:
            self._is_there = False
