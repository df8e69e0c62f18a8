"""Hooks in lists of hooks: ours are known by their command, all others stay as they are."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.harness.splices import (
    check_dialect,
    put_item,
    replace_item,
    take_item,
    value_at,
)

if TYPE_CHECKING:
    from triseek.harness.base import Traces
    from triseek.harness.jsonc import Dialect

_READING = "read|read_file|view|view_file|get_file|open_file"
ASKED_ABOUT = f"mcp__.*__({_READING}|memo_check|memo_status|memo_session)"
"""Tools of MCP servers that we look at before they run, as Claude Code and Codex name them: those
that read files, and the memo's own, which answer to the context that asks."""
_OURS = re.compile(
    r"""triseek(\.exe)?["']?\s+(hook\s+\w+\s+--harness\s|memo-observe\s+--event\s)""", re.IGNORECASE
)


def command(program: str, event: str, harness: str) -> str:
    """What a hook of ours runs, quoted for a POSIX shell."""
    quoted = "'" + program.replace("'", "'\\''") + "'"
    return f"{quoted} hook {shlex.quote(event)} --harness {shlex.quote(harness)}"


def is_ours(hook: object) -> bool:
    """Whether a hook runs our shim, of this version or an older one."""
    said = hook.get("command") if isinstance(hook, dict) else None
    if isinstance(said, list):
        said = " ".join(str(word) for word in said)
    return isinstance(said, str) and bool(_OURS.search(f"{said} "))


@dataclass(frozen=True, slots=True)
class HookItem:
    """An item of the list at `keys`: a group `{"matcher", "hooks": [...]}` or a bare hook.

    A plan has one for each list.
    """

    path: str
    keys: tuple[str, ...]
    item: dict[str, Any]
    dialect: Dialect = "jsonc"

    def stands(self, text: str | None) -> bool:
        """Whether the item is there once, and no other of ours."""
        return [item for item in _items(text, self.keys) if _has_ours(item)] == [self.item]

    def apply(self, text: str | None, traces: Traces) -> str:
        """The text with the item, and without older ones of ours."""
        check_dialect(text, self.dialect)
        if self.stands(text):
            return text or ""
        kept = _without_ours(text, self.keys, traces, strictly=True)
        return put_item(kept or "", self.keys, self.item, traces)

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """The text without any hook of ours in that list."""
        return _without_ours(text, self.keys, traces, strictly=True)

    def record(self) -> dict[str, Any]:
        """The edit as JSON."""
        told = {"kind": "hook", "path": self.path, "keys": [*self.keys]}
        return {**told, "item": self.item, "dialect": self.dialect}


def _items(text: str | None, keys: tuple[str, ...], *, strictly: bool = False) -> list[Any]:
    found = value_at(text, keys, strictly=strictly)
    return found if isinstance(found, list) else []


def _hooks(item: object) -> list[Any]:
    """The hooks of a group, or the one that stands for itself."""
    inner = item.get("hooks") if isinstance(item, dict) else None
    return inner if isinstance(inner, list) else [item]


def _has_ours(item: object) -> bool:
    return any(is_ours(hook) for hook in _hooks(item))


def _without_ours(
    text: str | None, keys: tuple[str, ...], traces: Traces, *, strictly: bool
) -> str | None:
    items = _items(text, keys, strictly=strictly)
    for index in range(len(items) - 1, -1, -1):
        if text is None or not _has_ours(items[index]):
            continue
        others = [hook for hook in _hooks(items[index]) if not is_ours(hook)]
        if others:  # somebody has put a hook of their own beside ours
            text = replace_item(text, keys, index, {**items[index], "hooks": others})
        else:
            text = take_item(text, keys, index, traces)
    return text
