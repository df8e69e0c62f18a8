"""What the tools of one agent work on: the contexts of all wings, and the record of its calls."""

from __future__ import annotations

import contextlib
import os
import time
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from cachetools import LRUCache

from triseek.app import call_record, registry
from triseek.app.answers_in_view import AnswersInView
from triseek.app.prior_answers import PriorAnswers
from triseek.errors import TriseekError
from triseek.sessions.recording import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.app.resume import Resuming
    from triseek.engine.tool_host import ToolHost
    from triseek.model.call import Call
    from triseek.model.tool import Tool
    from triseek.sessions.handlers import SessionContext

ANSWERS_MAX = 1_024
"""Answers whose paths are remembered, for later answers that omit them."""


class ToolContext:
    """State that the tools of one agent share. Thread-safe."""

    def __init__(
        self,
        host: ToolHost,
        sink: Callable[[str, Action], None] = lambda _root, _action: None,
        resuming: Resuming | None = None,
    ) -> None:
        """Answer for the root of `host`.

        Args:
            host: What the process provides.
            sink: Receives the actions of the tools of a root.
            resuming: Knows the sessions that were resumed; None outside of the daemon.
        """
        self.root = host.root
        self.host = host
        self.sink = sink
        self.contexts = {wing.toolset: wing.context(host) for wing in registry.WINGS}
        """What the tools of each toolset work on."""
        self.hydrated = PriorAnswers(host, resuming)
        self.in_view = AnswersInView(host.services.get("memo"))
        self._lock = Lock()
        self._paths_of: LRUCache[str, list[str]] = LRUCache(ANSWERS_MAX)

    @property
    def session(self) -> SessionContext:
        """What the session tools work on."""
        return cast("SessionContext", self.contexts["session"])

    def record(
        self, tool: Tool, explicit: Mapping[str, Any], envelope: Mapping[str, Any], call: Call
    ) -> None:
        """Record a call of a tool and its answer.

        explicit: The arguments, under their own names; defaults may be left out.
        """
        payload = call_record.payload(self.root, tool.name, explicit, envelope, call.who)
        paths = self._paths(envelope, payload["result_paths"])
        payload["result_paths"] = paths
        if not call_record.is_noted_elsewhere(tool.name, envelope):
            named = call_record.session_of(envelope)
            self.sink(
                self.root,
                Action(
                    at_s=time.time(),
                    kind=tool.kind,
                    conversation=call.conversation,
                    payload=payload,
                    session_id=named or self.session.current(call.connection),
                    origin=self.host.origin(call),
                ),
            )
        if tool.kind == "search" and paths and not envelope.get("results_omitted"):
            with contextlib.suppress(TriseekError):  # the root is gone
                self.host.engine.record_answer(list(map(os.fsencode, paths)))

    def _paths(self, envelope: Mapping[str, Any], paths: list[str]) -> list[str]:
        """Return the paths of an answer; if it omits them, those it had at first."""
        search_id = envelope.get("search_id", "")
        with self._lock:
            if envelope.get("results_omitted"):
                return self._paths_of.get(search_id, paths)
            if search_id:
                self._paths_of[search_id] = paths
        return paths
