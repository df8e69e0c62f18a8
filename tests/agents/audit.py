"""Whether what an agent was denied did stand in what its model was sent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.agents.script import Message, Request

DENIED = "TriSeek memo:"
_CAT = re.compile(r"cat ((?:[\w./-]+ ?)+)")
_SED = re.compile(r"sed -n '(\d+),(\d+)p' ([\w./-]+)")
_NUMBER = re.compile(r"^ *\d+(?:\t|: ?)")


class Part(NamedTuple):
    """Lines of a file that a use of a tool asks for."""

    path: str
    first: int = 1
    last: int | None = None


class Audit:
    """Looks at every request as it comes: `scripts.before = Audit(tree)`.

    A request that is the first to carry a denial has to carry, in the output of another use of a
    tool, every line that was denied, as the file has it now.
    """

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._known: set[str] = set()
        self.denied: list[Part] = []
        """What was denied, in order."""
        self.wrong: list[str] = []
        """Denials of lines that the model was not sent."""

    def __call__(self, request: Request) -> None:
        """Look at one request."""
        asked = {one.call: one.text for one in request.messages if one.role == "call"}
        results = [one for one in request.messages if one.role == "result"]
        for one in results:
            if not is_denial(one) or one.call in self._known:
                continue
            self._known.add(one.call)
            parts = list(wanted(asked[one.call]))
            self.denied += parts
            if not parts:
                self.wrong.append(f"cannot tell what was denied: {asked[one.call]}")
            for part in parts:
                self._check(part, results)

    def _check(self, part: Part, results: list[Message]) -> None:
        lines = (self._tree / part.path).read_text().split("\n")
        if lines[-1] == "":
            lines.pop()
        lines = lines[part.first - 1 : part.last]
        shown = {
            _NUMBER.sub("", line).rstrip("\r")
            for one in results
            if not is_denial(one)
            for line in one.text.split("\n")
        }
        missing = [line for line in lines if line not in shown]
        if missing or not lines:
            self.wrong.append(f"{part}: {len(missing)} of {len(lines)} lines not in the request")


def is_denial(message: Message) -> bool:
    """Whether this is what a model is told instead of an output."""
    return message.role == "result" and DENIED in message.text


def wanted(arguments: str) -> Iterator[Part]:
    """What a use of a tool asks for: a reader's arguments, or a command of the tests."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return
    if path := given.get("file_path") or given.get("filePath") or given.get("path"):
        first = given.get("offset") or 1
        yield Part(path, first, _last(first, given))
        return
    command = str(given.get("cmd") or given.get("command"))
    if found := _SED.fullmatch(command):
        yield Part(found[3], int(found[1]), int(found[2]))
    elif found := _CAT.fullmatch(command):
        yield from map(Part, found[1].split())


def _last(first: int, given: Mapping[str, int]) -> int | None:
    return first + given["limit"] - 1 if given.get("limit") else None
