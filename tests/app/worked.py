"""A repository in which somebody works, with the daemon's sessions beside it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

from triseek.app.hook_handler import HookHandler
from triseek.daemon.services import SessionService
from triseek.daemon.verbs import SESSION_VERBS, bound
from triseek.engine.service import Service
from triseek.memo.memo import Memo
from triseek.sessions.recording import Action

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "src/a.py": "".join(f"line {number} of a\n" for number in range(1, 41)),
    "src/b.py": "one\ntwo\nthree\n",
    "gone.py": "here\n",
}


def git(root: Path | str, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=root, capture_output=True, check=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Worked:
    """The daemon's own objects, without its socket."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.root = os.path.realpath(folder / "repo")
        self.path = folder / "repo"
        (self.path / "src").mkdir(parents=True)
        for name, text in FILES.items():
            (self.path / name).write_text(text)
        git(self.root, "init", "-qb", "work")
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", "first")
        self.settings = settings
        self.begin()

    def begin(self) -> None:
        """Be a new daemon."""
        self.service = Service()
        self.memo = Memo(None)
        self.keeping = SessionService(self.service, self.memo, **self.settings)
        self.hook_handler = HookHandler(self.service, self.memo, self.keeping.recorder)
        self._calls = bound(self.keeping, SESSION_VERBS)

    def ask(self, verb: str, **params: Any) -> Any:
        """Ask as a client does: JSON in, JSON out."""
        heard = json.loads(json.dumps({"target_root": self.root, **params}))
        return json.loads(json.dumps(self._calls[verb](heard, None)))

    def hook(self, event: str, **more: Any) -> str:
        told = {"session_id": "s", "hook_event_name": event, "cwd": self.root, **more}
        return self.hook_handler.hook(json.dumps(told).encode(), "", "opencode", "/")

    def tool(self, tool: str, given: dict[str, Any], output: str = "") -> None:
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"c{time.monotonic_ns()}"}
        self.hook("PreToolUse", **call)
        self.hook("PostToolUse", tool_response=output, **call)

    def read(self, name: str, **more: Any) -> None:
        self.tool("read", {"filePath": os.path.join(self.root, name), **more}, "1: x")

    def act(self, kind: str, **payload: Any) -> int | None:
        action = Action(at_s=time.time(), kind=kind, conversation=None, payload=payload)
        return self.keeping.recorder.record(self.root, "", action)

    def entries(self, session_id: str) -> list[tuple[str, dict[str, Any]]]:
        """Kind and payload of all that was noted but openings and closings."""
        log = self.keeping.sessions.log(session_id)
        return [
            (entry.kind, entry.payload)
            for entry in log
            if entry.kind not in ("session_open", "session_close")
        ]
