"""What clients say of the servers they know, in the words of each of them.

Taken from the programs themselves; `tests/e2e/test_doctor.py` asks them again.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.harness.checks.host import Ran

SERVER = "triseek"
State = Literal["connected", "failed", "waiting", "off", "known", "absent", "unclear"]
"""waiting: for the user's approval. known: there, and the client has not tried it."""


class Listed(NamedTuple):
    """What a client says of our server, or of our extension."""

    state: State
    program: str = ""
    """The program it would start, where it says so."""
    note: str = ""
    """What else it says, one line."""


class Question(NamedTuple):
    """How a client is asked, and how its answer is read."""

    words: tuple[str, ...]
    read: Callable[[Ran], Listed]
    stdin: bytes = b""


def claude(ran: Ran) -> Listed:
    """`claude mcp get triseek`; it has tried the server, unless it wants to be allowed to."""
    said = _fields(ran.out)
    if ran.status or "Status" not in said:
        return Listed("absent" if "No MCP server" in ran.out + ran.err else "unclear")
    status = said["Status"]
    for mark, state in _CLAUDE.items():
        if mark in status:
            return Listed(state, said.get("Command", ""), said.get("Issue", "") or said["Scope"])
    return Listed("unclear", said.get("Command", ""), status)


_CLAUDE: Mapping[str, State] = {
    "Connected": "connected",
    "Failed": "failed",
    "Pending": "waiting",
    "approval": "waiting",
    "Rejected": "off",
    "Disabled": "off",
}


def _fields(text: str) -> dict[str, str]:
    """Lines of `  Name: value`."""
    found = {"Scope": ""}
    for line in text.splitlines():
        name, colon, value = line.strip().partition(": ")
        if colon:
            found[name] = value.strip()
    return found


def codex(ran: Ran) -> Listed:
    """`codex mcp get triseek --json`; it does not try the server."""
    if ran.status:
        return Listed("absent" if "No MCP server" in ran.err + ran.out else "unclear")
    told = _json(ran.out)
    if not isinstance(told, dict) or told.get("name") != SERVER:
        return Listed("unclear")
    transport = told.get("transport")
    program = transport.get("command") if isinstance(transport, dict) else ""
    state: State = "off" if told.get("enabled") is False else "known"
    return Listed(state, str(program or ""), str(told.get("disabled_reason") or ""))


def opencode(ran: Ran) -> Listed:
    """`opencode mcp list`; it has tried the servers."""
    lines = [line.strip(" │●▲\t") for line in _plain(ran.out).splitlines()]
    for number, line in enumerate(lines):
        mark, _, rest = line.partition(" ")
        name, _, state = rest.partition(" ")
        if mark and not mark.isascii() and name == SERVER:
            below = lines[number + 1] if number + 1 < len(lines) else ""
            return _opencode(state.strip(), below)
    return Listed("unclear" if ran.status else "absent")


def _opencode(state: str, below: str) -> Listed:
    if state.startswith("connected"):
        return Listed("connected", _first_word(below))
    if state.startswith("disabled"):
        return Listed("off", _first_word(below))
    return Listed("failed", "", f"{state}: {below}" if below else state)


def gemini(ran: Ran) -> Listed:
    """`gemini mcp list`; it tries the servers where it trusts the folder."""
    for line in _plain(ran.out + "\n" + ran.err).splitlines():
        found = re.match(r"\S+ triseek(?: \(from [^)]*\))?: (.*) \(\w+\) - (.+)", line.strip())
        if found is not None:
            state = _GEMINI.get(found[2].strip().lower(), "unclear")
            untrusted = "untrusted" in ran.out + ran.err
            note = "this folder is not trusted" if state == "off" and untrusted else ""
            return Listed("waiting" if note else state, _first_word(found[1]), note or found[2])
    return Listed("unclear" if ran.status else "absent")


