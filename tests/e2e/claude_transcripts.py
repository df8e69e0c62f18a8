"""Writes transcripts in the format of Claude Code 2.1.330, as small as a test needs them."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

STEP_S = 60


class Transcript:
    """One conversation; each call adds what happens a minute later."""

    def __init__(self, home: Path, session: str, cwd: str, start: dt.datetime) -> None:
        folder = home / ".claude" / "projects" / "-made"
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.session = folder / f"{session}.jsonl", session
        self._cwd, self._now, self._count, self._parent = cwd, start, 0, None

    def prompt(self, text: str) -> Transcript:
        return self._row("user", {"role": "user", "content": text})

    def answer(self, text: str) -> Transcript:
        return self._row("assistant", self._message({"type": "text", "text": text}))

    def run(self, command: str, output: str = "", *, failed: bool = False) -> Transcript:
        return self._use("Bash", {"command": command}, output, failed=failed)

    def edit(self, name: str, before: str, after: str) -> Transcript:
        fields = {"file_path": f"{self._cwd}/{name}", "old_string": before, "new_string": after}
        return self._use("Edit", fields, "The file has been updated.")

    def _use(self, name: str, fields: Any, output: str, *, failed: bool = False) -> Transcript:
        call = f"toolu_{self.session}_{self._count}"
        use = {"type": "tool_use", "id": call, "name": name, "input": fields}
        self._row("assistant", self._message(use))
        text = f"Exit code 1\n{output}" if failed else output
        result = {
            "type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed,
        }  # fmt: skip
        is_shell = name == "Bash" and not failed
        details = {"stdout": output, "stderr": "", "interrupted": False} if is_shell else text
        return self._row(
            "user", {"role": "user", "content": [result]}, step=1, toolUseResult=details
        )

    def _message(self, block: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": f"msg_{self.session}_{self._count}", "type": "message", "role": "assistant",
            "model": "claude-made", "content": [block], "stop_reason": None,
        }  # fmt: skip

    def _row(
        self, kind: str, message: dict[str, Any], step: int = STEP_S, **more: Any
    ) -> Transcript:
        self._count += 1
        self._now += dt.timedelta(seconds=step)
        name = f"{self.session}-{self._count}"
        row = {
            "parentUuid": self._parent, "isSidechain": False, "type": kind, "message": message,
            "uuid": name, "timestamp": self._now.isoformat().replace("+00:00", "Z"), **more,
            "userType": "external", "cwd": self._cwd, "sessionId": self.session,
            "version": "2.1.330", "gitBranch": "main",
        }  # fmt: skip
        self._parent = name
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        return self
