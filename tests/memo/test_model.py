"""The memo against a slow model of it: line sets, and contents compared as they are."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memo.memo_agents import Agent, Clock
from triseek.memo.memo import Memo
from triseek.model.hook_event import Context

NAMES = ("a.py", "b.py")
CONTEXTS = (
    Context(harness="claude-code", session="s1"),
    Context(harness="claude-code", session="s1", agent="helper"),
    Context(harness="codex", session="s2"),
)
LINES = 12


def content(version):
    return "".join(f"version {version} of line {n}, {'x' * 60}\n" for n in range(1, LINES + 1))


@dataclass
class File:
    """What a context saw of a file, in Python's own sets."""

    content: str = ""
    shown: dict[int, str] = field(default_factory=dict)
    """The use that last showed a line."""
    denied: list[set[int]] = field(default_factory=list)


LINE = st.integers(1, LINES)
STEP = st.one_of(
    st.tuples(st.just("read"), st.integers(0, 2), st.sampled_from(NAMES), LINE, LINE, st.none()),
    st.tuples(st.just("read"), st.integers(0, 2), st.sampled_from(NAMES), LINE, LINE, LINE),
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.integers(0, 1)),
    st.tuples(st.just("forget"), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("lose"), st.integers(0, 2), st.integers(0, 9)),
    st.tuples(st.just("restart")),
)


class World:
    def __init__(self, folder):
        self.folder, self.clock = folder, Clock()
        self.memo = Memo(str(folder / "memo"), self.clock)
        self.root = folder / "repo"
        (self.root / ".git").mkdir(parents=True)
        self.text = {}
        for name in NAMES:
            self.write(name, 0)
        self.agents = [Agent(self.memo, str(self.root), one) for one in CONTEXTS]
        self.files = [{name: File() for name in NAMES} for _ in CONTEXTS]

    def write(self, name, version):
        self.text[name] = content(version)
        (self.root / name).write_text(self.text[name])

    def there(self, who, name):
        """Lines of the file as it is now that are in view."""
        file = self.files[who][name]
        if file.content != self.text[name]:
            return set()
        return {line for line, call in file.shown.items() if call in self.agents[who].view}

    def read(self, who, name, first, last, cut):
        agent, file = self.agents[who], self.files[who][name]
        asked = set(range(first, last + 1))
        tried = [one for one in file.denied if one & asked]
        worth = last - first >= 2  # three lines are more than 50 tokens, two are less
        denial = agent.asks(agent.use(name, first=first, last=last))
        assert (denial is not None) == bool(
            worth and not tried and asked <= self.there(who, name)
        ), (who, name, first, last)
        file.denied = [one for one in file.denied if one not in tried]
        if denial is not None:
            file.denied.append(asked)
            return
        use = agent.use(name, first=first, last=last)
        lines = agent.text(name, first=first, last=last).splitlines(keepends=True)
        shown = lines if cut is None else lines[:cut]
        agent.shows(use, "".join(shown) + ("" if shown == lines else "[cut]\n"))
        self.credit(file, self.text[name], range(first, first + len(shown)), use.call)

    def credit(self, file, text, lines, call):
        if not lines:
            return
        if file.content != text:
            file.content, file.shown = text, {}
        file.shown |= dict.fromkeys(lines, call)

    def forget(self, who, whole_session):
        self.memo.forget(CONTEXTS[who], whole_session=whole_session)
        for place, one in enumerate(CONTEXTS):
            if place == who or (whole_session and one.session == CONTEXTS[who].session):
                self.files[place] = {name: File() for name in NAMES}
        self.clock.now_s += 61  # so that what is not announced counts again

    def lose(self, who, which):
        view = self.agents[who].view
        view -= set(sorted(view)[which : which + 1])

    def restart(self):
        self.memo.close()
        self.memo = Memo(str(self.folder / "memo"), self.clock)
        for agent in self.agents:
            agent.memo = self.memo

    def look(self):
        for place, agent in enumerate(self.agents):
            agent.memo.asking(agent.context, f"ask-{place}", agent.in_view)
            for name in NAMES:
                fresh = len(self.there(place, name)) == LINES
                answer = agent.check(name, call=f"ask-{place}")
                assert (answer["status"] == "fresh") == fresh
                old = self.files[place][name].content
                assert (answer["status"] == "stale") == (old not in ("", self.text[name]))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=25))
def test_the_memo_denies_and_says_what_the_model_does(steps):
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for name, *values in steps:
            if name == "read":
                who, file, *ends, cut = values
                world.read(who, file, min(ends), max(ends), cut)
            else:
                getattr(world, name)(*values)
        world.look()
        world.memo.close()
