"""Compose the daemon: its handlers and the tasks that run beside them.

This is the only module that knows both the command line and the daemon.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from triseek.app.dispatch import VERB
from triseek.app.hook_handler import HookHandler
from triseek.app.opening_context import OpeningContext
from triseek.app.project_memory import remembered
from triseek.app.session_history import SessionHistory
from triseek.app.tool_context import ToolContext
from triseek.app.workflow_runs import code_source
from triseek.cli.remote import answer
from triseek.daemon import verbs
from triseek.daemon.open_roots import OpenRoots
from triseek.daemon.server import Handlers
from triseek.daemon.services import HistoryService, MemoryService, MemoService, SessionService
from triseek.daemon.tool_calls import ToolCalls
from triseek.engine.roots import project
from triseek.engine.tool_host import ToolHost
from triseek.mcp import agent_verb
from triseek.zoekt.configured import cluster

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from triseek.config import Settings
    from triseek.daemon.process import BackgroundTask


def compose(settings: Settings) -> tuple[Handlers, Sequence[BackgroundTask]]:
    """Return the daemon's handlers and its background tasks."""
    jobs = OpenRoots(settings)
    memo = MemoService(keep=settings.memo_keep)
    memory = MemoryService(dreams=settings.memory_dream)
    remembering = partial(remembered, memory.memory)
    sessions = SessionService(
        jobs.service,
        memo.memo,
        auto_open=settings.sessions_auto_open,
        auto_snapshot=settings.sessions_auto_snapshot,
        remembering=remembering,
    )
    own = SessionHistory(sessions.sessions, sessions.snapshots, sessions.checkpoints.finish)
    history = HistoryService(follow=settings.history_follow, own=own)
    opening = OpeningContext(history.history, settings.history_context_tokens)
    hook_handler = HookHandler(
        jobs.service,
        memo.memo,
        sessions.recorder,
        refuse=settings.memo_refuse,
        opening=opening.text if settings.history_context else None,
    )
    context = partial(_tool_context, jobs, memo, sessions, history, memory)
    return (
        Handlers(
            text=partial(
                answer,
                jobs.service,
                hook_handler=hook_handler,
                kept={
                    "history": history.history,
                    "memory": memory.memory,
                    "cluster": cluster,
                    **dict.fromkeys(("roots", "symbols", "workflow"), jobs.service),
                },
            ),
            calls={
                **verbs.bound(jobs, verbs.ROOT_VERBS),
                **verbs.bound(memo.memo, verbs.MEMO_VERBS),
                **verbs.bound(sessions, verbs.SESSION_VERBS),
                **verbs.of_history(history.history),
                VERB: ToolCalls(context),
            },
            agent=partial(agent_verb.accept, context),
        ),
        (jobs, memo, sessions, history, memory),
    )


def _tool_context(
    jobs: OpenRoots,
    memo: MemoService,
    sessions: SessionService,
    history: HistoryService,
    memory: MemoryService,
    root: str,
    environ: Mapping[str, str] | None = None,
) -> ToolContext:
    """Return the context on which the tools of one agent work in the daemon."""
    host = ToolHost(
        service=jobs.service,
        root=root,
        services={
            "session": sessions.operations,
            "memo": memo.memo,
            "history": history.history,
            "memory": memory.memory,
        },
        newest_resume=lambda root: sessions.resuming.serial(project(root)),
        is_building=jobs.is_building,
        trouble=lambda engine: jobs.trouble(engine.root),
        remembering=partial(remembered, memory.memory),
        code_sources=code_source,
    )
    if environ is not None:
        host = replace(host, environ=environ)
    return ToolContext(host, sessions.recorder.of_tools, sessions.resuming)
