"""Count what real agents are spared of their searches: `python -m tests.agents.searchday`.

An agent searches, reads and edits a copy of a small package. What it does is drawn with a seed;
what it is shown is real. Each answer that it is told it has is compared with what its model was
sent: the answer to the same call has to stand in the request, and a search of the bare tree has to
find the same lines.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.agents import workday
from tests.agents.script import Turn, says
from tests.app.contexts import bare_context
from tests.e2e.mcp_clients import installed
from tests.e2e.test_memo_in_agents import Scene, scene
from triseek.app.dispatch import Local, text
from triseek.app.registry import TOOLS
from triseek.model import token_estimate
from triseek.model.call import Call

if TYPE_CHECKING:
    from tests.agents.script import Request

REUSED = "same answer as before to "
QUERIES = ("def add_hookspecs", "HookimplMarker(", "_multicall", "def unregister", "firstresult",
           "class PluginManager", "historic", "varnames(")  # fmt: skip
AFTERWARDS = ("", "compact", "", "clear", "")
"""What a person does after each prompt."""
STEPS = 10
LIMIT = 50
"""Lines of an answer: of the queries above, all."""
_SEARCH = next(tool for tool in TOOLS if tool.name == "search_content")


@dataclass
class Count:
    """What a day came to."""

    searches: int = 0
    again: int = 0
    """Of these, such as the request has the answer to, of the same call."""
    reused: int = 0
    tokens: int = 0
    """Of the answers that were not given."""
    wrong: int = 0


class SearchAudit:
    """Looks at every request as it comes."""

    def __init__(self, tree: Path) -> None:
        self.count = Count()
        self._tree = tree
        self._seen: set[str] = set()

    def __call__(self, request: Request) -> None:
        """Look at the newest result of a request, if it is a search's."""
        results = [one for one in request.messages if one.role == "result"]
        calls = {one.call: one.text for one in request.messages if one.role == "call"}
        if not results or results[-1].call in self._seen:
            return
        newest = results[-1]
        query = _query(calls.get(newest.call, ""))
        if query not in QUERIES:
            return
        self._seen.add(newest.call)
        self.count.searches += 1
        earlier = [
            one.text
            for one in results[:-1]
            if calls.get(one.call) == calls[newest.call] and REUSED not in one.text
        ]
        self.count.again += bool(earlier)
        if REUSED not in newest.text:
            return
        self.count.reused += 1
        now = _lines(self._now(query))
        same = [one for one in earlier if _lines(one) >= now]
        if not same:
            self.count.wrong += 1
            print("wrong:", query, repr(newest.text), earlier, sorted(now), sep="\n  ", flush=True)
        self.count.tokens += token_estimate.of_source_text(same[-1]) if same else 0
        self.count.tokens -= token_estimate.of_source_text(newest.text)

    def _now(self, query: str) -> str:
        local = Local(bare_context(str(self._tree)))
        answered = local(_SEARCH, {"query": query, "limit": LIMIT}, Call(is_recorded=False))
        return text(_SEARCH, answered.arguments, answered.envelope)


def _query(arguments: str) -> str:
    """The query of a search; "" for another use, such as a patch."""
    try:
        return str(json.loads(arguments).get("query", ""))
    except ValueError:
        return ""


def _lines(answer: str) -> set[str]:
    return set(answer.split("\n"))


class SearchDay(workday.Day):
    """Draws what an agent does that searches much."""

    def __init__(self, agent: Any, tree: Path, seed: str) -> None:
        super().__init__(agent, tree, seed)
        self._chance = random.Random(f"{seed} searches")

    def prompt(self) -> list[Turn]:
        """What is done for one prompt."""
        return [turn for _ in range(STEPS) for turn in self._more()]

    def _more(self) -> list[Turn]:
        if self._chance.random() < 0.4:
            return [self._step()]
        turns: list[Turn] = self._agent.ours(
            "search_content", query=self._chance.choice(QUERIES), limit=LIMIT
        )
        return turns


def play(scene_: Scene, seed: str) -> Count:
    """One day."""
    agent, place, model = scene_.agent, scene_.place, scene_.model
    workday.plant(place.tree)
    scene_.living.run("build", place.tree)
    scene_.living.ask("preload_root", target_root=str(place.tree), exact=True)
    scene_.living.wait_watched(place.tree)
    day, audit = SearchDay(agent, place.tree, seed), SearchAudit(place.tree)

    def before(request: Request) -> None:
        audit(request)
        scene_._wait_for_transcript(request)

    model.before = before
    with agent.session(place, model.url) as session:
        for number, afterwards in enumerate(AFTERWARDS):
            turns = day.prompt()
            if agent in workday.DELEGATING and number % 2:
                turns[5:5] = agent.delegate(
                    model.add(f"sub{number}", [*day.prompt(), says("Seen.")])
                )
            session.say(model.add(f"p{number}", [*turns, says("Done.")]))
            if afterwards:
                getattr(session, afterwards)()
    return audit.count


def main(names: list[str]) -> None:
    """Let the agents that are named, or all, work for a day each."""
    for agent in workday.AGENTS:
        if names and agent.NAME not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for_agent: Any = agent
            with scene(for_agent, installed(), Path(folder).resolve()) as played:
                print(agent.NAME, play(played, agent.NAME), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
