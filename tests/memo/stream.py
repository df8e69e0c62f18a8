"""A generated stream of everything agents do, told to the memo as their hooks would tell it."""

from __future__ import annotations

import json
import os
import random
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tests.memo.agents import Agent, Output
from tests.memo.clients import CLIENTS, SHARES, Result, Said, is_refusal
from tests.memo.judge import FRESH_FOR, Judge
from tests.memo.resumes import INSTRUCTIONS, Resumes
from tests.memo.transcripts import OfClaude, OfCodex
from tests.memo.tree import Tree
from tests.memo.uses import Reader, Use, shown
from triseek.app.hook_handler import HookHandler
from triseek.engine.service import Service
from triseek.memo.memo import Asked, Memo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

LOST = 0.03
"""The share of hooks that never arrive."""
LATE = 0.08
"""Of what Claude Code's hooks tell after a use, which agents do not wait for."""
CLEARED_ABOVE = 75_000
KEPT = 5
"""Claude Code clears all outputs but the last five of a long context, and tells nobody."""
IDLE = 31 * 60
MAIN_AGENTS = 9
OTHERS_UNSEEN = 0.1


class Stream:
    """Agents at work in two roots, one daemon, and a judge."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.judge = Judge()
        self.now = 1_790_000_000.0
        self._folder = folder
        self._calls = 0
        self._down = 0
        self._late: list[tuple[int, Agent, Said]] = []
        self._of: defaultdict[str, list[Agent]] = defaultdict(list)
        self.trees = [Tree(folder / name, self.rng) for name in ("one", "two")]
        self.readers = {tree.root: Reader(tree, self.rng) for tree in self.trees}
        self.agents: list[Agent] = []
        self.resumes = Resumes(self)
        self.service = Service()
        self._start()

    def _start(self) -> None:
        self.memo = Memo(str(self._folder / "memo"), clock=lambda: self.now)
        self.hook_handler = HookHandler(self.service, self.memo, lambda _action: None)

    def close(self) -> None:
        self.memo.close()
        self.service.close()

    # The stream

    def steps(self) -> Sequence[tuple[Callable[[Agent], None], float]]:
        """What may happen to an agent, and how often each does."""
        return (
            (self._read, 50), (self._parallel, 4), (self._edit, 6), (self._outside, 9),
            (self._other, 5), (self._prompt, 7), (self._check, 10), (self._status, 3),
            (self._session, 3), (self._rewind, 2.5), (self.compact, 1.2), (self._clear, 0.7),
            (self._leave, 0.6), (self._resume, 0.7), (self._fork, 0.5), (self._child, 1.6),
            (self._silently, 2), (self._idle, 0.12), (self._restart, 0.3),
            (self._stop, 0.2), (self._save, 3), (self.resumes.happens, 2.5),
            (self.resumes.spoils, 0.3),
        )  # fmt: skip

    def run(self, events: int) -> None:
        ways, weights = zip(*self.steps(), strict=True)
        count = self.judge.count
        while count.events < events:
            while sum(not agent.name for agent in self.agents) < MAIN_AGENTS:
                self.begin("startup")
            self.now += self.rng.uniform(0.5, 12)
            self._down -= self._down > 0
            self._deliver_late()
            self.rng.choices(ways, weights)[0](self.rng.choice(self.agents))
        self.finish()

    def finish(self) -> None:
        """Sum up."""
        for agent in self.agents:
            self._session(agent)
        self.judge.count.saved, self.judge.count.spared = self._sums()

    def _sums(self) -> tuple[int, int]:
        """Tokens that sessions still at work were spared: as the memo says, and truly."""
        saved = spared = 0
        for session in dict.fromkeys(agent.session for agent in self.agents):
            agents = self._of[session]
            who = Asked(session=session, harness=agents[0].client.name)
            saved += self.memo.session(agents[0].tree.root, who)["tokens_saved"]
            spared += sum(refusal.spared() for agent in agents for refusal in agent.refusals)
        return saved, spared

    @property
    def is_down(self) -> bool:
        """Whether there is no daemon."""
        return self._down > 0

    # Hooks

    def hook(self, agent: Agent, said: Said, *, loses: bool = False) -> str:
        """Tell the daemon, if it is heard. loses: it says that the view lost something."""
        self.judge.count.events += 1
        if loses:
            agent.is_known = False
        if self._down or self.rng.random() < LOST:
            agent.note(f"{said.event} lost")
            return ""
        agent.heard += 1
        return self._heard(agent, said)

    def _heard(self, agent: Agent, said: Said) -> str:
        payload = json.dumps(said.payload).encode()
        answer = self.hook_handler.hook(payload, said.event, agent.client.name, agent.cwd)
        agent.heard_at = self.now
        agent.is_known = True
        return answer

    def _deliver_late(self) -> None:
        for item in [item for item in self._late if item[0] <= self.judge.count.events]:
            self._late.remove(item)
            _, agent, said = item
            agent.note(f"{said.event} {said.payload.get('tool_use_id')} late")
            known = agent.is_known
            self._heard(agent, said)
            agent.is_known = known

    def call(self, agent: Agent) -> str:
        self._calls += 1
        if agent.client.name == "codex" and agent.session.endswith("c"):
            return f"exec-{self._calls:08}"
        return f"toolu_{self._calls:08}"

    # Reads

    def _choose(self, agent: Agent) -> Use:
        rng, reader = self.rng, self.readers[agent.tree.root]
        if agent.retry is not None:
            use, agent.retry = agent.retry, None
            return use
        if agent.past and rng.random() < 0.4:
            return rng.choice(agent.past[-8:])
        if not agent.focus or rng.random() < 0.1:
            agent.focus = [agent.tree.path(rng.choice(agent.tree.names())) for _ in range(4)]
        path = rng.choice(agent.focus)
        if rng.random() < 0.2:
            path = agent.tree.path(rng.choice(agent.tree.names()))
        if agent.client.reads_by_tool and rng.random() < 0.6:
            use = Use("read", (reader.portion(path),))
        else:
            use = reader.shell(path, agent.cwd)
        agent.past.append(use)
        return use

    def _read(self, agent: Agent) -> None:
        self._uses(agent, [self._choose(agent)])

    def _parallel(self, agent: Agent) -> None:
        """Several in one answer of the model: it sees their outputs only together."""
        self._uses(agent, [self._choose(agent), self._choose(agent)])

    def _uses(self, agent: Agent, uses: Sequence[Use]) -> None:
        self.answer(agent)
        done, heard = [], agent.heard
        for use in uses:
            if use.tool == "shell" and use.cwd != agent.cwd:
                use.cwd = agent.cwd = use.cwd or agent.cwd
            call = self.call(agent)
            name, given = agent.client.names[use.tool], agent.client.given(use)
            if agent.transcript:
                agent.transcript.use(call, name, given)
                agent.transcript.flush(keep=self.rng.randrange(2))
            said = self.hook(agent, agent.client.before(agent, name, given, call))
            is_denied = is_refusal(said)
            what = use.command or use.portions
            agent.note(f"{call} {what} {'denied' if is_denied else 'let through'}")
            self.judge.attempted(agent, use, is_denied=is_denied, now=self.now)
            if is_denied:
                self._refuse(agent, use, call)
            else:
                done.append((use, call, name, given, len(agent.refusals)))
        for use, call, name, given, refused in done:
            result = self._do(agent, use, call)
            self.tell(agent, name, given, call, result)
            if agent.heard > heard and use.is_plain:
                self.judge.was_shown(agent, result.lines, refused, self.now)

    def answer(self, agent: Agent) -> None:
        """The model answers: what is in its context now was sent."""
        agent.sent = agent.view.calls
        if agent.transcript:
            agent.transcript.flush()

    def _refuse(self, agent: Agent, use: Use, call: str) -> None:
        if agent.transcript:
            agent.transcript.result(call, "It is known.", failed=True, response="Error: known")
        if self.rng.random() < 0.25:
            agent.retry = use

    def _do(self, agent: Agent, use: Use, call: str) -> Result:
        if use.tool == "edit":
            agent.tree.edit(use.effects[0])
            result = Result("done", [], {"filePath": use.effects[0]})
        elif use.tool == "other":
            text = "other " * self.rng.choice((10, 500, 3000, 12_000))
            result = Result(text, [], text)
        else:
            result = agent.client.result(use, shown(use, agent.tree))
        if use.moves_to and agent.keeps_folder and not result.failed:
            agent.cwd = use.moves_to
        is_hidden = call.startswith("exec-") and self.rng.random() < 0.7
        if is_hidden:  # the model's own program kept it for itself
            result = result._replace(text="", lines=[])
        self.show(agent, call, result)
        return result

    def show(self, agent: Agent, call: str, result: Result, *, is_payload: bool = False) -> None:
        lines = [(line.path, line.number, line.text) for line in result.lines]
        real = {line.path: os.path.realpath(line.path) for line in result.lines}
        lines += [(real[path], number, text) for path, number, text in lines if real[path] != path]
        tokens = -(-len(result.text) * 2 // 7)
        agent.view.add(Output(call, tuple(lines), tokens, is_payload, result.text))
        if agent.transcript:
            agent.transcript.result(
                call, result.text, failed=result.failed, response=result.response
            )

    def tell(
        self, agent: Agent, name: str, given: dict[str, Any], call: str, result: Result
    ) -> None:
        said = agent.client.after(agent, name, given, call, result)
        if agent.client.name == "claude-code" and self.rng.random() < LATE:
            due = self.judge.count.events + self.rng.randrange(1, 60)
            self._late.append((due, agent, said))
        else:
            known = agent.is_known
            self.hook(agent, said)
            agent.is_known = known or agent.client.rewinds is not None

    def _edit(self, agent: Agent) -> None:
        path = agent.tree.path(self.rng.choice(agent.tree.names()))
        if agent.focus and self.rng.random() < 0.5:
            path = self.rng.choice(agent.focus)
        if os.path.isfile(path):
            self._uses(agent, [Use("edit", effects=[path])])

    def _other(self, agent: Agent) -> None:
        if self.rng.random() < OTHERS_UNSEEN:
            self.show(agent, self.call(agent), Result("other " * 2000, [], ""))
        else:
            self._uses(agent, [Use("other")])

    def _outside(self, agent: Agent) -> None:
        path = agent.tree.happens()
        for other in self.agents:
            if other.tree is agent.tree:
                other.note(f"something is done to {path}")
        if self.rng.random() < 0.3:  # the watcher's word; it is seldom the first to know
            self.memo.edited(path)

    # Conversations

    def begin(self, source: str, client: Any = None, tree: Tree | None = None) -> Agent:
        rng = self.rng
        client = client or rng.choices(CLIENTS, SHARES)[0]
        tree = tree or rng.choice(self.trees)
        agent = Agent(client, f"{rng.getrandbits(64):016x}", tree, tree.root)
        if rng.random() < 0.2:
            agent.cwd = tree.path("src")
        self._on_disk(agent)
        self._join(agent)
        self.resumes.begins_with(agent)
        self._say(agent, "SessionStart", source=source)
        self._prompt(agent)
        return agent

    def _on_disk(self, agent: Agent) -> None:
        folder = self._folder / "conversations"
        agent.main_transcript = str(folder / f"{agent.session}.jsonl")
        if agent.client.name == "claude-code":
            agent.transcript = OfClaude(agent.main_transcript, self.rng, agent.session)
        elif agent.client.name == "codex":
            agent.transcript = OfCodex(agent.main_transcript, self.rng, agent.session)

    def _join(self, agent: Agent) -> None:
        self.agents.append(agent)
        self._of[agent.session].append(agent)

    def _say(self, agent: Agent, event: str, *, loses: bool = False, **more: Any) -> None:
        agent.note(f"{event} {more or ''}")
        self.hook(agent, agent.client.moment(agent, event, **more), loses=loses)

    def _prompt(self, agent: Agent) -> None:
        if agent.name:
            return
        mark = agent.transcript.mark() if agent.transcript else 0
        agent.turns.append((mark, agent.view.calls))
        if agent.transcript:
            agent.transcript.flush()
            agent.transcript.prompt("go on")
            agent.transcript.flush(keep=self.rng.randrange(3))
        known = agent.is_known
        self.hook(agent, agent.client.prompt(agent, "go on"))
        agent.is_known = known or (agent.is_known and agent.transcript is not None)

    def _rewind(self, agent: Agent) -> None:
        """Back to an earlier prompt."""
        if agent.name or len(agent.turns) < 2:
            return
        at = self.rng.randrange(len(agent.turns))
        mark, calls = agent.turns[at]
        del agent.turns[at:]
        agent.note(f"rewound to {len(calls)} outputs")
        if agent.transcript:
            agent.transcript.flush()
            agent.transcript.rewind(mark)
        agent.view.keep([output for output in agent.view.outputs if output.call in calls])
        agent.retry = None
        agent.is_known = False
        self.answer(agent)
        if agent.client.rewinds:
            self._say(agent, agent.client.rewinds, loses=True)
        self._prompt(agent)
        if not agent.client.is_told:
            agent.is_known = True  # nobody says so: it has to reckon with it

    def compact(self, agent: Agent) -> None:
        events = agent.client.compacts
        if agent.name:
            events = ("PreCompact",)
        self.answer(agent)
        self._say(agent, events[0], loses=True, trigger="auto")
        agent.view.keep(())
        if not agent.name:
            self.resumes.begins_with(agent)  # agents read their instructions again, or keep them
        agent.turns = []
        agent.compacted = len(agent.refusals)
        agent.retry = None
        if agent.transcript:
            agent.transcript.compact()
        self.answer(agent)
        for event in events[1:]:
            self._say(agent, event, loses=True, source="compact", trigger="auto")

    def end(self, agent: Agent, reason: str) -> None:
        self._say(agent, "SessionEnd", reason=reason)
        self.agents = [other for other in self.agents if other.session != agent.session]

    def _clear(self, agent: Agent) -> None:
        if not agent.name:
            self.end(agent, "clear")
            self.begin("clear", agent.client, agent.tree)

    def _leave(self, agent: Agent) -> None:
        if agent.name:
            self.agents.remove(agent)
            self._say(agent, "SubagentStop")
        else:
            self.end(agent, "other")

    def _resume(self, agent: Agent) -> None:
        """The client ends and takes the same conversation up; of opencode and pi, its plugin."""
        if agent.name:
            return
        self._say(agent, "SessionEnd", reason="other")
        self.agents = [
            other for other in self.agents if not other.name or other.parent is not agent
        ]
        agent.cwd = agent.tree.root
        self.answer(agent)
        self._say(agent, "SessionStart", source="resume")

    def _fork(self, agent: Agent) -> None:
        """Another conversation that begins with all of this one."""
        if agent.name:
            return
        self.answer(agent)
        other = Agent(agent.client, f"{self.rng.getrandbits(64):016x}", agent.tree, agent.tree.root)
        path = str(self._folder / "conversations" / f"{other.session}.jsonl")
        other.main_transcript = path
        if agent.transcript:
            other.transcript = agent.transcript.fork(path, other.session)
        other.view.keep(agent.view.outputs)
        other.focus, other.past = list(agent.focus), list(agent.past)
        self._join(other)
        self._say(other, "SessionStart", source="fork")
        self._prompt(other)
        if sum(not one.name for one in self.agents) > MAIN_AGENTS + 3:
            self.end(agent, "other")

    def _child(self, agent: Agent) -> None:
        """A sub-agent: the same session and files, another context."""
        if not agent.client.has_agents or agent.name:
            return
        child = Agent(agent.client, agent.session, agent.tree, agent.cwd,
                      name=f"a{self.rng.getrandbits(40):x}", parent=agent)  # fmt: skip
        child.main_transcript = agent.main_transcript
        folder = agent.main_transcript.removesuffix(".jsonl")
        path = f"{folder}/subagents/agent-{child.name}.jsonl"
        child.transcript = OfClaude(path, self.rng, agent.session, child.name)
        child.transcript.prompt("look around")
        child.focus, child.past = list(agent.focus), list(agent.past[-4:])
        self._join(child)
        self._say(child, "SubagentStart")

    # What nobody tells

    def _silently(self, agent: Agent) -> None:
        """Old outputs are cleared to make room."""
        if agent.client.name == "claude-code" and agent.view.tokens >= CLEARED_ABOVE:
            self._drop_old(agent)
        elif agent.client.name in ("opencode", "pi") and len(agent.view.outputs) > 2 * KEPT:
            self._drop_old(agent)
            agent.is_known = False

    def _drop_old(self, agent: Agent) -> None:
        agent.note("old outputs cleared")
        (*old,) = (one for one in agent.view.outputs[:-KEPT] if one.call == INSTRUCTIONS)
        agent.view.keep([*old, *agent.view.outputs[-KEPT:]])

    def _idle(self, agent: Agent) -> None:
        """A long pause; when somebody is back, old outputs may be gone."""
        self.now += IDLE
        for each in self.agents:
            each.note("idle")
            if each.client.name == "claude-code":
                self._drop_old(each)
        self._prompt(agent)

    def _restart(self, agent: Agent) -> None:
        """The daemon ends, or is killed, and another takes its place."""
        if self.rng.random() < 0.5:
            self.memo.close()
        for each in self.agents:
            each.note("daemon restarted")
            each.is_known = False
        self._start()

    def _save(self, _agent: Agent) -> None:
        """What comes after this is lost, should the daemon be killed."""
        self.memo.save()

    def _stop(self, _agent: Agent) -> None:
        """Nobody hears the hooks for a while."""
        self._down = self.rng.randrange(2, 12)

    # The memo's tools

    def _who(self, agent: Agent) -> Asked | None:
        """How the call names the agent; None if it could not be told whose it is."""
        call = self.call(agent)
        self.answer(agent)
        given: dict[str, Any] = {"path": "x"}
        if agent.transcript:
            agent.transcript.use(call, agent.client.memo_tool, given)
            agent.transcript.flush(keep=self.rng.randrange(2))
        before = self.judge.count.events, agent.heard_at
        if self.rng.random() < 0.8:
            agent.heard_at = 0.0
            self.hook(agent, agent.client.before(agent, agent.client.memo_tool, given, call))
        is_heard = agent.heard_at == self.now
        agent.heard_at = agent.heard_at or before[1]
        if agent.transcript:
            agent.transcript.result(call, "{}", failed=False, response="{}")
        if not agent.is_known:
            return None
        harness = self.rng.choice((agent.client.name, agent.client.name, ""))
        match self.rng.randrange(4):
            case 0 if agent.name or self.now - agent.heard_at < FRESH_FOR:
                return Asked(agent.session, agent.name, agent.client.name)
            case 1 if self.now - agent.heard_at < FRESH_FOR:
                return Asked(session=agent.session, harness=harness)
            case 2 if is_heard:
                return Asked(harness=harness, call=call)
            case 3 if self.now - agent.heard_at < FRESH_FOR:
                return Asked(harness=harness)
        return None

    def _check(self, agent: Agent) -> None:
        self.check(agent, self._asked(agent))

    def check(self, agent: Agent, path: str) -> None:
        """memo_check."""
        who = self._who(agent)
        if who is None:
            return
        self.judge.count.events += 1
        named = path if self.rng.random() < 0.5 else os.path.relpath(path, agent.tree.root)
        agent.note(f"memo_check {named} {who}")
        self.judge.answered(agent, path, self.memo.check(agent.tree.root, named, who))
        if self.rng.random() < 0.1:
            stranger = Asked(harness=self.rng.choice(("vscode", "zed", "cline")))
            answer = self.memo.check(agent.tree.root, path, stranger)
            skips = answer["recommendation"] == "skip_reread"
            if skips or (answer["status"] == "fresh" and not answer.get("primed")):
                self.judge.fault(agent, f"fresh for one that has read nothing: {answer}")

    def _asked(self, agent: Agent) -> str:
        rng = self.rng
        _, resumed = self.judge.resumed.get(agent.tree.root, ("", {}))
        if resumed and rng.random() < 0.2:
            return rng.choice(list(resumed))
        if agent.past and rng.random() < 0.7:
            use = rng.choice(agent.past[-8:])
            if use.portions:
                return rng.choice(use.portions).path
        return agent.tree.path(rng.choice(agent.tree.names()))

    def _status(self, agent: Agent) -> None:
        paths = [self._asked(agent) for _ in range(3)]
        who = self._who(agent)
        if who is None:
            return
        self.judge.count.events += 1
        agent.note(f"memo_status {paths} {who}")
        answer = self.memo.status(agent.tree.root, paths, who)
        assert len(answer["results"]) == len(paths)
        for path, result in zip(paths, answer["results"], strict=True):
            self.judge.answered(agent, path, result)

    def _session(self, agent: Agent) -> None:
        self.judge.count.events += 1
        self.answer(agent)
        who = Asked(agent.session, agent.name, agent.client.name)
        answer = self.memo.session(agent.tree.root, who)
        self.judge.summed(self._of[agent.session], answer, agent)
        is_sure = agent.is_known and (agent.name or self.now - agent.heard_at < FRESH_FOR)
        self.judge.unread(agent, answer)
        for file in answer["files"]:
            if file["status"] == "fresh" and is_sure:
                self.judge.answered(agent, file["path"], file)
