"""Puts the daemon together: which handlers it has and what runs beside them.

The one place that knows both the command line and the daemon.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from triseek.cli.remote import answer
from triseek.daemon import memo_calls
from triseek.daemon.calls import calls
from triseek.daemon.memo_keeping import MemoKeeping
from triseek.daemon.server import Handlers
from triseek.daemon.upkeep import Upkeep
from triseek.service.observing import Observer
from triseek.sessions.actions import Recent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.config import Settings
    from triseek.daemon.process import Work


def compose(settings: Settings) -> tuple[Handlers, Sequence[Work]]:
    """The daemon's handlers and its work."""
    upkeep = Upkeep(settings)
    keeping = MemoKeeping(keep=settings.memo_keep)
    observer = Observer(upkeep.service, keeping.memo, Recent(), refuse=settings.memo_refuse)
    return (
        Handlers(
            text=partial(answer, upkeep.service, observer=observer),
            calls={**calls(upkeep), **memo_calls.calls(keeping.memo)},
        ),
        (upkeep, keeping),
    )
