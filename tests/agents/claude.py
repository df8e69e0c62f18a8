"""Claude Code, driven as one session of several prompts by its stream of JSON."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tests.agents.place import talking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.place import Lines, Place

NAME = "claude-code"
EVENTS = (
    "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse",
    "PostToolUseFailure", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Stop",
)  # fmt: skip


class Session:
    """A conversation."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self.name = ""
        """Its id, once something was said."""

    def say(self, prompt: str) -> str:
        """Send a prompt, or a command such as `/compact`; returns the last words of the answer."""
        said = {"role": "user", "content": [{"type": "text", "text": prompt}]}
        self._lines.tell({"type": "user", "message": said})
        told = self._lines.until("type", "result")[-1]
        self.name = told["session_id"]
        return str(told.get("result", ""))

    def control(self, **request: Any) -> dict[str, Any]:
        """Ask something of the program itself, not of the model."""
        self._lines.tell({"type": "control_request", "request_id": "r", "request": request})
        return self._lines.until("type", "control_response")[-1]


@contextlib.contextmanager
def session(place: Place, url: str, *words: str, **env: str) -> Iterator[Session]:
    """A session with the model at `url`, until the block ends; `words` such as `--continue`."""
    environment = place.env(
        ANTHROPIC_BASE_URL=url,
        ANTHROPIC_API_KEY="sk-ant-none",
        DISABLE_AUTOUPDATER="1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        IS_SANDBOX="1",
        **env,
    )
    command = [
        "claude", "-p", "--dangerously-skip-permissions", "--verbose", "--input-format",
        "stream-json", "--output-format", "stream-json", *words,
    ]  # fmt: skip
    with talking(command, place.tree, environment, place.home / "claude.log") as lines:
        yield Session(lines)


def hooks(command: str) -> dict[str, Any]:
    """Settings that run `command EVENT` at every event."""
    return {
        "hooks": {
            event: [
                {"matcher": "", "hooks": [{"type": "command", "command": f"{command} {event}"}]}
            ]
            for event in EVENTS
        }
    }
