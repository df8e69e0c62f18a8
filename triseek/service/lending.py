"""What the daemon knows of a root, asked for by a process that searches by itself.

The daemon follows the file system's events, and asking it takes a millisecond or two; finding out
what changed takes a sweep. Whatever it does not know, or cannot be asked, is found out by a sweep:
nothing here raises because of the daemon, and nothing here starts one.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from typing import TYPE_CHECKING, Any

from triseek import errors
from triseek.engine import lent
from triseek.engine.journal import Batch, Clock, Since
from triseek.ipc import client

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.engine.dirt import Dirt
    from triseek.index.reader import Reader

PATIENCE_S = 2.0
"""A daemon that takes longer is not asked again for `REST_S`: a sweep takes a tenth of that."""
REST_S = 10.0
TOLD_MAX = 64
"""Things that wait to be told."""


class Lending:
    """The daemon's knowledge of one root; shared by threads."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.hydration = 0
        """The number of the newest resume here, as the daemon said last; 0 for none."""
        self._rest_until = 0.0
        self._lock = threading.Lock()
        self._teller: threading.Thread | None = None
        self._told: queue.Queue[tuple[str, Mapping[str, Any]]] = queue.Queue(TOLD_MAX)

    def __call__(self, reader: Reader) -> Dirt | None:
        """What the tree holds that a generation does not know; None if the daemon cannot tell."""
        told = self.ask("dirt", {"edition": lent.edition(reader)})
        return lent.heard(told["dirt"], reader) if told and told.get("dirt") else None

    def now(self, clock: Clock | None = None) -> tuple[Clock | None, Since]:
        """The moment, everything that happened before it taken in; and what happened since `clock`.

        No clock means that nobody watches: nothing can be said of any time since then.
        """
        asked = {"cheap": True} if clock is None else {"cheap": True, "clock": str(clock)}
        told = self.ask("sync", asked)
        if told is None:
            return None, Since("unknown", "not_watched")
        return _clock(told.get("clock")), _since(told.get("since"))

    def tell(self, verb: str, params: Mapping[str, Any]) -> None:
        """Tell the daemon something about this root, and do not wait for it."""
        with self._lock:
            if self._teller is None:
                self._teller = threading.Thread(target=self._run, name="triseek-tell", daemon=True)
                self._teller.start()
        with contextlib.suppress(queue.Full):  # nobody listens: it is not worth keeping
            self._told.put_nowait((verb, params))

    def _run(self) -> None:
        while True:
            self.ask(*self._told.get())

    def ask(self, verb: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask about this root; None if no daemon answers for it."""
        if time.monotonic() < self._rest_until:
            return None
        began = time.monotonic()
        try:
            told = client.ask(verb, {"target_root": self.root, **params}, timeout_s=PATIENCE_S)
        except errors.TriseekError:
            if time.monotonic() - began >= PATIENCE_S:
                self._rest_until = time.monotonic() + REST_S
            return None
        # A root that has no index yet is answered for by an indexed folder above it.
        if told.get("target_root") != self.root:
            return None
        if type(serial := told.get("hydration")) is int:
            self.hydration = serial
        return told


def _clock(text: object) -> Clock | None:
    try:
        return Clock.parse(text) if isinstance(text, str) else None
    except errors.InvalidRequest:
        return None


def _since(body: object) -> Since:
    """What the daemon said; nothing is believed that it would not have said."""
    unknown = Since("unknown", "not_watched")
    if not isinstance(body, dict):
        return unknown
    try:
        if body["kind"] == "unchanged":
            return Since("unchanged", "unchanged")
        if body["kind"] != "changed":
            return Since("unknown", str(body["reason"]))  # type: ignore[arg-type]
        return Since("changed", "changed", tuple(map(_batch, body["batches"])))
    except (KeyError, TypeError, ValueError):
        return unknown


def _batch(body: Mapping[str, Any]) -> Batch:
    changes = {os.fsencode(path): what for path, what in dict(body["changes"]).items()}
    return Batch(int(body["generation"]), changes, everything=body["everything"] is not False)
