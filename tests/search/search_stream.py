"""A generated stream of agents that search, and a judge of what they are told they have.

The agents, their conversations, their hooks and what is lost of them are those of the memo's
stream. Each session has a connection of its own to the search tools, which its sub-agents share.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.memo.clients import Result
from tests.memo.stream import Stream
from tests.memo.transcripts import OfCodex
from triseek.app.dispatch import Local, text
from triseek.app.hook_handler import HookHandler
from triseek.app.registry import TOOLS
from triseek.app.tool_context import ToolContext
from triseek.engine.roots import index_dir
from triseek.engine.tool_host import ToolHost
from triseek.index.build import build
from triseek.memo.memo import Memo
from triseek.model import token_estimate
from triseek.model.call import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tests.app.contexts import Daemon
    from tests.memo.agents import Agent
    from tests.memo.uses import Use

TOOL = {tool.name: tool for tool in TOOLS}
NAMED = {"claude-code": "mcp__triseek__{}", "codex": "mcp__triseek__{}",
         "opencode": "triseek_{}", "pi": "mcp__triseek__{}"}  # fmt: skip
Found = frozenset[tuple[str, int, bytes]]
"""Path, number and text of each line that matches; of a path that matches, without a line."""
QUESTIONS: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("search_content", {"query": "alpha_1"}),
    ("search_content", {"query": "beta_"}),
    ("search_content", {"query": "gamma_2", "limit": 5}),
    ("search_content", {"query": "return None", "output_mode": "files"}),
    ("search_content", {"query": "alpha_", "path": "src"}),
    ("search_content", {"query": "call\\(7\\d+\\)", "mode": "regex"}),
    ("search_content", {"query": "nowhere at all"}),
    ("find_files", {"query": "src"}),
    ("search_path_and_content", {"path_query": "docs/**", "content_query": "note"}),
)
PLUGINS = ("opencode", "pi")
NOT_MADE = 0.02
"""The share of calls that a hook announced and that are never made: a person said no."""
CUT = 0.06
"""The share of answers of which an agent shows its model a part only."""


@dataclass
class SearchCount:
    """What a stream came to."""

    searches: int = 0
    repeated: int = 0
    """Of these, such as the context had in view, though the tree is as it was then."""
    reused: int = 0
    spared: int = 0
    """Tokens."""

    def __str__(self) -> str:
        return (
            f"{self.searches} searches, {self.repeated} repeated, {self.reused} reused, "
            f"{self.spared} tokens spared"
        )


class Given(NamedTuple):
    """An answer that was given as a whole."""

    text: str
    found: Found


class SearchStream(Stream):
    """Agents that search two watched trees."""

    def __init__(self, folder: Path, seed: int, daemon: Daemon) -> None:
        assert daemon.jobs is not None
        self.searched = SearchCount()
        self._jobs = daemon.jobs
        self._connections: dict[tuple[str, str], Local] = {}
        self._given: dict[tuple[int, str], Given] = {}
        """By connection and `search_id`."""
        self._lasting: list[Local] = []
        self._noted: dict[tuple[str, str], str] = {}
        """What plugins have noted of each use, by session and call; "" for two different texts."""
        super().__init__(folder, seed)
        for tree in self.trees:
            build(tree.root, index_dir(tree.root))
            daemon.watch(tree.root)

    def _start(self) -> None:
        self.memo = Memo(None, clock=lambda: self.now)
        self.hook_handler = HookHandler(self._jobs.service, self.memo, lambda _action: None)
        self._connections.clear()

    def finish(self) -> None:
        """Nothing is left to sum up."""

    def steps(self) -> Sequence[tuple[Callable[[Agent], None], float]]:
        """Searches, and all that takes answers out of view or makes them wrong."""
        return (
            (self._search, 55), (self._edit, 3), (self._outside, 4), (self._other, 4),
            (self._prompt, 7), (self._rewind, 2.5), (self.compact, 1.2), (self._clear, 0.7),
            (self._leave, 0.6), (self._resume, 0.7), (self._fork, 0.5), (self._child, 1.6),
            (self._silently, 2), (self._idle, 0.12), (self._restart, 0.1), (self._stop, 0.2),
        )  # fmt: skip

    def call(self, agent: Agent) -> str:
        """An id; some agents number their calls anew in each answer."""
        call = super().call(agent)
        if agent.client.name in PLUGINS and agent.session.endswith(("a", "b")):
            return f"call_{self.rng.randrange(4)}"
        return call

    # Searches

    def _search(self, agent: Agent) -> None:
        if agent.client.name not in NAMED:
            return
        self.answer(agent)
        tool, arguments = self.rng.choice(QUESTIONS)
        call, name = self.call(agent), NAMED[agent.client.name].format(tool)
        if agent.transcript:
            agent.transcript.use(call, name, dict(arguments))
            agent.transcript.flush(keep=self.rng.randrange(2))
        self.hook(agent, agent.client.before(agent, name, dict(arguments), call))
        if self.rng.random() < 0.03:
            self._outside(agent)
        if self.rng.random() < NOT_MADE:
            return
        local = self._connection(agent)
        call_of = Call(who=self._who_calls(agent, call), is_recorded=False)
        _, envelope, _ = answered = local(TOOL[tool], arguments, call_of)
        whole = text(TOOL[tool], answered.arguments, envelope)
        self._judge(agent, local, tool, arguments, envelope, whole)
        self._show(agent, call, name, dict(arguments), whole)

    def _connection(self, agent: Agent) -> Local:
        if self.is_down:  # a process that has no memo answers
            self._lasting.append(Local(ToolContext(self._host(agent, {}))))
            return self._lasting[-1]
        key = (agent.session, agent.tree.root)
        if key not in self._connections:
            local = Local(ToolContext(self._host(agent, {"memo": self.memo})))
            self._connections[key] = local
            self._lasting.append(local)  # so that no other has its id
        return self._connections[key]

    def _host(self, agent: Agent, services: Mapping[str, Any]) -> ToolHost:
        return ToolHost(service=self._jobs.service, root=agent.tree.root, services=services)

    def _who_calls(self, agent: Agent, call: str) -> dict[str, str]:
        who = {"harness": agent.client.name, "call": call}
        return who | ({"session": agent.session} if agent.client.name == "codex" else {})

    def _show(self, agent: Agent, call: str, name: str, given: dict[str, Any], whole: str) -> None:
        """Show the model an answer, or a part of it, and tell the hook."""
        client, told, shown = agent.client.name, whole, whole
        if self.rng.random() < CUT and len(whole) > 40:
            shown = f"{whole[:20]}…{len(whole)} tokens truncated…{whole[-20:]}"
            if client == "claude-code":
                told = shown = f"Error: result ({len(whole):,} characters) exceeds maximum"
        if call.startswith("exec-"):  # a script gets it
            shown = ""
        agent.note(f"{call} {name} {given} {shown[:60]!r}")
        self._note(agent, call, told)
        transcript, agent.transcript = agent.transcript, None
        self.show(agent, call, Result(shown, [], told))
        agent.transcript = transcript
        response: Any = told
        if isinstance(transcript, OfCodex):
            response = {"content": [{"type": "text", "text": told}], "isError": False}
            blocks = [{"type": "input_text", "text": part} for part in ("Wall time: 0 s", shown)]
            name_of = f"call_{call}" if call.startswith("exec-") else call
            transcript.output(name_of, blocks)
        elif transcript:
            response = [{"type": "text", "text": told}]
            transcript.result(call, shown, failed=False, response=response)
        self.tell(agent, name, given, call, Result(told, [], response))

    # Plugins

    def _do(self, agent: Agent, use: Use, call: str) -> Result:
        result = super()._do(agent, use, call)
        self._note(agent, call, result.text)
        return result

    def _note(self, agent: Agent, call: str, told: str) -> None:
        before = self._noted.setdefault((agent.session, call), told)
        if before != told:
            self._noted[agent.session, call] = ""

    def answer(self, agent: Agent) -> None:
        """Let the model answer; a plugin sees which outputs are whole in what was sent."""
        super().answer(agent)
        if agent.client.name in PLUGINS:
            agent.sent = frozenset(
                output.call
                for output in agent.view.outputs
                if output.text and self._noted.get((agent.session, output.call)) == output.text
            )

    # The judge

    def _judge(
        self, agent: Agent, local: Local, tool: str, arguments: Mapping[str, Any],
        envelope: Mapping[str, Any], whole: str,
    ) -> None:  # fmt: skip
        count, found = self.searched, found_in(agent.tree.root, arguments)
        count.searches += 1
        key = (id(local), envelope["search_id"])
        if envelope.get("reuse_status") != "fresh_duplicate":
            self._given[key] = Given(whole, found)
            count.repeated += any(output.text == whole for output in agent.view.outputs)
            return
        given = self._given[key]
        count.reused += 1
        count.repeated += 1
        count.spared += token_estimate.of_source_text(given.text)
        count.spared -= token_estimate.of_source_text(whole)
        if not any(output.text == given.text for output in agent.view.outputs):
            self.judge.fault(agent, f"not in view: {tool} {arguments}\n{given.text[:300]}")
        if given.found != found:
            self.judge.fault(agent, f"not so any more: {tool} {arguments} {given.found ^ found}")


def found_in(root: str, arguments: Mapping[str, Any]) -> Found:
    """What a question finds, by looking at every file."""
    query = str(arguments.get("query") or arguments["content_query"])
    pattern = re.compile((query if arguments.get("mode") == "regex" else re.escape(query)).encode())
    below = arguments.get("path") or str(arguments.get("path_query", "")).removesuffix("/**")
    found = set()
    for folder, folders, names in os.walk(os.path.join(root, below)):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = os.path.join(folder, name)
            if name.startswith(".") or os.path.islink(path):
                continue
            shown = os.path.relpath(path, root)
            if query in shown:
                found.add((shown, 0, b""))
            with open(path, "rb") as file:
                lines = enumerate(file.read().split(b"\n"), 1)
            found |= {(shown, number, line) for number, line in lines if pattern.search(line)}
    return frozenset(found)
