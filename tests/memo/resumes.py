"""Work that is gone on with, in every way a payload may come to an agent or not."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, NamedTuple

from tests.memo.agents import Output
from tests.memo.clients import Result
from tests.memo.tree import lines_of, rendered
from tests.memo.uses import Line
from triseek.memo.memo import Asked, Primed, PrimedFile

if TYPE_CHECKING:
    from tests.memo.agents import Agent
    from tests.memo.stream import Stream
    from tests.memo.tree import Tree

PROJECT_FILES = {
    "claude-code": "CLAUDE.md", "codex": "AGENTS.md", "opencode": "AGENTS.md", "pi": "AGENTS.md",
    "gemini": "GEMINI.md",
}  # fmt: skip
CODEX_READS = 32 * 1024
INSTRUCTIONS = "instructions"
"""What the view calls the output that a context begins with."""


class Payload(NamedTuple):
    """A payload, and what really stands in it."""

    text: str
    lines: list[Line]
    ends: list[int]
    """Where in the text each of these lines ends."""
    files: tuple[PrimedFile, ...]
    held: dict[str, bytes]
    """What the files hold, by real path."""


class Resumes:
    """Snapshots of work that are resumed in a stream's trees."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._count = 0
        self._written: dict[str, tuple[str, list[Line]]] = {}
        """What we have put into project files, by path."""

    def happens(self, agent: Agent) -> None:
        """Somebody resumes; an agent by its tool, a person into a file, or on a screen."""
        stream = self._stream
        if stream.is_down:
            return
        self._count += 1
        snapshot = f"snap_{self._count}_work"
        payload = self._payload(agent.tree, snapshot)
        match stream.rng.choices(("tool", "file", "print"), (6, 4, 1))[0]:
            case "tool":
                self._by_tool(agent, snapshot, payload)
            case "file":
                self._prime(agent, snapshot, payload, Asked(harness=agent.client.name))
                self._write(agent.tree, payload)
                if stream.rng.random() < 0.6:
                    self._end_one(agent)
                    agent = stream.begin("startup", agent.client, agent.tree)
            case _:
                self._prime(agent, snapshot, payload, Asked())
        if payload.lines and stream.rng.random() < 0.6:
            stream.check(agent, stream.rng.choice(payload.lines).path)
            if stream.rng.random() < 0.15:
                stream.compact(agent)
                stream.check(agent, stream.rng.choice(payload.lines).path)

    def _end_one(self, agent: Agent) -> None:
        """Somebody makes room for another."""
        if not agent.name:
            self._stream.end(agent, "other")

    def spoils(self, agent: Agent) -> None:
        """A project file is rewritten by somebody."""
        path = agent.tree.path(self._stream.rng.choice(sorted(set(PROJECT_FILES.values()))))
        text = (agent.tree.read(path) or b"").decode()
        kept = text[: self._stream.rng.randrange(len(text) + 1)]
        agent.tree.write(path, kept.encode())

    def begins_with(self, agent: Agent) -> None:
        """What an agent has in view of its project's file when it starts."""
        path = agent.tree.path(PROJECT_FILES.get(agent.client.name, "none"))
        text, lines = self._written.get(path, ("", []))
        held = (agent.tree.read(path) or b"").decode()
        if held != text or len(held) > CODEX_READS:
            return
        shown = _views(lines)
        agent.view.add(Output(INSTRUCTIONS, shown, -(-len(text) * 2 // 7), is_payload=True))

    def _payload(self, tree: Tree, snapshot: str) -> Payload:
        rng = self._stream.rng
        head = f"# TriSeek Hydration Payload\n\n- snapshot_id: {snapshot}\n"
        text, lines, ends, files = head, [], [], []
        held: dict[str, bytes] = {}
        for name in rng.sample(tree.names(), 8):
            path = os.path.realpath(tree.path(name))
            data = tree.read(path) or b""
            if not data or b"\0" in data or path in held:
                continue
            quoted = range(0)
            if rng.random() < 0.7 and len(data) < 9_000:
                count = len(lines_of(data))
                first = 1 if rng.random() < 0.8 else rng.randrange(1, count + 1)
                last = count if rng.random() < 0.8 else rng.randrange(first, count + 1)
                quoted = range(first, last + 1)
            text += "\n```text\n"
            for number in quoted:
                lines.append(Line(path, number, rendered(lines_of(data)[number - 1]), 1))
                ends.append(len(text) + len(lines[-1].text))
                text += lines[-1].text + "\n"
            text += "```\n"
            held[path] = data
            spans = ((quoted[0], quoted[-1]),) if quoted else ()
            sha = hashlib.sha256(data).hexdigest()
            files.append(PrimedFile(path, sha, -(-len(data) * 2 // 7), (), spans))
        return Payload(text, lines, ends, tuple(files), held)

    def _prime(self, agent: Agent, snapshot: str, payload: Payload, who: Asked) -> None:
        stream, root = self._stream, agent.tree.root
        stream.judge.count.events += 1
        stream.judge.resumed[root] = (snapshot, payload.held)
        agent.note(f"{snapshot} resumed by {who}")
        stream.memo.prime(root, Primed(snapshot, who, payload.files))

    def _by_tool(self, agent: Agent, snapshot: str, payload: Payload) -> None:
        stream, rng = self._stream, self._stream.rng
        stream.answer(agent)
        call, given = stream.call(agent), {"snapshot_id": snapshot}
        name = agent.client.memo_tool.replace("memo_check", "session_resume")
        if agent.transcript:
            agent.transcript.use(call, name, given)
            agent.transcript.flush(keep=rng.randrange(2))
        stream.hook(agent, agent.client.before(agent, name, given, call))
        who = Asked(call=call) if rng.random() < 0.9 else Asked(agent.session, agent.name)
        self._prime(agent, snapshot, payload, who)
        text, lines = payload.text, payload.lines
        if rng.random() < 0.15:  # the agent shows its model the beginning
            text = text[: rng.randrange(len(text))]
            shown = zip(lines, payload.ends, strict=True)
            lines = [line for line, end in shown if end <= len(text)]
        told = json.dumps({"payload_markdown": text}) if rng.random() < 0.3 else text
        response = [{"type": "text", "text": told}] if rng.random() < 0.5 else told
        result = Result(text, lines, response)
        if call.startswith("exec-") and rng.random() < 0.7:
            result = result._replace(text="", lines=[])
        stream.show(agent, call, result, is_payload=True)
        if rng.random() < 0.1:
            agent.tree.happens()
        stream.tell(agent, name, given, call, result)

    def _write(self, tree: Tree, payload: Payload) -> None:
        for name in sorted(set(PROJECT_FILES.values())):
            if self._stream.rng.random() < 0.7:
                path = tree.path(name)
                tree.write(path, payload.text.encode())
                self._written[path] = (payload.text, payload.lines)


def _views(lines: list[Line]) -> tuple[tuple[str, int, str], ...]:
    return tuple((line.path, line.number, line.text) for line in lines)
