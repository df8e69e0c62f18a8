"""What agents ask of the tools of history-work.

The docstring of a class is its tool's description, the one under a field that argument's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from triseek.model.tool import STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFixRequest:
    """Show what was edited and run when an error went away."""

    __pydantic_config__: ClassVar = STRICT

    error: str
    """Its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryHowRequest:
    """Show how a command is run here, and how often it passed."""

    __pydantic_config__: ClassVar = STRICT

    command: str
    """As `pytest`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryBlameRequest:
    """Show which sessions changed a file, and why."""

    __pydantic_config__: ClassVar = STRICT

    path: str
    """The file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFrictionRequest:
    """List errors that come again, with their fixes."""

    __pydantic_config__: ClassVar = STRICT

    project: str = ""
    """Default: this."""
