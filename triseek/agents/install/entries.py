"""Edits of members in JSON files: our servers, and members that a file must have."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.agents.base import NAME, Edit, Refused, Traces
from triseek.agents.install import jsonc
from triseek.agents.install.splices import (
    mark_of,
    note_made,
    parsed,
    put_member,
    take_member,
    value_at,
)

if TYPE_CHECKING:
    from triseek.agents.install.jsonc import Dialect


def mcp_words(value: object) -> list[str]:
    """Return the words of the command that an entry starts, in any of the agents' shapes."""
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("command"), dict):  # an object with path and args
        value = {**value["command"], "command": value["command"].get("path")}
    command, rest = value.get("command"), value.get("args")
    words = list(command) if isinstance(command, list) else [command]
    words += rest if isinstance(rest, list) else []
    return [word for word in words if isinstance(word, str)]


def runs_triseek(value: object) -> bool:
    """Whether an entry of a list of MCP servers starts our server, whatever its path."""
    words = mcp_words(value)
    names = {os.path.basename(word.replace("\\", "/")).lower() for word in words}  # noqa: PTH119
    return bool(names & {NAME, f"{NAME}.exe"}) and "mcp" in words


@dataclass(frozen=True, slots=True)
class JsonMember(Edit):
    """`value` at `keys` of a JSON file; an existing value must be ours or run triseek."""

    kind = "member"
    keys: tuple[str, ...]
    value: Any
    dialect: Dialect = "jsonc"

    def stands(self, text: str | None) -> bool:
        """Whether the member has this value."""
        return bool(value_at(text, self.keys) == self.value)

    def apply(self, text: str | None, traces: Traces) -> str:
        """Return the text with the member."""
        jsonc.check(text or "", self.dialect)
        value = value_at(text, self.keys)
        if value is not None and value != self.value and not runs_triseek(value):
            raise Refused(
                f"{'.'.join(self.keys)} is there and does not run triseek; rename or remove it"
            )
        return put_member(text or "", self.keys, self.value, traces)

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """Return the text without the member, if that is still ours."""
        value = value_at(text, self.keys)
        if text is None or value is None or not (value == self.value or runs_triseek(value)):
            return text
        return take_member(text, self.keys, traces)


@dataclass(frozen=True, slots=True)
class JsonDefault(Edit):
    """A member that the file must have, with any value.

    It is removed with our other entries; in a file that we made, only when nothing else is left.
    """

    kind = "default"
    keys: tuple[str, ...]
    value: Any
    dialect: Dialect = "jsonc"

    def stands(self, text: str | None) -> bool:
        """Whether the member exists."""
        return value_at(text, self.keys) is not None

    def apply(self, text: str | None, traces: Traces) -> str:
        """Return the text with the member."""
        jsonc.check(text or "", self.dialect)
        if value_at(text, self.keys) is not None:
            return text or ""
        note_made(self.keys, traces)
        return put_member(text or "", self.keys, self.value, traces)

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """Return the text without the member, if it was ours and others do not need it."""
        root = parsed(text)
        if text is None or root is None or mark_of(self.keys) not in traces.made:
            return text
        needed = mark_of(()) in traces.made and len(root.parts) > 1
        if needed or value_at(text, self.keys) != self.value:
            return text
        return take_member(text, self.keys, traces)
