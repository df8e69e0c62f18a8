"""Consolidates the memory while nobody uses it."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Protocol

from triseek.errors import TriseekError

if TYPE_CHECKING:
    import threading

    from triseek.memory.dreaming.run import Flag, Report

logger = logging.getLogger(__name__)

IDLE_S = 180.0
"""Seconds without a use of the memory after which it is consolidated."""
LOOK_S = 30.0
"""Seconds between two looks whether it is time."""
BUDGET_S = 20.0
"""Seconds of one run; the next look goes on with what is left."""


class Sleeper(Protocol):
    """What of `Memory` is used here."""

    def exists(self) -> bool:
        """Return whether there is a memory."""

    def idle_s(self) -> float:
        """Return the seconds since it was used in this process."""

    def dream(self, *, budget_s: float, cancelled: Flag) -> Report:
        """Consolidate it."""


class _InUse:
    """Set once the memory is used, or its consolidation is cancelled."""

    def __init__(self, memory: Sleeper, cancelled: Flag) -> None:
        self._memory, self._cancelled = memory, cancelled
        self._began = time.monotonic()

    def is_set(self) -> bool:
        is_used = self._memory.idle_s() < time.monotonic() - self._began
        return is_used or self._cancelled.is_set()


def run(memory: Sleeper, cancelled: threading.Event) -> None:
    """Consolidate the memory whenever nobody uses it, until `cancelled` is set.

    A use, or the event, ends a run after the drawer that is being compared. Errors are logged, and
    the next look tries again.
    """
    while not cancelled.wait(LOOK_S):
        once(memory, cancelled)


def once(memory: Sleeper, cancelled: threading.Event, idle_s: float = IDLE_S) -> Report | None:
    """Consolidate the memory if nobody has used it for `idle_s` seconds; return what was done.

    None if there is no memory, it is in use, or an error was logged.
    """
    if not memory.exists() or memory.idle_s() < idle_s:
        return None
    try:
        report = memory.dream(
            budget_s=BUDGET_S,
            cancelled=_InUse(memory, cancelled),
        )
    except TriseekError as error:
        logger.warning("memory not consolidated", extra={"reason": str(error)})
        return None
    if report.run:
        logger.info(
            "memory consolidated",
            extra={"run": report.run, "superseded": report.superseded, "purged": report.purged},
        )
    return report
