"""What the workflow tools answer."""

from __future__ import annotations

from typing import TypedDict


class MarkdownAnswer(TypedDict):
    """A page for an agent."""

    result: str
    """The whole answer, as markdown."""
