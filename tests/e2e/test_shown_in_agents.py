"""What real agents show their model of a tool's result: what the table says, and no more than text.

Agents get both forms where `mcp.structured` is `full`, and text alone by default. The agents come
from npm and have a model that does as a script says; where npm reaches no registry, the tests are
skipped and say why.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import claude, cline, codex, gemini, opencode, pi
from tests.agents.place import run
from tests.e2e.test_memo_in_agents import Scene, scene
from tests.mcp.speaking import hello
from triseek.agents.registry import by_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

AGENTS = (claude, codex, opencode, pi, gemini, cline)
QUERY = "value_a_7 "
TEXT = "1 match in 1 file\na.py\n7:value_a_7 = 7  # a line of a.py"
STRUCTURED = '"routing_reason"'
FORMS = {(True, False): "text", (False, True): "structured", (True, True): "both"}


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.NAME)
def playing(request: Any, programs: Path, tmp_path: Path) -> Iterator[Scene]:
    with scene(request.param, programs, tmp_path) as played:
        warm(played)
        yield played


def warm(playing: Scene) -> None:
    """Have the daemon load what sessions need: Cline waits three seconds for a first reply."""
    subprocess.run(
        [str(playing.place.home / "bin" / "triseek"), "mcp", "serve"],
        input=json.dumps(hello()).encode() + b"\n", cwd=playing.place.tree,
        env=playing.place.env(), stdout=subprocess.DEVNULL, check=True, timeout=120,
    )  # fmt: skip


def shown(playing: Scene) -> tuple[bool, bool]:
    """Whether the text of a search, and whether its structured form, reach the model."""
    with playing.session() as session:
        session.say(playing.script(*playing.agent.ours("search_content", query=QUERY)))
    result = playing.model.of("m1")[-1].last
    plain = result.replace("\\n", "\n").replace('\\"', '"')  # as text inside of JSON
    return TEXT in plain, STRUCTURED in plain


def test_of_both_forms_the_model_sees_what_the_table_says(playing: Scene) -> None:
    (playing.place.home / ".triseek" / "config.toml").write_text('[mcp]\nstructured = "full"\n')
    agent = by_name(playing.agent.NAME)

    assert agent
    assert FORMS.get(shown(playing)) == agent.shown_form


def test_the_model_sees_the_text_alone(playing: Scene) -> None:
    assert shown(playing) == (True, False)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.NAME)
def test_the_table_names_the_version_that_was_asked(
    agent: Any, programs: Path, tmp_path: Path
) -> None:
    words = run([str(programs / agent.PROGRAM), "--version"], tmp_path, {"HOME": str(tmp_path)})
    version = next(word for word in words.split() if word[0].isdigit())
    described = by_name(agent.NAME)

    assert described
    assert version in described.shown_form_evidence.split(", ")
