"""Edits of lists of hooks: ours are recognized by their command, all others are unchanged."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from triseek.agents.base import Edit
from triseek.agents.install import jsonc
from triseek.agents.install.splices import (
    put_item,
    replace_item,
    take_item,
    value_at,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.agents.base import Traces
    from triseek.agents.install.jsonc import Dialect

_READING = "read|read_file|view|view_file|get_file|open_file"
ANNOUNCED = (
    "memo_check", "memo_status", "memo_session",
    "search_content", "search_path_and_content", "find_files",
)  # fmt: skip
"""Our tools whose answer depends on the context that asks."""
ASKED_ABOUT = f"mcp__.*__({_READING}|{'|'.join(ANNOUNCED)})"
"""Pattern of MCP tools for which our hook runs before the use, named as in Claude Code and Codex:
tools that read files, and `ANNOUNCED`."""
_OURS = re.compile(
    r"""triseek(\.exe)?["']?\s+(hook\s+\w+\s+--harness\s|memo-observe\s+--event\s)""", re.IGNORECASE
)


def command(program: str, event: str, harness: str) -> str:
    """Return the command of our hook, for a POSIX shell: nothing happens if triseek is gone.

    Agents report a hook that fails, at each use of a tool. The payload is read in any case, since
    they may report an input that is not read. triseek takes the place of the shell, so the
    guard costs no further process.
    """
    quoted = "'" + program.replace("'", "'\\''") + "'"
    words = f"hook {shlex.quote(event)} --harness {shlex.quote(harness)}"
    return f"[ -x {quoted} ] || exec cat >/dev/null; exec {quoted} {words}"


class Hook(TypedDict, total=False):
    """A hook that runs a command."""

    type: str
    name: str
    command: str
    timeout: int


class HookGroup(TypedDict, total=False):
    """Hooks for the tools that match a pattern, or for all."""

    matcher: str
    hooks: list[Hook]


def is_ours(hook: object) -> bool:
    """Whether a hook runs `triseek hook`, of this version or an older one."""
    command_line = hook.get("command") if isinstance(hook, dict) else None
    if isinstance(command_line, list):
        command_line = " ".join(str(word) for word in command_line)
    return isinstance(command_line, str) and bool(_OURS.search(f"{command_line} "))


@dataclass(frozen=True, slots=True)
class HookItem(Edit):
    """An item of the list at `keys`: a group `{"matcher", "hooks": [...]}` or a single hook.

    A plan has one item for each list.
    """

    kind = "hook"
    keys: tuple[str, ...]
    item: Hook | HookGroup
    dialect: Dialect = "jsonc"

    def stands(self, text: str | None) -> bool:
        """Whether the list has this item once and no other of ours."""
        return [item for item in _items(text, self.keys) if _has_ours(item)] == [self.item]

    def apply(self, text: str | None, traces: Traces) -> str:
        """Return the text with the item and without older items of ours."""
        jsonc.check(text or "", self.dialect)
        if self.stands(text):
            return text or ""
        text = self.remove(text, traces)
        return put_item(text or "", self.keys, self.item, traces)

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """Return the text without any hook of ours in that list."""
        items = _items(text, self.keys)
        for index in range(len(items) - 1, -1, -1):
            if text is None or not _has_ours(items[index]):
                continue
            others = [hook for hook in _hooks(items[index]) if not is_ours(hook)]
            if others:  # the group also has hooks that are not ours
                text = replace_item(text, self.keys, index, {**items[index], "hooks": others})
            else:
                text = take_item(text, self.keys, index, traces)
        return text


def _items(text: str | None, keys: tuple[str, ...]) -> list[Any]:
    value = value_at(text, keys)
    return value if isinstance(value, list) else []


def _hooks(item: object) -> list[Any]:
    """Return the hooks of a group, or the item itself if it is a single hook."""
    inner = item.get("hooks") if isinstance(item, dict) else None
    return inner if isinstance(inner, list) else [item]


def _has_ours(item: object) -> bool:
    return any(is_ours(hook) for hook in _hooks(item))


def hook_items(
    path: str, dialect: Dialect, program: str, harness: str, timeouts: Mapping[str, int],
    matchers: Mapping[str, str], *, name: str = "",
) -> list[HookItem]:  # fmt: skip
    """Return the edits of groups with one hook each, for the events of `matchers`.

    Args:
        path: the file, with the lists below `hooks`.
        dialect: the file's.
        program: the absolute path of triseek.
        harness: the agent, as in `triseek install`.
        timeouts: the time-out of each event, in the agent's unit.
        matchers: the pattern of each event's tools; "" for all.
        name: the hook's name, where hooks have names.
    """
    items = []
    for event, matcher in matchers.items():
        hook: Hook = {"type": "command"}
        if name:
            hook["name"] = name
        hook |= {"command": command(program, event, harness), "timeout": timeouts[event]}
        group: HookGroup = {"matcher": matcher} if matcher else {}
        items.append(HookItem(path, ("hooks", event), group | {"hooks": [hook]}, dialect))
    return items
