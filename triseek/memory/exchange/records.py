"""What an import reads, whatever the file: palaces, each followed by its drawers and facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from triseek.memory.limits import IMPORTANCE
from triseek.model.conversation import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class PalaceRecord:
    """A palace; what follows belongs to it."""

    where: str
    """For messages, such as `line 12`."""
    name: str
    description: str = ""
    identity: str = ""
    root: str = ""
    """The project's folder; "" if it is of none."""
    created_ms: int | None = None
    """Unix milliseconds, as all times here; None for now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawerRecord:
    """A drawer. Its UUID says whether it is there already."""

    where: str
    uuid: str
    text: str
    room: str = ""
    tags: tuple[str, ...] = ()
    importance: float = IMPORTANCE
    source: str = ""
    created_ms: int | None = None
    updated_ms: int | None = None
    """None if it was never changed."""
    deleted_ms: int | None = None
    """When it was forgotten; None if it was not."""
    superseded_by: str = ""
    """The UUID of another drawer; "" for none."""
    earlier: tuple[tuple[str, int], ...] = ()
    """Texts that it had before, and when each was replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRecord:
    """A fact of the graph."""

    where: str
    subject: str
    predicate: str
    object: str
    valid_from: int | None = None
    """None for now; then it is there already if it ever held."""
    valid_to: int | None = None
    """None if it holds still."""
    confidence: float = 1.0
    provenance: str = ""
    multi: bool = False


Record: TypeAlias = PalaceRecord | DrawerRecord | FactRecord | Unreadable
