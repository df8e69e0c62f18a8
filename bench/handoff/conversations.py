"""Plays conversations: what persons asked, prompt by prompt, and how much of it a payload carries.

The prompts are those of `conversations.toml`, which was written before the payload. What the
agent did in between is drawn with a seed: reads, searches, edits and commands, told by the hooks of
Claude Code, so that a person's words have to share the payload's room with everything else.

An instruction is a sentence of a prompt that asks for something. Lines that were pasted are told
to the agent, and are no instructions.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import subprocess
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.app import registry
from triseek.app.hook_handler import HookHandler
from triseek.app.tool_context import ToolContext
from triseek.engine.tool_host import ToolHost
from triseek.memo.memo import Memo
from triseek.model import token_estimate
from triseek.model.call import Call
from triseek.search.requests import SearchContentRequest
from triseek.sessions import hydration
from triseek.sessions.checkpoints import Checkpoints
from triseek.sessions.hydration import Drift
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.recording import Recorder
from triseek.sessions.requests import PinnedLines, SessionSnapshotRequest
from triseek.sessions.snapshot import Snapshots

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.engine.service import Service

_FILE = Path(__file__).with_name("conversations.toml")
SEED = "conversations 1"
BUDGETS = (256, 500, 1_000, 3_000)
"""Tokens; the last is the default."""
PASTED = "| "
FILES, LINES = 60, 40
"""Of the tree that the agent works in."""
_SEARCH = next(tool for tool in registry.TOOLS if tool.name == "search_content")
_COMMANDS = (
    ("pytest -q", 1), ("pytest -q", 0), ("npm test", 1), ("make lint", 2), ("git status", 0),
    ("cargo build", 101), ("python scripts/check.py", 0), ("ls src", 0), ("go test ./...", 1),
)  # fmt: skip
_END = re.compile(r"(?<=[.!?])\s+")
_LEFT_OUT = re.compile(r"(?i)left out")


class Conversation(NamedTuple):
    """What one person asked."""

    name: str
    prompts: tuple[str, ...]
    """As they are told, pasted lines included."""
    subjects: tuple[int, ...]
    """Prompts with which a new subject begins."""
    instructions: tuple[tuple[int, str], ...]
    """Each with the number of its prompt."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What one payload carries of a conversation."""

    tokens: int
    instructions: float
    """The share of them that it holds, word for word."""
    follows: bool
    """Whether the first that it holds is of the last subject."""
    pinned: bool
    counts: bool
    """Whether it says that something was left out, or nothing was."""


def conversations() -> list[Conversation]:
    """All of them."""
    return [
        _read(body) for body in tomllib.loads(_FILE.read_text(encoding="utf-8"))["conversation"]
    ]


def run(service: Service, folder: Path) -> list[dict[str, Any]]:
    """Play all; returns by name what the payload of each budget carried."""
    return [
        {
            "name": conversation.name,
            "prompts": len(conversation.prompts),
            "subjects": len(conversation.subjects),
            "instructions": len(conversation.instructions),
            "carried": [
                [one.tokens, round(one.instructions, 3), one.follows, one.pinned, one.counts]
                for one in play(conversation, service, folder / conversation.name)
            ],
        }
        for conversation in conversations()
    ]


