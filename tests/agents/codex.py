"""Codex, driven as threads of its app server: what its desktop and editors use."""

from __future__ import annotations

import contextlib
import itertools
import json
from typing import TYPE_CHECKING, Any

from tests.agents.place import Ended, talking
from tests.agents.script import Call, Turn, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.place import Lines, Place

NAME = "codex"
PROGRAM = "codex"
TRANSCRIPTS = ".codex/sessions"
"""Below the home; what hooks tell is judged by them, and they are written in the background."""
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

    def wait_for_server(self) -> None:
        """Wait for the one server a new thread has, which a person does without knowing."""
        while self.until("mcpServer/startupStatus/updated")["status"] == "starting":
            """Not yet."""

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


class Session:
    """A conversation that can begin anew, where one MCP server is configured."""

    thread: Thread

    def __init__(self, program: Program, tree: str, model: str) -> None:
        self.program = program
        self._tree = tree
        self._model = model
        self.clear()

    def say(self, prompt: str) -> None:
        """Send a prompt and wait for the end of the turn."""
        self.thread.say(prompt)

    def compact(self) -> None:
        """Make the conversation shorter."""
        self.thread.compact()

    def clear(self) -> None:
        """Begin anew."""
        self.thread = self.program.start(self._tree, self._model)
        self.program.wait_for_server()


@contextlib.contextmanager
def session(place: Place, url: str, model: str = DIRECT) -> Iterator[Session]:
    """A session, until the block ends; its hooks are trusted."""
    with program(place) as running:
        running.trust(str(place.tree))
        yield Session(running, str(place.tree), model)


def read(path: str, first: int = 1, last: int | None = None) -> Turn:
    """Reads lines of a file as its models do: it has no tool for that."""
    return shell(f"cat {path}" if last is None else f"sed -n '{first},{last}p' {path}")


def shell(command: str) -> Turn:
    """Runs a command."""
    return uses("exec_command", cmd=command)


def edit(path: str, old: str, new: str) -> Turn:
    """Replaces a line of a file."""
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
    return Turn((Call("apply_patch", patch),))


def delegate(prompt: str) -> list[Turn]:
    """Has a sub-agent do something, and waits for it: for a DELEGATING model."""
    asked = {"task_name": "look", "message": prompt, "fork_turns": "none"}
    return [
        uses("collaboration/spawn_agent", **asked),
        uses("collaboration/wait_agent", timeout_ms=20_000),
    ]


def ours(tool: str, **arguments: Any) -> list[Turn]:
    """Calls a tool of ours."""
    return [uses(f"mcp__triseek/{tool}", **arguments)]


@contextlib.contextmanager
def program(place: Place, *words: str) -> Iterator[Program]:
    """An app server, until the block ends."""
    env = place.env(SCRIPTED_KEY="none")
    command = ["codex", *words, "app-server"]
    with talking(command, place.tree, env, place.home / "codex.log") as lines:
        yield Program(lines)
