"""`triseek hook EVENT`: handle an agent's report of what it does, and maybe refuse a read.

Runs in the daemon, for a process that only passes on its standard input (`cli.fast`). The status is
always 0, and there is no output unless the agent is to be told something: no hook may disturb it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from triseek.terminal import status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.app.hook_handler import HookHandler
    from triseek.terminal.command_context import CommandContext

logger = logging.getLogger(__name__)


class Words(NamedTuple):
    """Arguments of `triseek hook`, or of `triseek memo-observe`, its older name."""

    event: str = ""
    harness: str = ""
    repo: str = ""


def read(words: Sequence[str]) -> Words:
    """Parse the arguments; ignore what is not understood."""
    options: dict[str, str] = {}
    following = iter(words[1:])
    for word in following:
        name, is_joined, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            options.setdefault("event", word)
        elif name in Words._fields:
            options[name] = value if is_joined else next(following, "")
    return Words(**options)


def _plain(harness: str) -> str:
    """Return the name of a harness as `triseek install` spells it."""
    from triseek.agents import registry
    from triseek.errors import InvalidRequest

    try:
        return registry.receiver(harness).name
    except InvalidRequest:
        return harness.strip().lower().replace("_", "-")


def hook(
    words: Sequence[str], context: CommandContext, hook_handler: HookHandler, session: str = ""
) -> int:
    """Handle one payload from standard input.

    session: The session of the payload, if the payload does not name one.
    """
    arguments = read(words)
    try:
        reply = hook_handler.hook(
            context.read_stdin(),
            arguments.event,
            _plain(arguments.harness),
            context.cwd,
            repo=context.folder(arguments.repo) if arguments.repo else "",
            session=session,
        )
    except Exception:
        logger.exception("hook failed", extra={"verb": arguments.event[:40]})
        return status.FOUND
    if reply:
        context.out(reply.encode() + b"\n")
    return status.FOUND
