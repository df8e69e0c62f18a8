"""Every agent we install into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.harness.claude_code import ClaudeCode
from triseek.harness.codex import Codex
from triseek.harness.cursor import Cursor

if TYPE_CHECKING:
    from triseek.harness.base import Client

CLIENTS: tuple[Client, ...] = (ClaudeCode(), Codex(), Cursor())
"""In the order in which people are told of them."""


def client(name: str) -> Client | None:
    """The client of that name."""
    return next((one for one in CLIENTS if one.name == name), None)
