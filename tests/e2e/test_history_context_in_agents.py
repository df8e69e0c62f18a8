"""Real agents show their model what the history has of the project, once, at the first prompt.

The agents come from npm and have a model that does as a script says; where npm reaches no registry,
the tests are skipped and say why.
"""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import claude, codex, gemini, opencode, pi
from tests.agents.model import Model, serving
from tests.agents.place import Place
from tests.agents.record_transcripts import plant
from tests.agents.script import says
from tests.e2e.living import Living
from tests.e2e.test_memo_in_agents import write_program
from triseek.history.database import open_database
from triseek.history.writing import Draft, remember

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.store.sqlite import Database

pytestmark = pytest.mark.slow

AGENTS = (claude, codex, gemini, opencode, pi)
KEPT = "Routes are registered in src/a.py, never in b.py."


class Scene:
    """An agent that triseek was installed into, in a project with a history."""

    def __init__(self, agent: Any, here: Place, model: Model, living: Living) -> None:
        self.agent, self.here, self.model, self.living = agent, here, model, living
        self._marks = 0

    def prompt(self) -> str:
        """A new prompt, which the model answers at once."""
        self._marks += 1
        return self.model.add(f"m{self._marks}", [says("Done.")])

    def shown(self) -> int:
        """How often the text stood in what the model was sent for the last prompt."""
        [request] = self.model.of(f"m{self._marks}")
        return json.dumps(request.body, ensure_ascii=False).count(KEPT)


def opened(state: Path | str) -> closing[Database]:
    return closing(open_database(f"{state}/history"))


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.NAME)
def scene(request: Any, programs: Path, tmp_path: Path) -> Iterator[Scene]:
    agent, here = request.param, Place(tmp_path / "home", tmp_path / "repo", programs)
    state = here.home / ".triseek"
    here.home.mkdir()
    plant(here.tree)
    with Living(state) as living, serving() as model:
        program = write_program(here, living)
        living.env["HOME"] = str(here.home)
        draft = Draft(text=KEPT, project="repo", root=str(here.tree), pinned=True)
        with opened(state) as database, database.write() as connection:
            remember(connection, draft, 1)
        agent.configure(here, model.url)
        subprocess.run(
            [program, "install", agent.NAME], env=here.env(TRISEEK_HOME=str(state)), cwd=here.tree,
            check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        living.start()
        yield Scene(agent, here, model, living)


def test_the_first_prompt_comes_with_the_history(scene: Scene) -> None:
    prompts = [scene.prompt()]
    if scene.agent is codex:
        with codex.program(scene.here) as program:
            assert program.trust(str(scene.here.tree))
            thread = program.start(str(scene.here.tree))
            thread.say(prompts[0])
            first = scene.shown()
            prompts.append(scene.prompt())
            thread.say(prompts[1])
            second = scene.shown()
    else:
        with scene.agent.session(scene.here, scene.model.url) as session:
            session.say(prompts[0])
            first = scene.shown()
            prompts.append(scene.prompt())
            session.say(prompts[1])
            second = scene.shown()

    assert (first, second) == (1, 1)  # the second time as a part of the conversation
    assert said_by_the_person(scene) == prompts


def said_by_the_person(scene: Scene) -> list[str]:
    """The prompts as an import reads them: without what was shown."""
    scene.living.run("daemon", "stop")  # it may be about to import, and then the command is refused
    said = scene.living.run("history", "import", scene.agent.NAME)
    assert said.status == 0, said
    with opened(scene.living.home) as database, database.read() as connection:
        rows = connection.execute("SELECT text FROM messages WHERE role = 'user' ORDER BY id")
        return [row[0] for row in rows]
