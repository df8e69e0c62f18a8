"""Conversations on disk, written as Claude Code and Codex write them."""

from __future__ import annotations

import json
import os
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

Entry = dict[str, Any]


class Transcript:
    """A file that grows at its end; what was said last may not be in it yet."""

    def __init__(self, path: str, rng: random.Random, session: str) -> None:
        self.path, self.session, self._rng = path, session, rng
        self._unwritten: list[str] = []
        self.turn = self.new_id()
        """The id of the prompt that is being answered, which hooks are told too."""
        os.makedirs(os.path.dirname(path), exist_ok=True)

    def put(self, entry: Entry) -> None:
        self._unwritten.append(json.dumps(entry))

    def flush(self, keep: int = 0) -> None:
        """Write all but the last so many entries."""
        till = len(self._unwritten) - keep
        if till > 0:
            with open(self.path, "a") as file:
                file.writelines(line + "\n" for line in self._unwritten[:till])
            del self._unwritten[:till]

    def new_id(self) -> str:
        return str(uuid.UUID(int=self._rng.getrandbits(128), version=4))


class OfClaude(Transcript):
    """Entries that point to their parents: a tree, of which the last entry's branch is in view."""

    def __init__(self, path: str, rng: random.Random, session: str, agent: str = "") -> None:
        super().__init__(path, rng, session)
        self._agent = agent
        self.branch: list[Entry] = []

    def mark(self) -> int:
        return len(self.branch)

    def rewind(self, mark: int) -> None:
        """The next entry begins another branch; nothing is written of it."""
        del self.branch[mark:]

    def _add(self, kind: str, **more: Any) -> None:
        entry = {
            "parentUuid": self.branch[-1]["uuid"] if self.branch else None,
            "isSidechain": bool(self._agent), "userType": "external", "cwd": "/work",
            "sessionId": self.session, "version": "2.1.330", "gitBranch": "main",
            **({"agentId": self._agent} if self._agent else {}),
            **({"promptId": self.turn} if kind == "user" else {}),
            "type": kind, "uuid": self.new_id(), "timestamp": "2026-11-22T10:00:00.000Z", **more,
        }  # fmt: skip
        self.branch.append(entry)
        self.put(entry)

    def prompt(self, text: str) -> None:
        self.turn = self.new_id()
        self._add("user", message={"role": "user", "content": text})

    def use(self, call: str, name: str, given: Entry) -> None:
        content = [{"type": "tool_use", "id": call, "name": name, "input": given}]
        message = {"id": f"msg_{call}", "type": "message", "role": "assistant",
                   "model": "claude", "content": content, "stop_reason": None}  # fmt: skip
        self._add("assistant", message=message, requestId=f"req_{call}")

    def result(self, call: str, text: str, *, failed: bool, response: object) -> None:
        content = {"tool_use_id": call, "type": "tool_result", "content": text}
        if failed:
            content["is_error"] = True
        self._add("user", message={"role": "user", "content": [content]}, toolUseResult=response)

    def compact(self) -> None:
        last = self.branch[-1]["uuid"] if self.branch else None
        self.branch = []
        self._add("system", subtype="compact_boundary", content="Conversation compacted",
                  logicalParentUuid=last, compactMetadata={"trigger": "auto", "preTokens": 9},
                  isMeta=False, level="info")  # fmt: skip
        self._add("user", isCompactSummary=True, isVisibleInTranscriptOnly=True,
                  message={"role": "user", "content": "Continued from before."})  # fmt: skip

    def fork(self, path: str, session: str) -> OfClaude:
        """Another session that begins with this one's branch."""
        other = OfClaude(path, self._rng, session)
        other.branch = [{**entry, "sessionId": session} for entry in self.branch]
        for entry in other.branch:
            other.put(entry)
        other.flush()
        return other


class OfCodex(Transcript):
    """Items one after the other; what was taken back is named, not removed."""

    def __init__(self, path: str, rng: random.Random, session: str) -> None:
        super().__init__(path, rng, session)
        self.items: list[Entry] = []
        self._put("session_meta", {"id": session, "cwd": "/work", "originator": "codex_exec"})

    def _put(self, kind: str, payload: Entry) -> None:
        entry = {"timestamp": "2026-11-22T10:00:00.000Z", "type": kind, "payload": payload}
        self.items.append(entry)
        self.put(entry)

    def mark(self) -> int:
        """How many turns there were."""
        return sum(entry["type"] == "turn_context" for entry in self._live())

    def _live(self) -> list[Entry]:
        return self.items

    def rewind(self, mark: int) -> None:
        turns = self.mark() - mark
        self._put("event_msg", {"type": "thread_rolled_back", "num_turns": turns})
        starts = [at for at, item in enumerate(self.items) if item["type"] == "turn_context"]
        del self.items[starts[mark] :]

    def prompt(self, text: str) -> None:
        self.turn = self.new_id()
        self._put("turn_context", {"cwd": "/work", "model": "gpt", "turn_id": self.turn})
        content = [{"type": "input_text", "text": text}]
        self._put("response_item", {"type": "message", "role": "user", "content": content})
        self._put("event_msg", {"type": "user_message", "message": text})

    def use(self, call: str, name: str, given: Entry) -> None:
        if call.startswith("exec-"):  # a program that the model wrote calls the tool
            code = f"await tools.exec_command({json.dumps(given)})"
            item = {"type": "custom_tool_call", "name": "exec", "input": code}
            self._put("response_item", {**item, "call_id": f"call_{call}", "status": "completed"})
            return
        if name == "apply_patch":
            item = {"type": "custom_tool_call", "name": name, "input": given["command"]}
        else:
            arguments = json.dumps({"cmd": given.get("command", given)})
            item = {"type": "function_call", "name": "exec_command", "arguments": arguments}
        self._put("response_item", {**item, "call_id": call})

    def result(self, call: str, text: str, *, failed: bool, response: object) -> None:
        if call.startswith("exec-"):
            output: object = [{"type": "input_text", "text": text}]
            item = {"type": "custom_tool_call_output", "call_id": f"call_{call}", "output": output}
        else:
            code = f"Process exited with code {int(failed)}"
            output = f"Chunk ID: 1\nWall time: 0.1 seconds\n{code}\nOutput:\n{text}"
            item = {"type": "function_call_output", "call_id": call, "output": output}
        self._put("response_item", item)

    def output(self, call: str, blocks: list[Entry]) -> None:
        """What a server's tool has answered."""
        item = {"type": "function_call_output", "call_id": call, "output": blocks}
        self._put("response_item", item)

    def compact(self) -> None:
        summary = {"type": "message", "role": "user",
                   "content": [{"type": "input_text", "text": "A summary."}]}  # fmt: skip
        self._put("compacted", {"message": "", "replacement_history": [summary]})
        self._put("event_msg", {"type": "context_compacted"})

    def fork(self, path: str, session: str) -> OfCodex:
        other = OfCodex(path, self._rng, session)
        for item in self.items[1:]:
            other.items.append(item)
            other.put(item)
        other.flush()
        return other
