"""Reads the outputs of Codex' tools: the lines before a command's output, and its exit status."""

from __future__ import annotations

import re

from triseek.agents.payloads import exit_status
from triseek.agents.payloads.fields import fields_of, parsed

HEAD = re.compile(
    r"\A(?:Command: [^\n]*\n)?"
    r"(?:(?:Chunk ID|Wall time|Exit code|Process exited with code|Process running with session ID"
    r"|Original token count|Total output lines)\b[^\n]*\n)+Output:\n"
    r"|\AWarning: truncated output \([^\n]*\)\nTotal output lines: \d+\n\n"
)
"""What the model gets before a command's output."""
_STATUS = re.compile(r"^(?:Exit code: |Process exited with code )(\d{1,10})$", re.MULTILINE)


def status(output: object) -> int | None:
    """Return the exit status in the lines before a command's output, or in its metadata."""
    if not isinstance(output, str):
        return exit_status.of_field(fields_of(output).inner("metadata"), "exit_code")
    head = HEAD.match(output)
    if head is None:
        metadata = fields_of(parsed(output)).inner("metadata") if output[:1] == "{" else None
        return exit_status.of_field(metadata, "exit_code") if metadata else None
    return exit_status.of_pattern(_STATUS, head[0])
