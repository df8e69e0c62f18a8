"""What an agent tells its hook at each step; as OpenCode says it, which needs no transcript."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

LINES = 100
"""Of each file; an agent's usual reading."""
FILES = 10
CLEARED = 20
"""Files after which the agent begins with an empty context."""


class Step(NamedTuple):
    """One call of a hook."""

    kind: str
    event: str
    payload: bytes
    refused: bool = False
    """Whether the agent is to be told that it has this."""


class Agent:
    """An agent that reads each of its files again and again."""

    def __init__(self, root: Path, name: str) -> None:
        """Write its files."""
        self._root, self._name = root, name
        self._calls = 0
        self._in_view: list[str] = []
        self._files = [root / f"{name}_{number}.py" for number in range(FILES)]
        for file in self._files:
            file.write_text(self._text(file), encoding="utf-8")

    @staticmethod
    def _text(file: Path) -> str:
        return "".join(f"{file.stem}_{n} = call(argument, {n * 7919})\n" for n in range(LINES))

    def _shown(self, file: Path) -> str:
        """As OpenCode's `read` shows it."""
        rows = enumerate(self._text(file).splitlines(keepends=True), 1)
        return f"<content>\n{''.join(f'{number}: {row}' for number, row in rows)}\n</content>"

    def first_readings(self) -> list[Step]:
        """Every file once: let through, and seen."""
        found = [self._start()]
        for file in self._files:
            found += [self._before(file, "before, new"), self._after(file)]
        return found

    def steps(self, count: int) -> list[Step]:
        """Of each file in turn: it has it and is refused, insists and gets it; and a command."""
        found = []
        for number in range(count):
            file = self._files[number % FILES]
            if number % CLEARED == CLEARED - 1:  # a long context is believed less and less
                found += self.first_readings()
            found += [
                self._before(file, "before, refused", refused=True),
                self._before(file, "before, let through"),
                self._after(file),
                self._tool("after, shell", "PostToolUse", "bash", {"command": "make"}, "ok\n" * 50),
            ]
        return found

    def _start(self) -> Step:
        self._in_view.clear()
        return self._said("start", "SessionStart", {"source": "clear"})

    def _before(self, file: Path, kind: str, *, refused: bool = False) -> Step:
        self._calls += 1
        return self._tool(kind, "PreToolUse", "read", {"filePath": str(file)}, refused=refused)

    def _after(self, file: Path) -> Step:
        step = self._tool(
            "after, read", "PostToolUse", "read", {"filePath": str(file)}, self._shown(file)
        )
        self._in_view.append(f"{self._name}-{self._calls}")
        return step

    def _tool(
        self,
        kind: str,
        event: str,
        tool: str,
        given: dict[str, str],
        output: str | None = None,
        *,
        refused: bool = False,
    ) -> Step:
        more: dict[str, object] = {
            "tool_name": tool, "tool_use_id": f"{self._name}-{self._calls}", "tool_input": given,
            "in_view": list(self._in_view),
        }  # fmt: skip
        if output is not None:
            more["tool_response"] = output
        return self._said(kind, event, more, refused=refused)

    def _said(
        self, kind: str, event: str, more: dict[str, object], *, refused: bool = False
    ) -> Step:
        told = {
            "session_id": self._name, "hook_event_name": event, "cwd": str(self._root), **more
        }  # fmt: skip
        return Step(kind, event, json.dumps(told).encode(), refused)
