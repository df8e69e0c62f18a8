"""The memo's file: written to a temporary file, synced, renamed; only the user may read it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from triseek import errors, private
from triseek.memo import primed, state
from triseek.memo.primed import Primings
from triseek.store import sealed

if TYPE_CHECKING:
    from triseek.memo.context import Conversation
    from triseek.memo.state import SavedState

_LOG = logging.getLogger(__name__)
_NAME = "memo.json"


class Saved:
    """The memo's state on disk. Not thread-safe."""

    def __init__(self, folder: str | None) -> None:
        self._folder = None if folder is None else Path(folder)
        self._is_there = False

    def load(self, now_s: float) -> tuple[list[Conversation], Primings]:
        """Return the saved contexts, least recently active first, and resumes; empty if damaged."""
        if self._folder is None:
            return [], Primings()
        body = sealed.read(self._folder / _NAME, most_bytes=state.MOST_BYTES)
        self._is_there = body is not None
        saved_primed = body.get("primed") if body is not None and state.is_ours(body) else None
        return state.load(body, now_s), primed.load(saved_primed, now_s)

    def write(self, body: SavedState) -> None:
        """Replace the file; a failure is logged."""
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
        """Remove the file; a failure is logged."""
        if self._folder is None or not self._is_there:
            return
        try:
            (self._folder / _NAME).unlink(missing_ok=True)
        except OSError as error:
            _LOG.warning("what the memo saved is not removed: %s", error)
        else:
            self._is_there = False
