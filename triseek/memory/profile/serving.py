"""The process of `triseek memory serve`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from threading import Event

    from triseek.memory.service import Memory


def serve(palace: str, beside: Callable[[Memory, Event], None]) -> None:
    """Serve a client by standard streams until it has left.

    Args:
        palace: Of calls that name none, made if it does not exist; "" if each must name one.
        beside: Called in a thread once the process serves, with the memory and with what is set
            when the process is to end. It returns then.

    Raises:
        InvalidRequest: `palace` is not a palace's name.
    """
    if palace:
        from triseek.memory import names

        names.palace(palace)
    from triseek.memory.profile.loop import Loop

    target = os.dup(1)
    for descriptor in (0, target):
        os.set_blocking(descriptor, True)
    os.dup2(2, 1)  # whatever prints, only answers get to the client

    def open_calls() -> Callable[[Mapping[str, object]], object]:
        from triseek import logs
        from triseek.memory.profile import calls, log_filter
        from triseek.memory.service import Memory

        logs.configure("mcp", log_filter.level(os.environ.get("RUST_LOG", "")))
        opened = calls.Calls(Memory(), palace)
        opened.begin()
        loop.run_beside(lambda: beside(opened.memory, loop.cancelled))
        return opened.call

    loop = Loop(0, target, open_calls, palace)
    loop.run()
