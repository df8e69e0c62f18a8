"""The engines on which a command works."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.service import Service
    from triseek.terminal.command_context import CommandContext


@contextlib.contextmanager
def opened(context: CommandContext) -> Iterator[Service]:
    """Yield the daemon's service if the daemon runs the command, else one of this command."""
    if context.kept is not None:
        yield context.kept
        return
    from triseek.engine.service import Service

    with Service(one_shot=True) as service:
        yield service
