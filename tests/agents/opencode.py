"""OpenCode, driven by the API of `opencode serve`: what its terminal interface uses."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

from tests.agents.place import PATIENCE_S, Ended
from tests.agents.script import Turn, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.place import Place

NAME = "opencode"
PROGRAM = "opencode"
TRANSCRIPTS = ""
"""None that hooks are judged by."""
STOP_S = 20.0
_LISTENS = re.compile(r"listening on (http://\S+)")


def configure(place: Place, url: str) -> None:
    """Tell OpenCode of the model at `url`; the rest of its configuration is kept."""
    path = place.home / ".config" / "opencode" / "opencode.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(path.read_text()) if path.exists() else {}
    provider = {
        "npm": "@ai-sdk/anthropic",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": {"limit": {"context": 200_000, "output": 8000}}},
    }
    kept |= {"provider": {"scripted": provider}, "model": "scripted/scripted", "autoupdate": False}
    kept["permission"] = {"external_directory": "allow"}  # else it waits for somebody to ask
    path.write_text(json.dumps(kept))


class Server:
    """A running `opencode serve`."""

    def __init__(self, url: str) -> None:
        self._url = url

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Call its API.

        Raises:
            Ended: it fails.
        """
        request = urllib.request.Request(
            self._url + path,
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            raise Ended(f"{path}: {error.read().decode(errors='replace')[:2000]}") from error

    def start(self) -> Session:
        """A new session."""
        return Session(self, self.ask("POST", "/session", {})["id"])


class Session:
    """A conversation."""

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self.name = name
        self.message = ""
        """The id of the newest prompt."""

    def say(self, prompt: str) -> None:
        """Send a prompt and wait for the end of the turn."""
        said = {"parts": [{"type": "text", "text": prompt}]}
        told = self._ask("POST", "/message", said)
        self.message = str(told["info"]["parentID"])

    def compact(self) -> None:
        """As `/compact`."""
        self._ask("POST", "/summarize", {"providerID": "scripted", "modelID": "scripted"})

    def clear(self) -> None:
        """Begin anew."""
        self.name = self._server.start().name

    def revert(self, message: str) -> None:
        """As `/undo`: forget a prompt and what followed it, and restore the files."""
        self._ask("POST", "/revert", {"messageID": message})

    def unrevert(self) -> None:
        """As `/redo`."""
        self._ask("POST", "/unrevert", {})

    def fork(self, message: str = "") -> Session:
        """A new session with the conversation up to a message, or all of it."""
        told = self._ask("POST", "/fork", {"messageID": message} if message else {})
        return Session(self._server, told["id"])

    def _ask(self, method: str, path: str, body: Any) -> Any:
        return self._server.ask(method, f"/session/{self.name}{path}", body)


@contextlib.contextmanager
def session(place: Place, url: str) -> Iterator[Session]:
    """A session, until the block ends."""
    with server(place) as running:
        yield running.start()


def read(path: str, first: int = 1, last: int | None = None) -> Turn:
    """Reads lines of a file by the agent's own tool."""
    part = {} if last is None else {"offset": first, "limit": last - first + 1}
    return uses("read", filePath=path, **part)


def shell(command: str) -> Turn:
    """Runs a command."""
    return uses("bash", command=command, description="Run")


def edit(path: str, old: str, new: str) -> Turn:
    """Replaces a text in a file that was read."""
    return uses("edit", filePath=path, oldString=old, newString=new)


def delegate(prompt: str) -> list[Turn]:
    """Has a sub-agent do something, and waits for it."""
    return [uses("task", description="Look", prompt=prompt, subagent_type="general")]


def ours(tool: str, **arguments: Any) -> list[Turn]:
    """Calls a tool of ours."""
    return [uses(f"triseek_{tool}", **arguments)]


@contextlib.contextmanager
def server(place: Place) -> Iterator[Server]:
    """A server, until the block ends."""
    env = place.env(OPENCODE_DISABLE_AUTOUPDATE="1", OPENCODE_DISABLE_MODELS_FETCH="1")
    with (place.home / "opencode.log").open("ab") as log:
        process = subprocess.Popen(
            ["opencode", "serve", "--port", "0", "--print-logs"], cwd=place.tree, env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
    try:
        assert process.stdout
        for line in process.stdout:
            if found := _LISTENS.search(line):
                break
        else:
            raise Ended((place.home / "opencode.log").read_text()[-2000:])
        yield Server(found[1])
    finally:
        process.terminate()
        try:
            process.communicate(timeout=STOP_S)
        except subprocess.TimeoutExpired:  # it waits for what it began in the background
            process.kill()
            process.communicate()
