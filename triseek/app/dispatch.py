"""Calls tools, in this process or through the daemon: the one entry point for every front."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import secrets
import threading
import time
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from triseek.app import arguments, call_record
from triseek.app.registry import WINGS
from triseek.errors import (
    BackendFailure,
    Busy,
    Cancelled,
    DaemonUnreachable,
    InvalidQuery,
    InvalidRequest,
    RepoNotDetected,
    TriseekError,
    VersionMismatch,
)
from triseek.ipc import client, spawn, surroundings
from triseek.model.plain_text import encodable
from triseek.search import envelopes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from triseek.app.tool_context import ToolContext
    from triseek.model.call import Call
    from triseek.model.tool import Tool

logger = logging.getLogger(__name__)

VERB = "tool"
"""The daemon's verb by which a front calls a tool."""
PAUSE_S = 0.05
"""Pause before heavy work, during which a first answer is written."""
READY_S = 5.0
"""How long a daemon may take to start before the front goes on without one."""
NEEDED_S = 20.0
"""How long it may take if the call cannot be answered without one."""
ASKED_MAX = 3
"""Daemons that are asked for such a call if each ends before it has answered. If it is the call
that ends them, it ends no more."""
NEED_DAEMON = frozenset(wing.toolset for wing in WINGS if wing.needs_daemon)
"""The toolsets that only the daemon can answer for."""
PATIENCE_S = 15 * 60.0
"""How long a running daemon may take: it may index a large tree."""


class Answered(NamedTuple):
    """The answer to a call of a tool."""

    arguments: dict[str, Any]
    """As they were understood; as they were passed if they were not."""
    envelope: dict[str, Any]
    """The answer, which may be an error's."""
    error: TriseekError | None = None
    """The error, worded for people."""


def failed(raw: Mapping[str, Any] | None, error: TriseekError) -> Answered:
    """Return the answer to a call that failed."""
    return Answered(dict(raw or {}), envelopes.failure(error), error)


def digest(tool: Tool, request_arguments: Mapping[str, Any], envelope: Mapping[str, Any]) -> str:
    """Return a tool's answer as text: a few lines for an agent that precede the document itself.

    Args:
        tool: The tool.
        request_arguments: As they were understood.
        envelope: The answer.
    """
    if "error" in envelope:
        error = envelope["error"]
        return (
            f"{tool.name} error [{error['code']}]: {error['message']}. "
            f"Suggested: {error['suggested_action']}"
        )
    return "\n".join(tool.digest(tool.name, request_arguments, envelope))


def text(tool: Tool, request_arguments: Mapping[str, Any], envelope: Mapping[str, Any]) -> str:
    """Return the digest as it can be sent: without what UTF-8 cannot encode."""
    return str(encodable(digest(tool, request_arguments, encodable(envelope))))


class Dispatch(Protocol):
    """Calls tools on one root. Thread-safe. Never raises."""

    root: str

    def __call__(self, tool: Tool, raw: Mapping[str, Any] | None, call: Call) -> Answered:
        """Call a tool; `raw` are the arguments as they came from outside."""


class Local:
    """Calls tools in this process."""

    def __init__(self, context: ToolContext) -> None:
        """Call tools on `context`."""
        self.context = context
        self.root = context.root

    def __call__(self, tool: Tool, raw: Mapping[str, Any] | None, call: Call) -> Answered:
        """Call a tool."""
        request_arguments = recorded_arguments = dict(raw or {})
        failure: TriseekError | None = None
        try:
            request = arguments.read(tool, raw)
            request_arguments = dataclasses.asdict(request)
            recorded_arguments = call_record.explicit_arguments(request)
            if tool.kind == "search":
                envelope = self._search(tool, request, request_arguments, call)
            else:
                envelope = tool.answer(self.context.contexts[tool.toolset], request, call)
        except Cancelled as error:
            return failed(request_arguments, error)
        except TriseekError as error:
            failure = self._answered(tool, error)
        except Exception as error:
            logger.exception("%s failed", tool.name)
            failure = BackendFailure(f"internal error: {type(error).__name__}")
        if failure is not None:
            envelope = envelopes.failure(failure)
        if call.is_recorded:
            self.context.record(tool, recorded_arguments, envelope, call)
        return Answered(request_arguments, envelope, failure)

    def _search(
        self,
        tool: Tool,
        request: Any,  # noqa: ANN401 - the tool's request
        request_arguments: dict[str, Any],
        call: Call,
    ) -> dict[str, Any]:
        """Return a search's answer, or that the context has it in view."""
        context = self.context
        proven = context.in_view.proven(call)
        envelope: dict[str, Any] = tool.answer(context.contexts[tool.toolset], request, proven)
        if call.is_recorded:
            envelope = context.hydrated.beside(tool.name, request, envelope)
        if proven.has_in_view is not None and not envelope.get("results_omitted"):
            context.in_view.note(envelope["search_id"], text(tool, request_arguments, envelope))
        return envelope

    def _answered(self, tool: Tool, error: TriseekError) -> TriseekError:
        """Return the error to answer with: what fails in a service of the daemon may be retried."""
        is_refused = isinstance(error, (InvalidRequest, InvalidQuery, RepoNotDetected))
        if is_refused or tool.toolset not in self.context.host.services:
            return error
        return BackendFailure(
            f"{tool.name} failed ({error.code}): {error}",
            next_step=error.next_step,
            tool_step=error.tool_step,
        )


