"""Codex's transcripts, which it calls rollouts (as of 0.169.0).

One file a thread, sub-agents' too, appended only. `compacted` begins a new context;
`thread_rolled_back` takes the last turns away, and which outputs these held is not worked out
here: nothing above it counts. A turn begins with a `turn_context` that has the `turn_id` hooks are
told, so that what was rolled back for that turn stands above it. A thread that is reverted or
forked goes on in another file, which does not repeat what it keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.harness.transcripts.entries import Entry, entries

if TYPE_CHECKING:
    from triseek.model.hook_event import HookEvent

_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def in_view(event: HookEvent) -> frozenset[str] | None:
    """Ids of the uses whose outputs are in the context now; None where that cannot be told."""
    items = entries(event.transcript) if event.transcript else None
    if not items or not any(_is_now(each, event) for each in items):
        return None
    found: set[str] = set()
    for item in items:
        inner = _payload(item)
        if item.get("type") == "compacted" or inner.get("type") == "thread_rolled_back":
            found.clear()
        elif item.get("type") == "response_item" and inner.get("type") in _OUTPUTS:
            call = inner.get("call_id")
            if isinstance(call, str) and call:
                found.add(call)
    return frozenset(found)


def _is_now(item: Entry, event: HookEvent) -> bool:
    """Whether the turn begins here that the agent is in, or the use itself is asked for."""
    inner = _payload(item)
    if item.get("type") == "turn_context":
        return bool(event.prompt_id) and inner.get("turn_id") == event.prompt_id
    call = event.use.call if event.use is not None else ""
    return bool(call) and inner.get("type") in _CALLS and inner.get("call_id") == call


def _payload(item: Entry) -> Entry:
    inner = item.get("payload")
    return inner if isinstance(inner, dict) else {}
