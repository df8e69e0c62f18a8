"""A desk whose daemon's sessions are real, and whose way there can be cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.service.worked import Worked
from triseek.service.desk import Call, Desk
from triseek.service.noting import Noting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from triseek.service.service import Service


class Asked:
    """A root that is worked in; `ask` is what `ipc.client.ask` does."""

    def __init__(self, folder: Path) -> None:
        self.worked = Worked(folder)
        self.root = self.worked.root
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.fails: Callable[[str], Exception | None] = lambda _: None
        """What becomes of a question instead of an answer."""
        self.noting = Noting(self.root)
        service: Service = self.worked.service
        self.desk = Desk(service, self.root, sink=self.noting, flush=self.noting.flush)
        self.call = Call(connection="stdio", who={"harness": "claude-code"})

    def ask(
        self, verb: str, params: Mapping[str, Any] | None = None, timeout_s: float = 5.0
    ) -> dict[str, Any]:
        self.asked.append((verb, dict(params or {})))
        if (error := self.fails(verb)) is not None:
            raise error
        told: dict[str, Any] = self.worked.ask(verb, **(params or {}))
        return told

    def noted(self, session_id: str) -> list[dict[str, Any]]:
        """The payloads of a session's entries."""
        return [payload for _, payload in self.worked.entries(session_id)]
