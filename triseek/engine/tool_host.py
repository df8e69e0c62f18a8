"""What the process that runs the tools provides to them; the daemon provides all of it."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from triseek import config
from triseek.errors import BackendFailure, TriseekError
from triseek.ipc import address, client
from triseek.model.origin import Origin
from triseek.model.project_memory import nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.config import Settings
    from triseek.engine.engine import Engine
    from triseek.engine.freshness.journal import Trouble
    from triseek.engine.service import Service
    from triseek.model.call import Call
    from triseek.model.code_search import CodeSource
    from triseek.model.project_memory import Remembering

    CodeSources: TypeAlias = Callable[[Settings, Service, str], CodeSource]

PING_S = 2.0
"""How long a daemon that this process does not use may take to say that it is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHost:
    """What the tools of one agent may use of their process, for one root."""

    service: Service
    """The open engines."""
    root: str
    """Absolute path; it need not exist yet."""
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    """Unique among hosts: two agents' connections may have the same name."""
    services: Mapping[str, Any] = field(default_factory=dict)
    """By toolset: what only the daemon keeps and the tools of that wing work on."""
    newest_resume: Callable[[str], int] = lambda _: 0
    """Returns the number of the newest resume in a root; 0 if there is none."""
    is_building: Callable[[str], bool] = lambda _: False
    """Returns whether a root without an index is about to get one."""
    trouble: Callable[[Engine], Trouble | None] = lambda engine: engine.trouble
    """Returns why a root is not watched although it should be, or None."""

    remembering: Remembering = nothing
    """Returns what is remembered of a project."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """The environment variables of the agent that hold settings."""
    code_sources: CodeSources | None = None
    """Chooses what queries over repositories search."""

    @property
    def engine(self) -> Engine:
        """The root's engine.

        Raises:
            RepoNotDetected: The root folder does not exist, or no longer.
        """
        return self.service.engine(self.root, exact=True)

    def origin(self, call: Call) -> Origin:
        """Return where a call comes from."""
        who = call.who
        return Origin(
            harness=who.get("harness", ""),
            session=who.get("session", ""),
            call=who.get("call", ""),
            connection=f"{self.name}/{call.connection}" if call.connection else "",
        )

    def code_source(self) -> CodeSource:
        """Return what queries over repositories search: local indexes or a cluster.

        Raises:
            InvalidRequest: A setting is invalid.
            BackendFailure: Nothing can be searched.
        """
        if self.code_sources is None:
            raise BackendFailure("this process searches no repositories")
        return self.code_sources(config.read(environ=self.environ), self.service, self.root)

    def daemon_service(self, toolset: str) -> Any:  # noqa: ANN401 - each wing knows its own
        """Return what the daemon keeps for a toolset.

        Raises:
            BackendFailure: This process is not the daemon.
        """
        try:
            return self.services[toolset]
        except KeyError:
            raise BackendFailure(_why_no_daemon(toolset)) from None


def _why_no_daemon(toolset: str) -> str:
    """Return why the tools of a toolset do not work in this process."""
    try:
        client.ask("ping", timeout_s=PING_S)
    except TriseekError as error:
        if not isinstance(error.__cause__, address.Absent):
            return str(error)
    else:
        return f"TriSeek daemon is running, but did not take this call of a {toolset} tool"
    return f"TriSeek daemon is not running; {toolset} tools require `triseek daemon start`"
