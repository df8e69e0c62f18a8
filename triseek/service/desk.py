"""One root, its clients, and what they have been told: what the tools of an agent work on."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from triseek.errors import Cancelled
from triseek.model.index import no_progress
from triseek.service.lending import Lending
from triseek.sessions.actions import Action, Recent
from triseek.sessions.reuse import Answers

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from triseek.engine.engine import Engine
    from triseek.model.index import Progress
    from triseek.service.service import Service
    from triseek.service.verbs import Verb
    from triseek.sessions.actions import Sink

DEADLINE_S = 20.0
"""After so long a search says what it has found; clients give up on tools after that."""
SNAPSHOTS_MAX = 64
PATHS_MAX = 20
"""Paths of an answer that are noted with the action."""
ARGUMENT_MAX = 500
"""Characters of an argument that are."""


def never() -> bool:
    """Nobody cancels."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Who asks, and how to reach them meanwhile."""

    conversation: str | None = None
    """Names the one context window that the answer goes to; None where that is not known."""
    who: Mapping[str, str] = field(default_factory=dict)
    """What the client says of itself: any of `harness`, `session`, `agent`, `call`."""
    cancelled: Callable[[], bool] = never
    progress: Progress = no_progress


class Desk:
    """What the tools share; safe to use from several threads."""

    def __init__(self, service: Service, root: str, *, sink: Sink | None = None) -> None:
        """Answer for `root`, which need not be there yet; actions go to `sink`."""
        self.service = service
        self.root = root
        self.answers = Answers()
        self.lending = Lending(root)
        self.is_syncing: Callable[[], bool] = never
        """Whether the index is being brought up to date by this process."""
        self.sink: Sink = sink or Recent()
        self._lock = Lock()
        self._snapshots: OrderedDict[Hashable, Mapping[bytes, float]] = OrderedDict()

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
                self._snapshots.move_to_end(question)
                return known
        fresh = self.engine.scores()
        with self._lock:
            self._snapshots[question] = fresh
            if len(self._snapshots) > SNAPSHOTS_MAX:
                self._snapshots.popitem(last=False)
        return fresh

    def record(
        self, verb: Verb, given: Mapping[str, Any], envelope: Mapping[str, Any], call: Call
    ) -> None:
        """Note that a tool was called, and what came of it."""
        results = envelope.get("results") or envelope.get("items") or ()
        payload: dict[str, Any] = {
            "tool": verb.name,
            "arguments": {name: _clipped(value) for name, value in given.items()},
            "result_paths": [result["path"] for result in results[:PATHS_MAX]],
        }
        for name in ("search_id", "cache", "files_with_matches", "total_line_matches"):
            if name in envelope:
                payload[name] = envelope[name]
        if "error" in envelope:
            payload["error"] = envelope["error"]["code"]
        action = Action(
            at_s=time.time(), kind=verb.kind, conversation=call.conversation, payload=payload
        )
        self.sink(action)
        if verb.kind == "search" and payload["result_paths"]:
            self.lending.tell("frecency_found", _found(verb, given, payload["result_paths"]))


def _found(verb: Verb, given: Mapping[str, Any], paths: list[str]) -> dict[str, Any]:
    """What frecency is to know of an answer."""
    query = next((given[name] for name in ("query", "content_query") if name in given), "")
    kind = "path" if verb.name == "find_files" else str(given.get("mode", "literal"))
    return {"pattern": str(query)[:ARGUMENT_MAX], "kind": kind, "paths": paths}


def _clipped(value: Any) -> Any:  # noqa: ANN401 - JSON
    """An argument as it is noted: texts not too long, lists not either."""
    if isinstance(value, str):
        return value[:ARGUMENT_MAX]
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    return json.dumps(value)[:ARGUMENT_MAX]


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
