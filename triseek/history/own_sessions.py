"""What the history needs of triseek's own sessions: `app` provides it, as wings know no others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

    from triseek.agents.base import Agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What was removed of some conversations, or would be."""

    logs: int = 0
    """Session logs, removed or rewritten without them."""
    snapshots: int = 0
    packs: int = 0
    """Packs that agents have exported into the state folder."""


class OwnSessions(Protocol):
    """Triseek's own session logs, snapshots and packs."""

    def agent(self) -> Agent:
        """Return the source of the session logs, named `precedence.OWN`."""
        ...

    def pack(self, path: str) -> Agent:
        """Return the source of a pack, named `precedence.PACK`. Nothing is written.

        Raises:
            PackRejected: The file cannot be read, or is not a valid pack.
        """
        ...

    def forget(self, conversations: Collection[tuple[str, str]], *, dry_run: bool) -> Removed:
        """Remove everything that is recorded of some conversations.

        Args:
            conversations: The name of the agent and its id of the conversation, of each.
            dry_run: Count what would be removed, and remove nothing.

        Raises:
            StateUnwritable: Something cannot be removed.
            Busy: A daemon is starting or ending.
        """
        ...