class LocalSearches:
    """Calls tools in this process, except those that only the daemon can answer."""

    def __init__(self, local: Local, remote: Remote) -> None:
        """Call tools on `local`, and by `remote` those that need the daemon."""
        self.root = local.root
        self._local = local
        self._remote = remote

    def __call__(self, tool: Tool, raw: Mapping[str, Any] | None, call: Call) -> Answered:
        """Call a tool."""
        if tool.toolset in NEED_DAEMON:
            return self._remote(tool, raw, call)
        return self._local(tool, raw, call)


class Remote:
    """Calls tools through the daemon; calls them in this process if there is no daemon.

    For a tool that needs the daemon, one is started where that is allowed.
    """

    def __init__(
        self, local: Local, alone: Callable[[], None], deliver: Callable[[], bool] = lambda: True
    ) -> None:
        """Set up the calls of a front that is a process of its own.

        Args:
            local: Calls the tools if no daemon does.
            alone: Called once, before `local` is: loads what the daemon has loaded.
            deliver: Called before the daemon is: sends it what was done without it, and returns
                whether it took it. If not, this process calls the tool.
        """
        self.root = local.root
        self._local = local
        self._alone = alone
        self._deliver = deliver
        self._is_alone = False
        self._lock = Lock()
        try:
            variables = surroundings.of_workflows(os.environ)
            self._place = surroundings.place((*surroundings.RULES, *variables))
        except OSError:  # the working folder is gone
            self._place = ""
        self._front = secrets.token_hex(8)

    def __call__(self, tool: Tool, raw: Mapping[str, Any] | None, call: Call) -> Answered:
        """Call a tool."""
        losses: list[client.Lost] = []
        answered = self._asked(tool, raw, call, losses)
        if tool.toolset in NEED_DAEMON:
            asked = 1
            while answered is None and asked < ASKED_MAX and spawn.ensure(NEEDED_S):
                answered = self._asked(tool, raw, call, losses)
                asked += 1
        if answered is not None:
            return answered
        if losses and tool.toolset in NEED_DAEMON:
            return failed(raw, _lost(tool, losses))
        self.begin_alone()
        return self._local(tool, raw, call)

    def _asked(
        self, tool: Tool, raw: Mapping[str, Any] | None, call: Call, losses: list[client.Lost]
    ) -> Answered | None:
        """Have the daemon call a tool; None if it has not and this may be tried again.

        losses: Gets the error, if the daemon was lost during the call.
        """
        sessions = self._local.context.session
        if self._place and self._deliver():
            params = {
                "front": self._front,
                "root": self.root,
                "tool": tool.name,
                "arguments": dict(raw or {}),
                "conversation": call.conversation,
                "connection": call.connection,
                "who": dict(call.who),
                "session": sessions.current(call.connection),
                "record": call.is_recorded,
            }
            try:
                return self._by_daemon(params, call)
            except client.Lost as error:
                if not tool.read_only:
                    failure = BackendFailure(
                        f"{error}; it may have been done or not",
                        next_step="Look before you call it again.",
                    )
                    return failed(raw, failure)
                losses.append(error)
            except (DaemonUnreachable, VersionMismatch, Busy):
                pass  # this process calls the tool
            except TriseekError as error:
                return failed(raw, error)
        return None

    def _by_daemon(self, params: Mapping[str, object], call: Call) -> Answered:
        """Have the daemon call a tool.

        Raises:
            BackendFailure: Its reply is invalid.
            TriseekError: As `client.ask`.
        """

        def pass_on(step: bytes) -> None:
            stage, done, total = json.loads(step)
            call.progress(stage, done, total)

        try:
            reply = client.ask(
                VERB, params, PATIENCE_S,
                place=self._place, step=pass_on, cancelled=call.cancelled,
            )  # fmt: skip
            error_report = reply["error"]
            error = None if error_report is None else client.reported(error_report)
            answered = Answered(reply["arguments"], reply["envelope"], error)
            # The next daemon continues it.
            self._local.context.session.work_on(reply["session"], call.connection)
        except (KeyError, TypeError, ValueError) as error:
            raise BackendFailure(f"invalid reply of the daemon: {error!r}") from error
        return answered

    def prepare(self) -> None:
        """Have the daemon keep the root open, and start one if need be; returns at once."""
        threading.Thread(target=self._prepare, name="triseek-prepare", daemon=True).start()

    def _prepare(self) -> None:
        time.sleep(PAUSE_S)
        try:
            if self._place and spawn.ensure(READY_S):
                client.ask("preload_root", {"target_root": self.root, "exact": True})
                return
        except (TriseekError, OSError) as error:
            logger.warning("no daemon follows this root: %s", error)
        self.begin_alone()

    def begin_alone(self) -> None:
        """Load what the daemon would have loaded; later calls do nothing."""
        with self._lock:
            if self._is_alone:
                return
            self._is_alone = True
        self._alone()


def _lost(tool: Tool, losses: Sequence[client.Lost]) -> BackendFailure:
    """Return the error of a call that daemons were lost with, and that only a daemon answers."""
    count = len(losses)
    asked = "the daemon was" if count == 1 else f"{count} daemons, one after the other, were"
    return BackendFailure(
        f"{tool.name}: {asked} lost during the call: {losses[-1]}",
        next_step="Look at `triseek daemon status`, then try again.",
        tool_step="Call it once more; if that fails too, go on without it.",
    )
