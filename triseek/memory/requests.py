"""What agents ask of the memory tools.

The docstring of a class is its tool's description, the one under a field that argument's. Names
and defaults of the first ten tools are those of the contract. Values outside of the bounds are
refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from triseek.memory.limits import IMPORTANCE, TOP_MAX
from triseek.model.tool import STRICT

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT_MAX = 500
"""Drawers of one page."""
OFFSET_MAX = 1_000_000_000
BOUNDS: Mapping[str, tuple[int, int]] = {
    "top_k": (1, TOP_MAX),
    "limit": (1, LIMIT_MAX),
    "offset": (0, OFFSET_MAX),
    "importance": (0, 1),
    "confidence": (0, 1),
}
"""The least and the greatest value of numbers, by argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPalace:
    """What all tools but two take."""

    __pydantic_config__: ClassVar = STRICT

    palace: str = ""
    """Default: this project's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(OfPalace):
    """What both ways to recall take."""

    __pydantic_config__: ClassVar = STRICT

    query: str
    """Words or a question."""
    top_k: int = 10
    """Most results."""
    room: str = ""
    """Only this room."""
    tag: str = ""
    """Only this tag."""
    since: str | float = ""
    """Written since then: ISO date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRememberRequest(OfPalace):
    """Store a fact, decision or preference (a drawer) for later sessions. No secrets."""

    __pydantic_config__: ClassVar = STRICT

    palace: str = ""
    """In all these tools by default the one of this project."""
    text: str
    """One fact, complete in itself."""
    room: str = ""
    """Frontend, Backend, Testing, Planning, Documentation, Research, Configuration, Meetings,
    General or your own."""
    tags: tuple[str, ...] = ()
    """Words to filter by."""
    importance: float = IMPORTANCE
    """0 to 1; the most important are shown first."""
    source: str = ""
    """Where it is from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecallRequest(Recall):
    """Recall what was stored. Ask before you start on something."""

    __pydantic_config__: ClassVar = STRICT

    query: str
    """Words or a question."""
    since: str | float = ""
    """Only what was written since: ISO date or time, or Unix milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecallDeepRequest(Recall):
    """Recall more: every drawer with a word of the query, replaced ones too."""

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class PalaceCreateRequest:
    """Create a palace: memories apart from this project's."""

    __pydantic_config__: ClassVar = STRICT

    name: str
    """Its name."""
    description: str = ""
    """One line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PalaceListRequest:
    """List the names of all palaces on this machine."""

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class KgAssertRequest(OfPalace):
    """Assert a fact that may change; it replaces the one with this subject and predicate."""

    __pydantic_config__: ClassVar = STRICT

    subject: str
    """An entity."""
    predicate: str
    """A relation."""
    object: str
    """A value or entity."""
    confidence: float = 1.0
    """0 to 1."""
    provenance: str = ""
    """Where it is from."""
    multi: bool = False
    """Add to the objects, replace none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KgQueryRequest(OfPalace):
    """List the facts of the graph that hold of a subject."""

    __pydantic_config__: ClassVar = STRICT

    subject: str
    """An entity."""
    as_of: str | float = ""
    """What held then: ISO time."""
    include_history: bool = False
    """Also what held before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryListRequest(OfPalace):
    """List the drawers of a palace, most important first."""

    __pydantic_config__: ClassVar = STRICT

    room: str = ""
    """Only this room."""
    tag: str = ""
    """Only this tag."""
    limit: int = 50
    """Most drawers."""
    since: str | float = ""
    """Written since then: ISO date."""
    offset: int = 0
    """Drawers to skip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfDrawer(OfPalace):
    """What tools on one drawer take."""

    __pydantic_config__: ClassVar = STRICT

    drawer_id: str
    """Its UUID."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryForgetRequest(OfDrawer):
    """Delete a drawer; memory_restore brings it back for 30 days."""

    __pydantic_config__: ClassVar = STRICT

    purge: bool = False
    """Delete it for good at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PalaceInfoRequest(OfPalace):
    """Show how much a palace holds, and where it is."""

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUpdateRequest(OfDrawer):
    """Replace the text of a drawer that is no longer true."""

    __pydantic_config__: ClassVar = STRICT

    text: str
    """What holds now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRestoreRequest(OfDrawer):
    """Bring back a drawer that memory_forget deleted."""

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class KgRetractRequest(OfPalace):
    """End facts that no longer hold; history keeps them."""

    __pydantic_config__: ClassVar = STRICT

    subject: str
    """An entity."""
    predicate: str
    """A relation."""
    object: str = ""
    """Only with this object."""
