"""The doctor's check of the history: what is not imported yet, and when its agent deletes it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from triseek.agents.doctor.checks import info, ok
from triseek.history import consent
from triseek.history.importing import claude_mem_import, run, sources
from triseek.history.importing.claude_mem import DEFAULT_PATH
from triseek.model.plain_text import counted
from triseek.terminal.report_text import human_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.base import Agent, InstallPlace
    from triseek.agents.doctor.checks import Finding
    from triseek.history.importing.run import AgentReport
    from triseek.history.service import History


def conversations(history: History, here: InstallPlace) -> Iterator[Finding]:
    """Check each agent that keeps conversations here. Their files are listed and not read."""
    agents = sources.importable()
    if history.exists():
        with history.database.read() as connection:
            imported = consent.agents(connection)
        counts = run.plan(history.database, agents, here).agents
    else:
        imported = {}
        counts = run.listed(agents, here).agents
    for agent in agents:
        if counts[agent.name].sources:
            yield _finding(agent, counts[agent.name], is_imported=agent.name in imported)
    yield from _claude_mem(history, os.path.realpath(here.in_home(*DEFAULT_PATH)))


def _claude_mem(history: History, path: str) -> Iterator[Finding]:
    """Check whether a database of claude-mem has been imported. It is not opened."""
    if not os.path.isfile(path):  # noqa: PTH113
        return
    what = "history of claude-mem"
    if history.exists():
        with contextlib.suppress(OSError), history.database.read() as connection:
            if claude_mem_import.is_imported(connection, path):
                yield ok(what, "all imported")
                return
    yield info(
        what, "not imported, or new since the last import", f"triseek history import --file {path}"
    )


def _finding(agent: Agent, counts: AgentReport, *, is_imported: bool) -> Finding:
    what = f"history of {agent.title}"
    retention = agent.transcripts.retention if agent.transcripts else ""
    deleted = f"; {retention}" if retention else ""
    if not counts.read:
        return ok(what, f"{counted(counts.sources, 'file')}, all imported")
    state = "new since the last import" if is_imported else "not imported"
    return info(
        what,
        f"{counted(counts.read, 'file')} ({human_size(counts.bytes)}) {state}{deleted}",
        f"triseek history import {agent.name}",
    )
