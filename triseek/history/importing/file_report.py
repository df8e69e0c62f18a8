"""What an import of one file did: of an archive, or of a claude-mem database."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class FileReport:
    """How many rows were imported; or, of a dry run, how many there are."""

    path: str
    sessions: int = 0
    messages: int = 0
    """Of claude-mem these are prompts; it keeps no others."""
    events: int = 0
    observations: int = 0
    summaries: int = 0
    known: int = 0
    """Rows that were there already."""
    forgotten: int = 0
    """Rows that were left out because somebody has forgotten them."""
    private: int = 0
    """Rows that were left out because their prompt is private."""
    skipped: list[str] = field(default_factory=list)
    """What could not be imported, a line each."""