def faults(played: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What must not be: words that are lost at the default budget, or uncounted at any."""
    for one in played:
        for budget, (_, share, follows, pinned, counts) in zip(
            BUDGETS, one["carried"], strict=True
        ):
            where = f"{one['name']}, {budget} tokens"
            if budget == BUDGETS[-1] and not (share == 1.0 and follows and pinned):
                yield f"{where}: an instruction, the last subject or a pin is missing"
            if not counts:
                yield f"{where}: what was left out is not counted"


def play(conversation: Conversation, service: Service, folder: Path) -> list[Carried]:
    """Play one; returns what the payload carries, by budget."""
    with contextlib.closing(Memo(str(folder / "memo"))) as memo:
        day = _Day(service, folder, memo, conversation.name)
        for number, prompt in enumerate(conversation.prompts):
            day.prompt(prompt)
            day.work(number)
        payloads = day.hand_off()
    return [carried(conversation, text, day.pin) for text in payloads]


def carried(conversation: Conversation, text: str, pin: str) -> Carried:
    """What a payload carries."""
    plain = _plain(text)
    places = {
        (number, words): plain.find(_plain(words)) for number, words in conversation.instructions
    }
    held = {key: place for key, place in places.items() if place >= 0}
    first = min(held, key=lambda key: held[key], default=(-1, ""))
    share = len(held) / len(places)
    return Carried(
        tokens=token_estimate.of_text(text),
        instructions=share,
        follows=first[0] >= conversation.subjects[-1],
        pinned=_plain(pin) in plain,
        counts=share == 1.0 or _LEFT_OUT.search(text) is not None,
    )


class _Day:
    """A repository in which an agent works on one conversation."""

    def __init__(self, service: Service, folder: Path, memo: Memo, name: str) -> None:
        self._tree = folder / "tree"
        self._draw = random.Random(f"{SEED} {name}")
        self._paths = [f"src/part_{n % 6}/module_{n}.py" for n in range(FILES)]
        for path in self._paths:
            self._write(path)
        subprocess.run(["git", "init", "--quiet", str(self._tree)], check=True)
        self._root = str(self._tree)
        service.engine(self._root, exact=True).update()
        self._sessions = Sessions(folder / "sessions")
        self._snapshots = Snapshots(folder / "snapshots")
        recorder = Recorder(self._sessions, lambda *_: None)
        self._hooks = HookHandler(service, memo, recorder, refuse=False)
        self._checkpoints = Checkpoints(service, self._sessions, self._snapshots)
        self._context = ToolContext(
            ToolHost(service=service, root=self._root),
            lambda root, action: recorder.of_tools(
                root, replace(action, session_id=self._session())
            ),
        )
        self._calls = 0
        self.pin = ""

    def prompt(self, text: str) -> None:
        """Somebody asks for something."""
        self._hook("UserPromptSubmit", prompt=text)

    def work(self, number: int) -> None:
        """What the agent does then; after the second prompt it pins a line."""
        for path in self._draw.sample(self._paths, 4):
            text = (self._tree / path).read_text()
            file = {"content": text, "startLine": 1, "numLines": LINES, "totalLines": LINES}
            self._use("Read", {"file_path": str(self._tree / path)}, {"type": "text", "file": file})
        for name in self._draw.sample(range(FILES), 2):
            self._search(f"name_{name}_7")
        self._search(f"nowhere_{self._draw.randrange(99)}")
        for path in self._draw.sample(self._paths, 2):
            self._write(path)
            self._use("Edit", {"file_path": str(self._tree / path)}, {"filePath": path})
        for command, code in self._draw.sample(_COMMANDS, 3):
            self._run(command, code)
        if number == 1:
            self._pin()

    def hand_off(self) -> list[str]:
        """The payload at each budget."""
        manifest, _ = self._checkpoints.take(self._session(), SessionSnapshotRequest())
        snapshot = self._snapshots.get(manifest.snapshot_id)
        git = snapshot.git
        since = Drift(git.commit, git.branch, git.dirty_files, 0)
        return [hydration.payload(snapshot, since, (), budget).text for budget in BUDGETS]

    def _pin(self) -> None:
        path = self._draw.choice(self._paths)
        self.pin = (self._tree / path).read_text().splitlines()[4]
        lines = (PinnedLines(path=path, line_start=5, line_end=5),)
        self._checkpoints.take(self._session(), SessionSnapshotRequest(pinned_snippet_paths=lines))

    def _session(self) -> str:
        session = self._sessions.current(self._root)
        return session.session_id if session is not None else ""

    def _search(self, query: str) -> None:
        call = Call()
        context = self._context.contexts[_SEARCH.toolset]
        envelope = _SEARCH.answer(context, SearchContentRequest(query=query), call)
        self._context.record(_SEARCH, {"query": query}, envelope, call)

    def _run(self, command: str, code: int) -> None:
        said = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False}
        self._calls += 1
        use = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": self._id()}
        if code:
            self._hook("PostToolUseFailure", error=f"Exit code {code}\nno", **use)
        else:
            self._hook("PostToolUse", tool_response=said, **use)

    def _use(self, tool: str, tool_input: dict[str, Any], response: dict[str, Any]) -> None:
        self._calls += 1
        self._hook(
            "PostToolUse", tool_name=tool, tool_input=tool_input, tool_response=response,
            tool_use_id=self._id(),
        )  # fmt: skip

    def _id(self) -> str:
        return f"toolu_{self._calls:06}"

    def _hook(self, event: str, **fields: Any) -> None:  # noqa: ANN401
        payload = {"session_id": "one", "hook_event_name": event, "cwd": self._root, **fields}
        self._hooks.hook(json.dumps(payload).encode(), event, "claude-code", self._root)

    def _write(self, path: str) -> None:
        number = self._paths.index(path)
        lines = [f"name_{number}_{n} = {self._draw.randrange(10**6)}" for n in range(LINES)]
        file = self._tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")


def _read(body: dict[str, Any]) -> Conversation:
    prompts: Sequence[str] = body["prompts"]
    idle = set(body["idle"])
    return Conversation(
        body["name"],
        tuple(_told(prompt) for prompt in prompts),
        tuple(body["subjects"]),
        tuple(
            (number, words)
            for number, prompt in enumerate(prompts)
            if number not in idle
            for words in _sentences(prompt)
        ),
    )


def _told(prompt: str) -> str:
    return "\n".join(line.removeprefix(PASTED) for line in _lines(prompt))


def _sentences(prompt: str) -> Iterator[str]:
    for line in _lines(prompt):
        if line.startswith(PASTED):
            continue
        for words in _END.split(line.strip()):
            if re.search(r"[^\W\d_]", words):
                yield words


def _lines(prompt: str) -> list[str]:
    return [line + " " if line == PASTED.strip() else line for line in prompt.splitlines()]


def _plain(text: str) -> str:
    """Words alone: a quotation's marks and line ends are nothing that was said."""
    lines = (re.sub(r"^\s*(?:[>*-]+\s+)*", "", line) for line in text.splitlines())
    return " ".join(" ".join(lines).replace("&lt;", "<").split())
