"""What real agents show their model of a tool's result, and that it is no more than the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import claude, codex, opencode, pi
from tests.e2e.mcp_clients import Unreachable, installed
from tests.e2e.test_memo_in_agents import Scene, scene
from triseek.agents.registry import by_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

QUERY = "value_a_7 "
TEXT = "1 match in 1 file\na.py\n7:value_a_7 = 7  # a line of a.py"
STRUCTURED = '"routing_reason"'


@pytest.fixture(scope="session")
def programs() -> Path:
    try:
        return installed()
    except Unreachable as error:
        pytest.skip(str(error))


@pytest.fixture(params=(claude, codex, opencode, pi), ids=lambda agent: agent.NAME)
def playing(request: Any, programs: Path, tmp_path: Path) -> Iterator[Scene]:
    with scene(request.param, programs, tmp_path) as played:
        yield played


def shown(playing: Scene, **arguments: Any) -> str:
    """The result of a search as it reaches the model."""
    with playing.session() as session:
        turns = playing.agent.ours("search_content", query=QUERY, **arguments)
        session.say(playing.script(*turns))
    return playing.model.of("m1")[-1].last


def test_with_both_forms_the_model_sees_what_the_table_says(playing: Scene) -> None:
    (playing.place.home / ".triseek" / "config.toml").write_text('[mcp]\nstructured = "full"\n')

    result = shown(playing)

    seen = {(True, False): "text", (False, True): "structured", (True, True): "both"}
    form = seen[TEXT in result, STRUCTURED in result.replace("\\", "")]
    agent = by_name(playing.agent.NAME)
    assert agent
    assert form == agent.shown_form


def test_the_model_sees_the_text_alone(playing: Scene) -> None:
    result = shown(playing)

    assert TEXT in result
    assert STRUCTURED not in result.replace("\\", "")
