"""An agent's hooks, each a process as the agent runs it; it speaks as our OpenCode plugin does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.e2e.agents import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WAIT_S = 120.0


def shown(lines: Sequence[str], first: int = 1) -> str:
    """Lines of a file as OpenCode's `read` shows them to its model."""
    numbered = "".join(f"{number}: {line}" for number, line in enumerate(lines, first))
    return f"<type>file</type>\n<content>\n{numbered}\n(End of file)\n</content>"


class Hooks:
    """One context of an agent; `refusal` is the last denial of a tool, as its hook wrote it."""

    def __init__(self, home: Path, root: Path, session: str, agent: str = "") -> None:
        self.root = root
        self.session = session
        self.agent = agent
        self.in_view: list[str] = []
        self.env = {
            **os.environ, "TRISEEK_HOME": str(home), "HOME": str(home), "PYTHONPATH": str(PACKAGE),
            "CI": "1",
        }  # fmt: skip
        self.env.pop("TRISEEK_NO_DAEMON", None)
        self.words: Sequence[str] = ("hook", "{}", "--harness", "opencode")
        self.calls = 0
        self.refusal: dict[str, Any] = {}

    def tell(self, event: str, **more: Any) -> dict[str, Any] | None:
        """Run the hook; what it answers, None for nothing. It is silent otherwise, and succeeds."""
        told = {"session_id": self.session, "hook_event_name": event, "cwd": str(self.root), **more}
        if self.agent:
            told["agent_id"] = self.agent
        done = subprocess.run(
            [sys.executable, "-m", "triseek", *(word.format(event) for word in self.words)],
            env=self.env, cwd="/", input=json.dumps(told).encode(), capture_output=True,
            timeout=WAIT_S, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b""), done
        return json.loads(done.stdout) if done.stdout else None

    def use(self, tool: str, given: dict[str, Any], output: str) -> str | None:
        """Use a tool, unless it is refused; why it was, or None."""
        self.calls += 1
        call = {
            "tool_name": tool, "tool_input": given,
            "tool_use_id": f"{self.session}-{self.agent}-{self.calls}",
        }  # fmt: skip
        answer = self.tell("PreToolUse", **call, in_view=self.in_view)
        if answer is not None:
            told = answer["hookSpecificOutput"]
            assert (told["hookEventName"], told["permissionDecision"]) == ("PreToolUse", "deny")
            self.refusal = told
            return str(told["permissionDecisionReason"])
        more = {"tool_response": output, "in_view": self.in_view}
        assert self.tell("PostToolUse", **call, **more) is None
        self.in_view.append(call["tool_use_id"])
        return None

    def read(self, name: str, first: int = 1, count: int | None = None) -> str | None:
        """Read lines of a file, as the tool of that name does; why it was refused, or None."""
        path = self.root / name
        given: dict[str, Any] = {"filePath": str(path), "offset": first}
        if count is not None:
            given["limit"] = count
        lines = path.read_text().splitlines(keepends=True)[first - 1 :][:count]
        return self.use("read", given, shown(lines, first))

    def compact(self) -> None:
        """Begin again with a summary."""
        self.tell("PreCompact", trigger="auto")
        self.in_view = []
