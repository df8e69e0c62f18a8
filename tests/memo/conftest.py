"""An agent at work on a small tree, and the memo that watches it."""

from __future__ import annotations

import pytest

from tests.memo.memo_agents import CODE, Agent, Clock
from triseek.memo.memo import Memo
from triseek.model.hook_event import Context


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "repo"
    (folder / ".git").mkdir(parents=True)
    (folder / "a.py").write_text(CODE)
    (folder / "b.py").write_text(CODE.replace("value", "other"))
    return str(folder)


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "daemon" / "memo")


@pytest.fixture
def memo(folder, clock):
    return Memo(folder, clock)


@pytest.fixture
def agent(memo, root):
    return Agent(memo, root, Context(harness="claude-code", session="s1"))


@pytest.fixture
def another(agent):
    """Makes further agents: of the same session, or of another."""

    def make(name="", session="s1", harness="claude-code"):
        context = Context(harness=harness, session=session, agent=name)
        return Agent(agent.memo, agent.root, context)

    return make
