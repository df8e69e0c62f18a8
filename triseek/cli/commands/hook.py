"""`triseek hook EVENT`: an agent tells what it does, and may be told that it need not.

Runs in the daemon, for a process that has only passed on its standard input (`cli.fast`). Always 0,
and silent unless there is something to tell the agent: nobody is to be disturbed by a helper.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from triseek.cli import status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.cli.world import World
    from triseek.service.observing import Observer

logger = logging.getLogger(__name__)

_ALSO = {"claude": "claude-code", "gemini-cli": "gemini", "open-code": "opencode"}


class Words(NamedTuple):
    """What was typed after `triseek hook`, or after `triseek memo-observe`, its older name."""

    event: str = ""
    harness: str = ""
    repo: str = ""


def read(words: Sequence[str]) -> Words:
    """The words' meaning; what is not understood is passed over."""
    found: dict[str, str] = {}
    following = iter(words[1:])
    for word in following:
        name, is_joined, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            found.setdefault("event", word)
        elif name in Words._fields:
            found[name] = value if is_joined else next(following, "")
    return Words(**found)


def _plain(harness: str) -> str:
    """A harness as `triseek install` names it."""
    name = harness.strip().lower().replace("_", "-")
    return _ALSO.get(name, name)


def hook(words: Sequence[str], world: World, observer: Observer, session: str = "") -> int:
    """Take in one payload from standard input.

    session: Whose it is where the payload does not say.
    """
    asked = read(words)
    try:
        told = observer.hook(
            world.read_stdin(),
            asked.event,
            _plain(asked.harness),
            world.cwd,
            repo=world.folder(asked.repo) if asked.repo else "",
            session=session,
        )
    except Exception:
        logger.exception("hook failed", extra={"verb": asked.event[:40]})
        return status.FOUND
    if told:
        world.out(told.encode() + b"\n")
    return status.FOUND
