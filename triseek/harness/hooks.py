"""What an agent's hook payload means: which file was read, which was edited.

Payloads are JSON objects that agents write to a hook's standard input after each of their tool
calls. Their shape is Claude Code's (`tool_name`, `tool_input.file_path`, `cwd`), which others have
taken over. They come from outside: what is not understood means nothing.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from triseek.harness.payloads import claude_code, codex, cursor, gemini, opencode, pi
from triseek.harness.payloads.moments import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.model.hook_event import HookEvent

PAYLOAD_MAX = 1 << 20
"""Bytes; a payload may hold a whole file's new content."""
_USES: dict[str, Literal["read", "edit"]] = {
    "Read": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "edit",
}
_ANEW = frozenset(
    ("SessionStart", "SessionEnd", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop")
)
"""Events with which somebody begins with an empty context, or goes on with another's."""
_PATHS = ("file_path", "notebook_path", "path")


_AGENTS: dict[str, Callable[[dict[str, Any], str, str], HookEvent]] = {
    "claude-code": claude_code.read,
    "codex": codex.read,
    "opencode": opencode.read,
    "pi": pi.read,
    "cursor": cursor.read,
    "gemini": gemini.read,
}


class Action(NamedTuple):
    """What an agent has done."""

    use: Literal["read", "edit"]
    path: str
    """Absolute, as the agent spelled it."""


def read(payload: bytes, *, event: str, harness: str, cwd: str) -> HookEvent | None:
    """Read a payload; None for what is no agent's.

    event: what the hook was registered for; counts if the payload does not say.
    harness: as in `triseek install`; "" to tell it from the payload.
    cwd: where the hook ran, absolute; counts if the payload does not say.
    """
    told = _read(payload)
    known = _AGENTS.get(harness or _guess(told))
    return known(told, event, cwd) if told and known is not None else None


def _guess(told: dict[str, Any]) -> str:
    """Whose payload it is, by the fields that only that agent has."""
    if "conversation_id" in told or "cursor_version" in told:
        return "cursor"
    event = plain(str(told.get("hook_event_name", "")))
    if event in ("beforetool", "aftertool", "precompress", "beforeagent"):
        return "gemini"
    return "codex" if "turn_id" in told else "claude-code"


def action(payload: bytes, cwd: str) -> Action | None:
    """Read a payload; None for what is no use of a file.

    cwd: where the hook ran, for paths that count from there when the payload does not say.
    """
    told = _read(payload)
    given = told.get("tool_input")
    if not isinstance(given, dict):
        return None
    use = _USES.get(str(told.get("tool_name")))
    path = next((given[name] for name in _PATHS if isinstance(given.get(name), str)), "")
    if use is None or not path or "\0" in path:
        return None
    return Action(use, os.path.join(_folder(told, cwd), path))  # noqa: PTH118


def begins_anew(payload: bytes, cwd: str) -> str | None:
    """The folder in which an agent's context was cleared, compacted or begun; None if none was.

    What agents there were told before may be in nobody's view any more.
    """
    told = _read(payload)
    return _folder(told, cwd) if str(told.get("hook_event_name")) in _ANEW else None


def _read(payload: bytes) -> dict[str, Any]:
    """The payload, empty if it is none."""
    try:
        told = json.loads(payload) if len(payload) <= PAYLOAD_MAX else None
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _folder(told: dict[str, Any], cwd: str) -> str:
    folder = told.get("cwd")
    absolute = isinstance(folder, str) and os.path.isabs(folder) and "\0" not in folder  # noqa: PTH117
    return str(folder) if absolute else cwd
