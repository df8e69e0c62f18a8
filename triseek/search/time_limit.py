"""The time limit of a search for an agent."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from triseek.errors import Cancelled
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triseek.model.call import Call

DEADLINE_S = 20.0
"""After this time a search returns what it has found; clients give up on tools after that."""
GRACE_S = 4.0
"""Additional time for building the answer."""


@contextlib.contextmanager
def limited(call: Call) -> Iterator[None]:
    """Limit the time of a call, with its grace, in its thread and those it hands work to.

    Raises, wherever `model.budget.check` is called:
        OutOfTime: time is up.
        Cancelled: nobody waits for the answer any more.
    """

    def ask() -> None:
        if call.cancelled():
            raise Cancelled("cancelled")

    with budget.limited(DEADLINE_S + GRACE_S, ask):
        yield


def until_deadline(call: Call) -> Callable[[], bool]:
    """Return a test for `engine.ranking.ranked`: whether to stop because time is up.

    Raises, when the test is called:
        Cancelled: nobody waits for the answer any more.
    """
    until = time.monotonic() + DEADLINE_S

    def stop() -> bool:
        if call.cancelled():
            raise Cancelled("cancelled")
        return time.monotonic() > until

    return stop
