"""Puts the daemon together: which handlers it has and what runs beside them.

The one place that knows both the command line and the daemon.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from triseek.cli.remote import answer
from triseek.daemon import memo_calls, session_calls
from triseek.daemon.calls import calls
from triseek.daemon.memo_keeping import MemoKeeping
from triseek.daemon.server import Handlers
from triseek.daemon.session_keeping import SessionKeeping
from triseek.daemon.upkeep import Upkeep
from triseek.service.observing import Observer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.config import Settings
    from triseek.daemon.process import Work


def compose(settings: Settings) -> tuple[Handlers, Sequence[Work]]:
    """The daemon's handlers and its work."""
    upkeep = Upkeep(settings)
    keeping = MemoKeeping(keep=settings.memo_keep)
    sessions = SessionKeeping(
        upkeep.service,
        keeping.memo,
        auto_open=settings.sessions_auto_open,
        auto_snapshot=settings.sessions_auto_snapshot,
    )
    observer = Observer(
        upkeep.service, keeping.memo, sessions.recorder, refuse=settings.memo_refuse
    )
    return (
        Handlers(
            text=partial(answer, upkeep.service, observer=observer),
            calls={
                **calls(upkeep, sessions.resuming.serial),
                **memo_calls.calls(keeping.memo),
                **session_calls.calls(sessions),
            },
        ),
        (upkeep, keeping, sessions),
    )
