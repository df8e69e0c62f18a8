"""A watched root: its tracker and the journal of its changes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from triseek.engine.freshness.journal import Journal
from triseek.engine.freshness.tracker import Tracker
from triseek.errors import Unwatchable
from triseek.files.mounts import obstacle
from triseek.files.watch.inotify import WatchLimit

if TYPE_CHECKING:
    from triseek.engine.freshness.journal import Trouble
    from triseek.engine.freshness.tracker import Happened
    from triseek.engine.search.backends.indexed import Indexed


class Watch:
    """Watches the root of an index.

    Raises on creation:
        IndexUnavailable, IndexCorrupt, FormatTooNew: There is no index to compare with.
        Unwatchable: The root cannot be watched; the message says why.
    """

    def __init__(self, indexed: Indexed, cookies: str, folders_max: int) -> None:
        reason = obstacle(os.fsencode(indexed.root))
        if reason:
            raise Unwatchable(f"{indexed.root} is not watched: {reason}")
        self.journal = Journal.open(indexed.index_dir)
        """The changes since watching began."""
        self.changed = 0.0
        """Time of the last noted change, by `time.monotonic`; 0 if there was none."""
        self._indexed = indexed
        try:
            self._tracker = Tracker(indexed.root, cookies, folders_max, self._note)
            try:
                self.journal.watching_began()
                indexed.track(self._tracker)
            except BaseException:
                self.close()
                raise
        except (WatchLimit, OSError, RuntimeError) as error:
            fix = getattr(error, "fix", "") or None
            message = f"{indexed.root} is not watched: {error}"
            raise Unwatchable(message, next_step=fix) from error

    def _note(self, happened: Happened | None) -> None:
        self.changed = time.monotonic()
        if not self.alive:
            self.journal.watching_ended()
        elif happened is None:
            self.journal.lose()
        else:
            self.journal.note(happened)

    @property
    def alive(self) -> bool:
        """Whether the tracker still receives events."""
        return self._tracker.alive

    @property
    def trouble(self) -> Trouble | None:
        """Why answers need a sweep although the root is or was watched; None if they do not."""
        return self._tracker.trouble

    def wait(self, timeout_s: float) -> bool:
        """Wait for the next event. Return whether one came."""
        return self._tracker.watcher.wait(timeout_s)

    def close(self) -> None:
        """Stop watching."""
        self._indexed.untrack()
        self.journal.watching_ended()
        self._tracker.close()
