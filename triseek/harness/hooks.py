"""What an agent's hook payload means: which file was read, which was edited.

Payloads are JSON objects that agents write to a hook's standard input after each of their tool
calls. Their shape is Claude Code's (`tool_name`, `tool_input.file_path`, `cwd`), which others have
taken over. They come from outside: what is not understood means nothing.
"""

from __future__ import annotations

import json
import os
from typing import Literal, NamedTuple

PAYLOAD_MAX = 1 << 20
"""Bytes; a payload may hold a whole file's new content."""
_USES: dict[str, Literal["read", "edit"]] = {
    "Read": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "edit",
}
_PATHS = ("file_path", "notebook_path", "path")


class Action(NamedTuple):
    """What an agent has done."""

    use: Literal["read", "edit"]
    path: str
    """Absolute, as the agent spelled it."""


def action(payload: bytes, cwd: str) -> Action | None:
    """Read a payload; None for what is no use of a file.

    cwd: where the hook ran, for paths that count from there when the payload does not say.
    """
    try:
        told = json.loads(payload) if len(payload) <= PAYLOAD_MAX else None
    except (ValueError, RecursionError):
        return None
    given = told.get("tool_input") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(given, dict):
        return None
    use = _USES.get(str(told.get("tool_name")))
    path = next((given[name] for name in _PATHS if isinstance(given.get(name), str)), "")
    if use is None or not path or "\0" in path:
        return None
    folder = told.get("cwd")
    base = folder if isinstance(folder, str) and os.path.isabs(folder) else cwd  # noqa: PTH117
    return Action(use, os.path.join(base, path))  # noqa: PTH118
