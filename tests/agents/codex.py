"""Codex, driven as threads of its app server: what its desktop and editors use."""

from __future__ import annotations

import contextlib
import itertools
import json
from typing import TYPE_CHECKING, Any

from tests.agents.place import Ended, talking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.place import Lines, Place

NAME = "codex"
EVENTS = (
    "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact",
    "PostCompact", "SubagentStart", "SubagentStop", "Stop",
)  # fmt: skip
DIRECT = "gpt-5.5"
"""A model that uses tools itself."""
SCRIPTING = "gpt-5.6-luna"
"""A model that writes scripts which use tools, and is shown what the scripts print."""
DELEGATING = "gpt-6-sol"
"""As SCRIPTING, and it has sub-agents."""


def configure(place: Place, url: str) -> None:
    """Tell Codex of the model at `url`; the rest of its configuration is kept."""
    path = place.home / ".codex" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    kept = path.read_text() if path.exists() else ""
    provider = (
        "[model_providers.scripted]\n"
        f'name = "scripted"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        'env_key = "SCRIPTED_KEY"\nrequest_max_retries = 0\n'
    )
    path.write_text(f'model_provider = "scripted"\n{kept}\n{provider}')


def hooks(command: str) -> dict[str, Any]:
    """What `hooks.json` says to run `command EVENT` at every event."""
    return {
        "hooks": {
            event: [
                {
                    "matcher": "",
                    "hooks": [{"type": "command", "command": f"{command} {event}", "timeout": 3}],
                }
            ]
            for event in EVENTS
        }
    }


class Program:
    """A running app server."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._numbers = itertools.count(1)
        self.ask("initialize", clientInfo={"name": "test", "version": "1"})
        self._lines.tell({"method": "initialized"})

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method; returns its result.

        Raises:
            Ended: it fails.
        """
        number = next(self._numbers)
        self._lines.tell({"id": number, "method": method, "params": params})
        told = self._lines.until("id", number)[-1]
        if "error" in told:
            raise Ended(f"{method}: {told['error']}")
        result: dict[str, Any] = told["result"]
        return result

    def trust(self, tree: str) -> int:
        """Trust every hook there is, as a user does by `/hooks`; returns how many."""
        found = [
            hook for entry in self.ask("hooks/list", cwds=[tree])["data"] for hook in entry["hooks"]
        ]
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in found}
        self.ask("config/value/write", keyPath="hooks.state", value=state, mergeStrategy="upsert")
        return len(found)

    def start(self, tree: str, model: str = DIRECT) -> Thread:
        """A new thread."""
        begun = self.ask("thread/start", cwd=tree, model=model, **_FREE)
        return Thread(self, begun["thread"]["id"])

    def resume(self, name: str, model: str = DIRECT) -> Thread:
        """A thread of before."""
        begun = self.ask("thread/resume", threadId=name, model=model, **_FREE)
        return Thread(self, begun["thread"]["id"])

    def fork(self, name: str, model: str = DIRECT) -> Thread:
        """A new thread with the conversation of another."""
        begun = self.ask("thread/fork", threadId=name, model=model, **_FREE)
        return Thread(self, begun["thread"]["id"])

    def until(self, method: str) -> dict[str, Any]:
        """The parameters of the next notification of that kind."""
        params: dict[str, Any] = self._lines.until("method", method)[-1]["params"]
        return params


_FREE = {"approvalPolicy": "never", "sandbox": "danger-full-access"}


class Thread:
    """A conversation."""

    def __init__(self, program: Program, name: str) -> None:
        self._program = program
        self.name = name
        self.turns: list[str] = []

    def say(self, prompt: str) -> None:
        """Send a prompt and wait for the end of the turn."""
        said = [{"type": "text", "text": prompt, "text_elements": []}]
        begun = self._program.ask("turn/start", threadId=self.name, input=said)
        self.turns.append(begun["turn"]["id"])
        self._ended()

    def compact(self) -> None:
        """As `/compact`."""
        self._program.ask("thread/compact/start", threadId=self.name)
        self._ended()

    def revert(self, turn: str) -> None:
        """Forget a turn and what followed it."""
        self._program.ask("thread/revert", threadId=self.name, beforeTurnId=turn)

    def _ended(self) -> None:
        while (told := self._program.until("turn/completed"))["threadId"] != self.name:
            """A sub-agent's."""
        if told["turn"]["status"] != "completed":
            raise Ended(json.dumps(told["turn"]))


@contextlib.contextmanager
def program(place: Place, *words: str) -> Iterator[Program]:
    """An app server, until the block ends."""
    env = place.env(SCRIPTED_KEY="none")
    command = ["codex", *words, "app-server"]
    with talking(command, place.tree, env, place.home / "codex.log") as lines:
        yield Program(lines)
