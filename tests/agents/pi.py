"""Pi, driven by its RPC mode."""

from __future__ import annotations

import contextlib
import itertools
import json
from typing import TYPE_CHECKING, Any

from tests.agents.place import Ended, talking
from tests.agents.script import Turn, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.place import Lines, Place

NAME = "pi"
PROGRAM = "pi"
TRANSCRIPTS = ""
"""None that hooks are judged by."""


def configure(place: Place, url: str) -> None:
    """Tell Pi of the model at `url`."""
    path = place.home / ".pi" / "agent" / "models.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    model = {"id": "scripted", "contextWindow": 200_000, "maxTokens": 8000}
    provider = {
        "baseUrl": url, "api": "anthropic-messages", "apiKey": "none", "models": [model]
    }  # fmt: skip
    path.write_text(json.dumps({"providers": {"scripted": provider}}))
    settings = {"compaction": {"keepRecentTokens": 1}}  # else nothing so short is compacted
    path.with_name("settings.json").write_text(json.dumps(settings))


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

    def compact(self) -> None:
        """Make the conversation shorter."""
        self.ask("compact")

    def clear(self) -> None:
        """Begin anew."""
        self.ask("new_session")


def read(path: str, first: int = 1, last: int | None = None) -> Turn:
    """Reads lines of a file by the agent's own tool."""
    part = {} if last is None else {"offset": first, "limit": last - first + 1}
    return uses("read", path=path, **part)


def shell(command: str) -> Turn:
    """Runs a command."""
    return uses("bash", command=command)


def edit(path: str, old: str, new: str) -> Turn:
    """Replaces a text in a file."""
    return uses("edit", path=path, edits=[{"oldText": old, "newText": new}])


def ours(tool: str, **arguments: Any) -> list[Turn]:
    """Calls a tool of ours."""
    return [uses(f"mcp__triseek__{tool}", **arguments)]


@contextlib.contextmanager
def session(place: Place, url: str, *words: str) -> Iterator[Session]:
    """A Pi, until the block ends; `words` such as `--continue`."""
    env = place.env(PI_OFFLINE="1", PI_TELEMETRY="0")
    command = ["pi", "--mode", "rpc", "--provider", "scripted", "--model", "scripted", *words]
    with talking(command, place.tree, env, place.home / "pi.log") as lines:
        yield Session(lines)
