"""One root, its clients, and what they have been told: what the tools of an agent work on."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from triseek.errors import Cancelled
from triseek.model import budget
from triseek.model.index import no_progress
from triseek.service import telling
from triseek.service.hydrated import Hydrated
from triseek.service.lending import Lending
from triseek.sessions.actions import Action, Recent
from triseek.sessions.reuse import Answers

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping

    from triseek.engine.engine import Engine
    from triseek.model.index import Progress
    from triseek.model.tool import Tool
    from triseek.service.service import Service
    from triseek.sessions.actions import Sink

DEADLINE_S = 20.0
"""After so long a search says what it has found; clients give up on tools after that."""
GRACE_S = 4.0
"""What putting it into an answer may take."""
SNAPSHOTS_MAX = 64
TOLD_MAX = 1_024
"""Answers whose paths are known, for when they are not repeated."""
CONNECTIONS_MAX = 1_024


def never() -> bool:
    """Nobody cancels."""
    return False


def nothing() -> None:
    """Nothing has to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Who asks, and how to reach them meanwhile."""

    conversation: str | None = None
    """Names the one context window that the answer goes to; None where that is not known."""
    who: Mapping[str, str] = field(default_factory=dict)
    """What the client says of itself: any of `harness`, `session`, `agent`, `call`."""
    connection: str = ""
    """Names the connection the call came by; "" where each stands for itself."""
    cancelled: Callable[[], bool] = never
    progress: Progress = no_progress


class Desk:
    """What the tools share; safe to use from several threads."""

    def __init__(
        self,
        service: Service,
        root: str,
        *,
        sink: Sink | None = None,
        flush: Callable[[], None] = nothing,
    ) -> None:
        """Answer for `root`, which need not be there yet; actions go to `sink`.

        flush: waits until the sink has told what it was given.
        """
        self.service = service
        self.root = root
        self.answers = Answers()
        self.lending = Lending(root)
        self.hydrated = Hydrated(root)
        self.is_syncing: Callable[[], bool] = never
        """Whether the index is being brought up to date by this process."""
        self.sink: Sink = sink or Recent()
        self.flush = flush
        self._lock = Lock()
        self._current: LRUCache[str, str] = LRUCache(CONNECTIONS_MAX)
        self._told: LRUCache[str, list[str]] = LRUCache(TOLD_MAX)
        self._snapshots: LRUCache[Hashable, Mapping[bytes, float]] = LRUCache(SNAPSHOTS_MAX)

    @property
    def engine(self) -> Engine:
        """The root's engine.

        Raises:
            RepoNotDetected: There is no such folder, or no longer.
        """
        return self.service.engine(self.root, exact=True)

    def scores(self, question: Hashable, offset: int) -> Mapping[bytes, float]:
        """The frecency scores to order an answer by: for a later page those of the first one."""
        with self._lock:
            known = self._snapshots.get(question)
            if offset and known is not None:
                return known
        fresh = self.engine.scores()
        with self._lock:
            self._snapshots[question] = fresh
        return fresh

    def session(self, call: Call) -> str:
        """The work session that was opened or resumed last by a call's connection; "" for none."""
        with self._lock:
            return self._current.get(call.connection, "")

    def work_on(self, session_id: str, call: Call) -> None:
        """Take a session as the current one of a call's connection."""
        with self._lock:
            self._current[call.connection] = session_id

    def leave(self, session_id: str) -> None:
        """Take a session, which has ended, as nobody's current one."""
        with self._lock:
            for connection in [one for one, name in self._current.items() if name == session_id]:
                del self._current[connection]

    def record(
        self, tool: Tool, given: Mapping[str, Any], envelope: Mapping[str, Any], call: Call
    ) -> None:
        """Note that a tool was called, and what came of it.

        given: The arguments, under their own names; defaults may be left out.
        """
        payload = telling.payload(self.root, tool.name, given, envelope, call.who)
        paths = self._paths(envelope, payload["result_paths"])
        payload["result_paths"] = paths
        if not telling.is_noted_elsewhere(tool.name, envelope):
            self.sink(
                Action(
                    at_s=time.time(),
                    kind=tool.kind,
                    conversation=call.conversation,
                    payload=payload,
                    session_id=telling.session_of(envelope) or self.session(call),
                )
            )
        if tool.kind == "search" and paths and not envelope.get("results_omitted"):
            self.lending.tell("frecency_found", _found(tool, given, paths))

    def _paths(self, envelope: Mapping[str, Any], paths: list[str]) -> list[str]:
        """The paths of an answer; of one that is not repeated, those it had."""
        search_id = envelope.get("search_id", "")
        with self._lock:
            if envelope.get("results_omitted"):
                return self._told.get(search_id, paths)
            if search_id:
                self._told[search_id] = paths
        return paths


def _found(tool: Tool, given: Mapping[str, Any], paths: list[str]) -> dict[str, Any]:
    """What frecency is to know of an answer."""
    query = next((given[name] for name in ("query", "content_query") if name in given), "")
    kind = "path" if tool.name == "find_files" else str(given.get("mode", "literal"))
    return {"pattern": str(query)[: telling.ARGUMENT_MAX], "kind": kind, "paths": paths}


@contextlib.contextmanager
def working(call: Call) -> Iterator[None]:
    """Limit what a call may take, with its grace: in its thread and those it hands work to.

    Raises, from wherever `model.budget.check` is asked:
        OutOfTime: time is up.
        Cancelled: nobody waits any more.
    """

    def ask() -> None:
        if call.cancelled():
            raise Cancelled("cancelled")

    with budget.limited(DEADLINE_S + GRACE_S, ask):
        yield


def patience(call: Call) -> Callable[[], bool]:
    """A test for `engine.ranked`: whether to stop because time is up.

    Raises, when it is asked:
        Cancelled: nobody waits any more.
    """
    until = time.monotonic() + DEADLINE_S

    def stop() -> bool:
        if call.cancelled():
            raise Cancelled("cancelled")
        return time.monotonic() > until

    return stop
