"""Cursor's hook payloads, as its documentation has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.harness.payloads import claude_code

if TYPE_CHECKING:
    from triseek.harness.payloads.fields import Fields
    from triseek.model.hook_event import HookEvent

HARNESS = "cursor"


def read(told: Fields, event: str, cwd: str) -> HookEvent:
    """Read one payload. event: what the hook was registered for, if the payload does not say."""
    return claude_code.envelope(told, event, cwd, HARNESS, claude_code.tool_use)
