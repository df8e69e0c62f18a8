"""Every agent we install into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.harness.claude_code import ClaudeCode
from triseek.harness.cline import Cline
from triseek.harness.codex import Codex
from triseek.harness.cursor import Cursor
from triseek.harness.gemini import Gemini
from triseek.harness.opencode import OpenCode
from triseek.harness.pi import Pi
from triseek.harness.vscode import VSCode
from triseek.harness.zed import Zed

if TYPE_CHECKING:
    from triseek.harness.base import Client

CLIENTS: tuple[Client, ...] = (
    ClaudeCode(),
    Codex(),
    OpenCode(),
    Pi(),
    Cursor(),
    Cline(),
    Gemini(),
    VSCode(),
    Zed(),
)
"""In the order in which people are told of them."""


def client(name: str) -> Client | None:
    """The client of that name."""
    return next((one for one in CLIENTS if one.name == name), None)
