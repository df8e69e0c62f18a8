"""Clients of `triseek memory serve`: one that says what a test has it say, and what it heard."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any

from tests.mcp.speaking import Spoken, call, speaking
from triseek.memory.database import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SERVE = ("-m", "triseek", "memory", "serve")


class Client:
    """A client of the profile. `spoken` is its process and every line of it."""

    def __init__(self, spoken: Spoken) -> None:
        self.spoken = spoken
        self._number = 0

    def answer(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The answer to a call, as it came."""
        self._number += 1
        return self.spoken.ask(call(f"call {self._number}", tool, **arguments))

    def result(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The object in the text of the answer."""
        answer = self.answer(tool, **arguments)
        assert "error" not in answer, answer
        [block] = answer["result"]["content"]
        assert (answer["result"].keys(), block.keys()) == ({"content"}, {"type", "text"})
        assert block["type"] == "text"
        value: dict[str, Any] = json.loads(block["text"])
        return value

    def error(self, tool: str, **arguments: object) -> str:
        """The message of the error by which a call fails."""
        error = self.answer(tool, **arguments)["error"]
        assert error.keys() == {"code", "message"}
        assert error["code"] == -32603
        message: str = error["message"]
        return message


@contextlib.contextmanager
def serving(*words: str, **variables: str) -> Iterator[Client]:
    """A process of its own; its state folder is that of the test."""
    with speaking([*SERVE, *words], variables) as spoken:
        yield Client(spoken)


@contextlib.contextmanager
def locked(home: Path) -> Iterator[None]:
    """The memory's database, held by somebody who writes: calls that write wait."""
    connection = sqlite3.connect(home / "memory" / NAME, isolation_level=None)
    with contextlib.closing(connection):
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")
