"""Gemini CLI, asked one prompt at a time."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.agents.place import run
from tests.agents.script import Turn, uses

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.agents.place import Place

NAME = "gemini"
PROGRAM = "gemini"
TRANSCRIPTS = ""
"""None that hooks are judged by."""
EVENTS = (
    "SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool",
    "PreCompress",
)  # fmt: skip


def hooks(command: str) -> dict[str, Any]:
    """Settings that run `command EVENT` at every event."""
    return {
        event: [
            {"matcher": "*", "hooks": [{"type": "command", "command": f"{command} {event}"}]}
        ]
        for event in EVENTS
    }  # fmt: skip


def configure(place: Place, _url: str = "", **more: Any) -> None:
    """Settings with a key that is none; it is told of the model by its environment."""
    path = place.home / ".gemini" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    path.write_text(json.dumps({"security": security, **more}))


def configure_recorded(place: Place, command: str, server: Mapping[str, Any]) -> None:
    """Settings with hooks that run `command EVENT`, and with our server."""
    servers = {"triseek": {**server, "trust": True}}
    configure(place, mcpServers=servers, hooks=hooks(command))


def ask(place: Place, url: str, prompt: str) -> None:
    """One prompt, and all that the model does about it."""
    env = place.env(GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=url)
    run(["gemini", "-p", prompt, "--yolo", "-m", "gemini-2.5-pro"], place.tree, env)


class Session(NamedTuple):
    """Prompts of which each is a conversation."""

    place: Place
    url: str

    def say(self, prompt: str) -> None:
        """Ask one prompt."""
        ask(self.place, self.url, prompt)


@contextlib.contextmanager
def session(place: Place, url: str) -> Iterator[Session]:
    """Prompts to the model at `url`."""
    yield Session(place, url)


def ours(tool: str, **arguments: Any) -> list[Turn]:
    """Calls a tool of ours."""
    return [uses(f"mcp_triseek_{tool}", **arguments)]
