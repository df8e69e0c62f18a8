"""What a search of recall returns."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RecallHit:
    """A session or a message that was found."""

    session_id: int
    message_id: int
    """The message; of a session, the best one."""
    score: float
    """0 to 1, comparable within one search."""
    span: tuple[int, int]
    """Begin and end of an excerpt in the message's text, in characters."""
    copies: int = 0
    """Other conversations that have the same message: forks of this one, mostly."""


@dataclass(frozen=True, slots=True)
class RecallPage:
    """One page of hits, best first."""

    hits: tuple[RecallHit, ...]
    total: int
    """How many sessions or messages have a term of the query, on all pages.

    In a large history, what has only its most frequent terms is not counted.
    """


@dataclass(slots=True)
class Quoted:
    """A hit and the message that it quotes."""

    session_id: int
    message_id: int
    score: float
    time_ms: int
    """When it was said; 0 if unknown."""
    copies: dict[int, int] = field(default_factory=dict)
    """Other sessions that have the same message, and the message's id there."""
