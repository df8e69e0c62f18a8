"""Determines from what agents report how a shell command ended; what they do not say is unknown."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.agents.payloads.fields import Fields
    from triseek.model.hook_event import ToolUse

STATUS_MAX = 1 << 32
"""No system's exit status is larger."""
LAST_LINE = re.compile(r"(?:\A|\n)Command exited with code (\d{1,10})\s*\Z")
"""How Pi ends the output of a command that failed."""
FIRST_LINE = re.compile(r"\AExit code:? (\d{1,10})\b")
"""How Claude Code begins the error of a command that failed, and Codex older outputs."""
_TRAILER = re.compile(r"(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): ?(.*)")


def with_status(use: ToolUse, status: int | None) -> ToolUse:
    """Return the use of a shell with its command's exit status; None leaves it unknown."""
    if use.command is None or status is None or not 0 <= status < STATUS_MAX:
        return use
    return replace(use, command=replace(use.command, exit_status=status, failed=status != 0))


def with_failure(use: ToolUse, *, failed: bool) -> ToolUse:
    """Return the use of a shell with its command's outcome, whose exit status is unknown."""
    if use.command is None:
        return use
    return replace(use, command=replace(use.command, failed=failed))


def of_field(values: Fields, *names: str) -> int | None:
    """Return the first exit status among fields; None if there is none."""
    found = (values.get(name) for name in names)
    return next((value for value in found if type(value) is int), None)


def of_pattern(pattern: re.Pattern[str], text: str | None) -> int | None:
    """Return the exit status that a text reports in this form; None if it reports none."""
    match = pattern.search(text or "")
    return int(match[1]) if match else None


def of_trailer(text: str) -> int | None:
    """Return the exit status from the lines that Gemini CLI adds to a command's output.

    It adds `Exit Code` only for a failure. Without any of its lines, the text is somebody's summary
    and says nothing.
    """
    lines = text.removesuffix("\n</untrusted_context>").rstrip().split("\n")
    added: dict[str, str] = {}
    for line in reversed(lines):
        match = _TRAILER.fullmatch(line)
        if match is None:
            break
        added.setdefault(line.partition(":")[0], match[1].strip().replace("(none)", ""))
    if not added:
        return None
    status = added.get("Exit Code", "")
    if not status and not any(map(added.get, ("Error", "Signal", "Background PIDs"))):
        status = "0"
    return int(status) if status.isascii() and status.isdigit() and len(status) <= 10 else None
