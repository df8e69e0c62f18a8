"""Compose the daemon: its handlers and the tasks that run beside them.

This is the only module that knows both the command line and the daemon.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from triseek.app.dispatch import VERB
from triseek.app.hook_handler import HookHandler
from triseek.app.tool_context import ToolContext
from triseek.cli.remote import answer
from triseek.daemon import calls, memo_service, session_service
from triseek.daemon.background_jobs import BackgroundJobs
from triseek.daemon.memo_service import MemoService
from triseek.daemon.params import bound
from triseek.daemon.server import Handlers
from triseek.daemon.session_service import SessionService
from triseek.daemon.tool_calls import ToolCalls
from triseek.engine.roots import project
from triseek.engine.tool_host import ToolHost
from triseek.mcp.hosting import SessionAcceptor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.config import Settings
    from triseek.daemon.process import BackgroundTask


def compose(settings: Settings) -> tuple[Handlers, Sequence[BackgroundTask]]:
    """Return the daemon's handlers and its background tasks."""
    jobs = BackgroundJobs(settings)
    memo = MemoService(keep=settings.memo_keep)
    sessions = SessionService(
        jobs.service,
        memo.memo,
        auto_open=settings.sessions_auto_open,
        auto_snapshot=settings.sessions_auto_snapshot,
    )
    hook_handler = HookHandler(
        jobs.service, memo.memo, sessions.recorder, refuse=settings.memo_refuse
    )
    verbs = {
        **bound(calls.VERBS, jobs),
        **bound(memo_service.VERBS, memo.memo),
        **bound(session_service.VERBS, sessions),
    }
    context = partial(_tool_context, jobs, memo, sessions)
    return (
        Handlers(
            text=partial(answer, jobs.service, hook_handler=hook_handler),
            calls=verbs,
            streamed={VERB: ToolCalls(context)},
            agent=SessionAcceptor(context).accept,
        ),
        (jobs, memo, sessions),
    )


def _tool_context(
    jobs: BackgroundJobs, memo: MemoService, sessions: SessionService, root: str
) -> ToolContext:
    """Return the context on which the tools of one agent work in the daemon."""
    host = ToolHost(
        service=jobs.service,
        root=root,
        services={"session": sessions.operations, "memo": memo.memo},
        newest_resume=lambda root: sessions.resuming.serial(project(root)),
        is_building=jobs.is_building,
        trouble=lambda engine: jobs.trouble(engine.root),
    )
    return ToolContext(host, sessions.recorder.of_tools, sessions.resuming)
