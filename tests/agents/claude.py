"""Claude Code, driven as one session of several prompts by its stream of JSON."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tests.agents.place import talking
from tests.agents.script import Turn, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.place import Lines, Place

NAME = "claude-code"
PROGRAM = "claude"
TRANSCRIPTS = ".claude/projects"
"""Below the home; what hooks tell is judged by them, and they are written in the background."""
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
        self.message = ""
        """The id of the newest message."""

    def say(self, prompt: str) -> str:
        """Send a prompt, or a command such as `/compact`; returns the last words of the answer."""
        said = {"role": "user", "content": [{"type": "text", "text": prompt}]}
        self._lines.tell({"type": "user", "message": said})
        *others, told = self._lines.until("type", "result")
        self.message = next((one["uuid"] for one in reversed(others) if "message" in one), "")
        self.name = told["session_id"]
        return str(told.get("result", ""))

    def compact(self) -> None:
        """Make the conversation shorter."""
        self.say("/compact")

    def clear(self) -> None:
        """Begin anew."""
        self.say("/clear")

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


def read(path: str, first: int = 1, last: int | None = None) -> Turn:
    """Reads lines of a file by the agent's own tool."""
    part = {} if last is None else {"offset": first, "limit": last - first + 1}
    return uses("Read", file_path=path, **part)


def shell(command: str) -> Turn:
    """Runs a command."""
    return uses("Bash", command=command)


def edit(path: str, old: str, new: str) -> Turn:
    """Replaces a text in a file that was read."""
    return uses("Edit", file_path=path, old_string=old, new_string=new)


def delegate(prompt: str) -> list[Turn]:
    """Has a sub-agent do something, and waits for it."""
    words = {"description": "Look", "prompt": prompt, "subagent_type": "general-purpose"}
    return [uses("Agent", **words, run_in_background=False)]


def ours(tool: str, **arguments: Any) -> list[Turn]:
    """Calls a tool of ours, which has to be looked up before."""
    name = f"mcp__triseek__{tool}"
    return [uses("ToolSearch", query=f"select:{name}", max_results=3), uses(name, **arguments)]


def configure(place: Place, url: str) -> None:
    """Nothing: it is told of the model by its environment."""


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
