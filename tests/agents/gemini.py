"""Gemini CLI, asked one prompt at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.agents.place import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.agents.place import Place

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


def configure(place: Place, command: str, server: Mapping[str, Any]) -> None:
    """Settings with the hooks and our server, and a key that is none."""
    path = place.home / ".gemini" / "settings.json"
    path.parent.mkdir()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "mcpServers": {"triseek": {**server, "trust": True}},
        "hooks": hooks(command),
    }
    path.write_text(json.dumps(settings))


def ask(place: Place, url: str, prompt: str) -> None:
    """One prompt, and all that the model does about it."""
    env = place.env(GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=url)
    run(["gemini", "-p", prompt, "--yolo", "-m", "gemini-2.5-pro"], place.tree, env)
