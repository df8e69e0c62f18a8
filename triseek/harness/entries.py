"""What of ours is in JSON files: servers, and what a file must have besides."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.harness.base import NAME, Refused, Traces
from triseek.harness.splices import (
    check_dialect,
    mark_of,
    note_made,
    parsed,
    put_member,
    take_member,
    value_at,
)

if TYPE_CHECKING:
    from triseek.harness.jsonc import Dialect


def mcp_words(value: object) -> list[str]:
    """The words of the command that an entry starts, in any of the shapes that clients have."""
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("command"), dict):  # of path and args
        value = {**value["command"], "command": value["command"].get("path")}
    command, rest = value.get("command"), value.get("args")
    words = list(command) if isinstance(command, list) else [command]
    words += rest if isinstance(rest, list) else []
    return [word for word in words if isinstance(word, str)]


def runs_triseek(value: object) -> bool:
    """Whether an entry of a list of MCP servers starts our server, by whatever path."""
    words = mcp_words(value)
    names = {os.path.basename(word.replace("\\", "/")).lower() for word in words}  # noqa: PTH119
    return bool(names & {NAME, f"{NAME}.exe"}) and "mcp" in words


@dataclass(frozen=True, slots=True)
class JsonMember:
    """`value` at `keys` of a JSON file; what is there must be ours or run triseek."""

    path: str
    keys: tuple[str, ...]
    value: Any
    dialect: Dialect = "jsonc"

    def stands(self, text: str | None) -> bool:
        """Whether the member has this value."""
        return bool(value_at(text, self.keys) == self.value)

    def apply(self, text: str | None, traces: Traces) -> str:
        """The text with the member."""
        check_dialect(text, self.dialect)
        there = value_at(text, self.keys, strictly=True)
        if there is not None and there != self.value and not runs_triseek(there):
            raise Refused(
                f"{'.'.join(self.keys)} is there and does not run triseek; rename or remove it"
            )
        return put_member(text or "", self.keys, self.value, traces)

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """The text without the member, if it is ours still."""
        there = value_at(text, self.keys, strictly=True)
        if text is None or there is None or not (there == self.value or runs_triseek(there)):
            return text
        return take_member(text, self.keys, traces)

    def record(self) -> dict[str, Any]:
        """The edit as JSON."""
        told = {"kind": "member", "path": self.path, "keys": [*self.keys]}
        return {**told, "value": self.value, "dialect": self.dialect}


@dataclass(frozen=True, slots=True)
class JsonDefault:
    """A member that the file must have, whatever it says.

    It goes with the rest of ours; in a file that we made, only when nothing else is left.
    """

    path: str
    keys: tuple[str, ...]
    value: Any
    dialect: Dialect = "jsonc"

    def stands(self, text: str | None) -> bool:
        """Whether there is such a member."""
        return value_at(text, self.keys) is not None

    def apply(self, text: str | None, traces: Traces) -> str:
        """The text with the member."""
        check_dialect(text, self.dialect)
        if value_at(text, self.keys, strictly=True) is not None:
            return text or ""
        note_made(self.keys, traces)
        return put_member(text or "", self.keys, self.value, traces)

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """The text without it, if it was ours and others do not need it."""
        root = parsed(text)
        if text is None or root is None or mark_of(self.keys) not in traces.made:
            return text
        needed = mark_of(()) in traces.made and len(root.parts) > 1
        if needed or value_at(text, self.keys) != self.value:
            return text
        return take_member(text, self.keys, traces)

    def record(self) -> dict[str, Any]:
        """The edit as JSON."""
        told = {"kind": "default", "path": self.path, "keys": [*self.keys]}
        return {**told, "value": self.value, "dialect": self.dialect}
