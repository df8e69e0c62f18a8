"""Which tools' outputs are still in an agent's view, by the transcripts agents keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.model.hook_event import HookEvent


def in_view(event: HookEvent) -> frozenset[str] | None:
    """Ids of the uses whose outputs are in the context now; None where that cannot be told."""
    return event.in_view
