"""Queries to agents about the MCP servers they know, and the types of their answers.

The forms of the answers are in each agent's file, taken from the programs themselves;
`tests/e2e/test_doctor.py` runs the programs again.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

State: TypeAlias = Literal["connected", "failed", "waiting", "off", "known", "absent", "unclear"]
"""waiting: for the user's approval. known: listed, and the agent has not tried it."""


_ARGUMENTS = " mcp serve"


class Ran(NamedTuple):
    """The result of running a program."""

    status: int | None
    """The exit status; None if it did not start, or was stopped because it took too long."""
    out: str = ""
    err: str = ""
    ms: float = 0.0
    trouble: str = ""
    """Why there is no status, in a few words."""


class Listed(NamedTuple):
    """An agent's answer about our server, or about our extension."""

    state: State
    program: str = ""
    """The program that the agent would start, if the answer names it."""
    note: str = ""
    """Anything else the answer says, one line."""


class Question(NamedTuple):
    """The command that queries an agent, and the function that reads its answer."""

    words: tuple[str, ...]
    read: Callable[[Ran], Listed]
    stdin: bytes = b""


def document(text: str) -> Any:  # noqa: ANN401 - whatever the agent prints
    """Return the JSON document in an output; None if there is none."""
    begin = min((at for at in map(text.find, "[{") if at >= 0), default=-1)
    try:
        return json.loads(text[begin:]) if begin >= 0 else None
    except (ValueError, RecursionError):
        return None


def uncoloured(text: str) -> str:
    """Return an output without its colour codes."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def program_of(command: str) -> str:
    """Return the program of a command line as agents print it.

    They join its words by spaces and quote none, so the program is what stands before our own
    arguments. Without these it is the first word.
    """
    program, is_ours, _ = command.partition(_ARGUMENTS)
    if is_ours and not program.startswith(("'", '"')):
        return program
    try:
        return next(iter(shlex.split(command)), "")
    except ValueError:
        return command.partition(" ")[0]
