"""Real agents share a project's memory: what one remembers, another one recalls.

The agents come from npm and have a model that does as a script says; where npm reaches no registry,
the tests are skipped and say why. Their servers are those that `triseek install` configures.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import claude, codex
from tests.agents.model import Model, serving
from tests.agents.place import Place
from tests.agents.script import Turn, says
from tests.e2e.living import Living
from tests.e2e.test_memo_in_agents import write_program
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

pytestmark = pytest.mark.slow

FACT = "Invoices are rounded half to even, per line."
QUESTION = "how are invoices rounded"


class Scene:
    """Two agents in one repository, into which triseek was installed with the memory."""

    def __init__(self, place: Place, model: Model, living: Living) -> None:
        self.place, self.model, self.living = place, model, living
        self._marks = 0

    def ask(self, agent: ModuleType, tool: str, **arguments: Any) -> str:
        """Have an agent call a tool in a conversation of its own; what its model is shown."""
        turns: list[Turn] = agent.ours(tool, **arguments)
        self._marks += 1
        mark = f"m{self._marks}"
        prompt = self.model.add(mark, [*turns, says("Done.")])
        with agent.session(self.place, self.model.url) as session:
            session.say(prompt)
        requests = self.model.of(mark)
        assert len(requests) == len(turns) + 1
        return str(requests[-1].last)


@pytest.fixture
def scene(programs: Path, tmp_path: Path) -> Iterator[Scene]:
    place = Place(tmp_path / "home", tmp_path / "shop", programs)
    state = place.home / ".triseek"
    place.home.mkdir()
    place.tree.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=place.tree, check=True)
    with Living(state) as living, serving() as model:
        program = write_program(place, living)
        living.env["HOME"] = str(place.home)
        living.start()
        for agent in (claude, codex):
            agent.configure(place, model.url)
            subprocess.run(
                [program, "install", agent.NAME, "--toolsets", "default,memory"],
                env=place.env(TRISEEK_HOME=str(state)), cwd=place.tree, check=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )  # fmt: skip
        yield Scene(place, model, living)


@pytest.mark.parametrize(
    ("first", "second"), [(claude, codex), (codex, claude)], ids=["claude-first", "codex-first"]
)
def test_what_one_agent_remembers_another_recalls(
    scene: Scene, first: ModuleType, second: ModuleType
) -> None:
    stored = scene.ask(first, "memory_remember", text=FACT, room="Backend", tags=["money"])
    recalled = scene.ask(second, "memory_recall", query=QUESTION)
    [drawer] = re.findall(r"stored ([0-9a-f-]{36}) in palace shop", stored)
    scene.ask(second, "memory_forget", drawer_id=drawer)
    after = scene.ask(first, "memory_recall", query=QUESTION)

    assert f"[{drawer}] Backend" in recalled
    assert FACT in recalled
    assert FACT not in after
    with contextlib.closing(Memory(f"{scene.living.home}/memory")) as memory:
        assert memory.palace_of(str(scene.place.tree.resolve())) == "shop"
        assert memory.listed("shop") == []


def test_a_fact_of_one_agent_is_replaced_by_the_other(scene: Scene) -> None:
    fact = {"subject": "billing", "predicate": "owner"}
    scene.ask(claude, "kg_assert", **fact, object="anna")
    scene.ask(codex, "kg_assert", **fact, object="bert")

    shown = scene.ask(claude, "kg_query", subject="billing", include_history=True)

    assert re.findall(r"owner \| (\w+) \(since [^ ,)]+(, until)?", shown) == [
        ("anna", ", until"), ("bert", "")
    ]  # fmt: skip


def test_a_context_pack_draws_on_it(scene: Scene) -> None:
    scene.ask(codex, "memory_remember", text=FACT)

    shown = scene.ask(claude, "context_pack", goal="mend how invoices are rounded", memory=True)

    assert "memory: from the project's palace shop" in shown
    assert FACT in shown
