"""Pi, driven by its RPC mode."""

from __future__ import annotations

import contextlib
import itertools
import json
from typing import TYPE_CHECKING, Any

from tests.agents.place import Ended, talking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.place import Lines, Place

NAME = "pi"


def configure(place: Place, url: str) -> None:
    """Tell Pi of the model at `url`."""
    path = place.home / ".pi" / "agent" / "models.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    model = {"id": "scripted", "contextWindow": 200_000, "maxTokens": 8000}
    provider = {
        "baseUrl": url, "api": "anthropic-messages", "apiKey": "none", "models": [model]
    }  # fmt: skip
    path.write_text(json.dumps({"providers": {"scripted": provider}}))


class Session:
    """A running Pi."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._numbers = itertools.count(1)

    def ask(self, command: str, **more: Any) -> dict[str, Any]:
        """Send a command; returns the data of its answer.

        Raises:
            Ended: it fails.
        """
        name = f"n{next(self._numbers)}"
        self._lines.tell({"id": name, "type": command, **more})
        told = self._lines.until("id", name)[-1]
        if not told["success"]:
            raise Ended(json.dumps(told))
        data: dict[str, Any] = told.get("data") or {}
        return data

    def say(self, prompt: str) -> None:
        """Send a prompt and wait for the end of the turn."""
        self.ask("prompt", message=prompt)
        self._lines.until("type", "agent_end")


@contextlib.contextmanager
def session(place: Place, *words: str) -> Iterator[Session]:
    """A Pi, until the block ends; `words` such as `--continue`."""
    env = place.env(PI_OFFLINE="1", PI_TELEMETRY="0")
    command = ["pi", "--mode", "rpc", "--provider", "scripted", "--model", "scripted", *words]
    with talking(command, place.tree, env, place.home / "pi.log") as lines:
        yield Session(lines)