_GEMINI: Mapping[str, State] = {
    "connected": "connected",
    "disconnected": "failed",
    "connecting": "known",
    "disabled": "off",
    "blocked": "off",
}


def cline(ran: Ran) -> Listed:
    """`cline config mcp --json`; it does not try the servers."""
    told = _json(ran.out)
    if not isinstance(told, list):
        return Listed("absent" if "No MCP settings" in ran.out + ran.err else "unclear")
    for server in told:
        if isinstance(server, dict) and server.get("name") == SERVER:
            return Listed("off" if server.get("disabled") else "known")
    return Listed("absent")


def pi(ran: Ran) -> Listed:
    """`pi mcp list --json`, from 1.0 on; it has tried the servers."""
    told = _json(ran.out)
    servers = told.get("servers") if isinstance(told, dict) else None
    if not isinstance(servers, list):
        return Listed("unclear", "", ran.err.strip().partition("\n")[0])
    for server in servers:
        if isinstance(server, dict) and server.get("name") == SERVER:
            state, command = str(server.get("state", "")), str(server.get("transport", ""))
            if server.get("enabled") is False:
                return Listed("off", _first_word(command))
            known = _PI.get(state, "failed")
            note = "" if known == "connected" else str(server.get("error") or state)
            return Listed(known, _first_word(command), note)
    return Listed("absent", "", str(told.get("note", "")))


_PI: Mapping[str, State] = {"connected": "connected", "disabled": "off", "pending": "waiting"}


def pi_commands(ran: Ran) -> Listed:
    """Which commands extensions have given it: before 1.0 it knows no MCP, nor lists extensions."""
    for line in ran.out.splitlines():
        told = _json(line)
        data = told.get("data") if isinstance(told, dict) else None
        commands = data.get("commands") if isinstance(data, dict) else None
        if isinstance(commands, list):
            ours = any(_is_ours(command) for command in commands)
            return Listed("connected", "", _EXTENSION) if ours else Listed("absent")
    return Listed("unclear", "", ran.err.strip().partition("\n")[0])


_EXTENSION = "our extension; MCP it knows from 1.0 on"


def _is_ours(command: object) -> bool:
    return (
        isinstance(command, dict)
        and str(command.get("name", "")).startswith(SERVER)
        and command.get("source") == "extension"
    )


QUESTIONS: Mapping[str, Question] = {
    "claude-code": Question(("claude", "mcp", "get", SERVER), claude),
    "codex": Question(("codex", "mcp", "get", SERVER, "--json"), codex),
    "opencode": Question(("opencode", "mcp", "list"), opencode),
    "pi": Question(("pi", "mcp", "list", "--json"), pi),
    "gemini": Question(("gemini", "mcp", "list"), gemini),
    "cline": Question(("cline", "config", "mcp", "--json"), cline),
}
"""Clients that say which servers they know, by the name `triseek install` has for them."""
PI_BEFORE_1 = Question(
    ("pi", "--mode", "rpc", "--no-session", "--offline"), pi_commands, b'{"type":"get_commands"}\n'
)
"""To that one, `pi mcp list` is a prompt, and goes to a model."""


def question(client: str, version: str) -> Question | None:
    """How a client of a version is asked; None if it is not to be asked at all."""
    if client != "pi":
        return QUESTIONS.get(client)
    major = version.partition(".")[0]
    if not major.isdecimal():
        return None  # whatever it is, it might take the words for a prompt
    return PI_BEFORE_1 if major == "0" else QUESTIONS["pi"]


def _json(text: str) -> Any:  # noqa: ANN401 - whatever the client prints
    """The document in an output; None if there is none."""
    begin = min((at for at in map(text.find, "[{") if at >= 0), default=-1)
    try:
        return json.loads(text[begin:]) if begin >= 0 else None
    except (ValueError, RecursionError):
        return None


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def _first_word(command: str) -> str:
    try:
        return next(iter(shlex.split(command)), "")
    except ValueError:
        return command.partition(" ")[0]
