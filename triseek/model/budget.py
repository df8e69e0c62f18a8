"""The time limit of the current request, and the check whether its client still waits.

The budget is held in a context variable (`contextvars`). Code that answers a request opens one with
`limited`, and loops that may run long call `check`. Work that is passed to another thread keeps it
with `carried`. Without a budget there is no limit: a user's own process works until it is done or
interrupted.
"""

from __future__ import annotations

import contextlib
import contextvars
import time

from triseek.errors import Cancelled, OutOfTime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event
    from typing import TypeVar

    T = TypeVar("T")

ASK_S = 0.02
"""Seconds between checks whether the client still waits; a check may take a system call."""


class _Budget:
    """The deadline of one request, and the check of its client."""

    __slots__ = ("_ask", "_asked", "earliest", "until")

    def __init__(self, until: float, earliest: float, ask: Callable[[], None]) -> None:
        self.until = until
        self.earliest = earliest
        """When this one or an outer one is over."""
        self._ask = ask
        self._asked = 0.0

    def check(self) -> None:
        """Raise if the request has to end."""
        now = time.monotonic()
        if now - self._asked >= ASK_S:
            self._asked = now
            self._ask()
        if now > self.until:
            raise OutOfTime("the time for this request is over")


_current: contextvars.ContextVar[_Budget | None] = contextvars.ContextVar("budget", default=None)


def check() -> None:
    """Raise if the current request has to end. Takes about 0.2 µs.

    Raises:
        OutOfTime: its time is over. What was found so far is the answer.
        Exception: whatever `ask` raises, because nobody waits for the answer.
    """
    budget = _current.get()
    if budget is not None:
        budget.check()


def left() -> float:
    """Return the seconds until the time for the current request is over; infinity without limit."""
    budget = _current.get()
    return float("inf") if budget is None else budget.earliest - time.monotonic()


@contextlib.contextmanager
def limited(
    seconds: float = float("inf"), ask: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Limit the code of the `with` block, in this context; an outer limit applies as well.

    Args:
        seconds: the time limit, from now.
        ask: called from time to time, from any thread; raises when nobody waits any more.
    """
    outer = _current.get()
    until = time.monotonic() + seconds

    def ask_both() -> None:
        if outer is not None:
            outer.check()
        ask()

    earliest = until if outer is None else min(until, outer.earliest)
    token = _current.set(_Budget(until, earliest, ask_both))
    try:
        yield
    finally:
        _current.reset(token)


def carried(work: Callable[[], T], stop: Event | None = None) -> Callable[[], T]:
    """Return a function that does `work` under this context's budget in another thread.

    Args:
        work: the function to run there.
        stop: once it is set, `check` raises `Cancelled` there.
    """
    context = contextvars.copy_context()
    if stop is None:
        return lambda: context.run(work)

    def ask() -> None:
        if stop.is_set():
            raise Cancelled("the search was ended")

    def limited_work() -> T:
        with limited(ask=ask):
            return work()

    return lambda: context.run(limited_work)
