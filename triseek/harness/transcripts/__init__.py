"""Which tools' outputs are still in an agent's view, by the transcripts agents keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.harness.transcripts import claude_code, codex

if TYPE_CHECKING:
    from triseek.model.hook_event import HookEvent


def in_view(event: HookEvent) -> frozenset[str] | None:
    """Ids of the uses whose outputs are in the context now; None where that cannot be told.

    A transcript may be behind: an id that is missing means nothing.
    """
    if event.in_view is not None:
        return event.in_view
    reader = {"claude-code": claude_code.in_view, "codex": codex.in_view}.get(event.context.harness)
    return reader(event) if reader is not None else None
