"""What a use of a tool has read, and what of it the agent was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.sessions.memo import look, spans
from triseek.sessions.memo.shown import Claim, shown

if TYPE_CHECKING:
    from triseek.model.hook_event import ToolUse
    from triseek.sessions.memo.look import Look
    from triseek.sessions.memo.spans import Spans

FILES_MAX = 64
"""More files than one use of a tool is looked at for."""


class Read(NamedTuple):
    """A file that a tool has read."""

    look: Look
    asked: Spans
    shown: Spans
    """Those of the asked lines that stand in the tool's output."""


def read(use: ToolUse) -> list[Read]:
    """Look at the files of a use, and compare them with its output."""
    looks: dict[str, Look | None] = {}
    claims: list[Claim] = []
    for one in use.reads[:FILES_MAX]:
        path = look.real(one.path)
        if path is None:
            continue
        if path not in looks:
            looks[path] = look.look(path)
        now = looks[path]
        if now is not None:
            claims += [Claim(now, first, last) for first, last in now.asked(one)]
    if not claims:
        return []
    found = [spans.NONE for _ in claims] if use.output is None else shown(use.output, claims)
    return [
        Read(claim.look, spans.of(claim.first, claim.last), lines)
        for claim, lines in zip(claims, found, strict=True)
    ]
