"""What real agents write to disk is read message for message and tool for tool.

The agents come from npm and have a model that does as a script says; where npm reaches no registry,
the tests are skipped and say why. What is read is compared with the script and with what the model
was sent, so a new version of an agent that writes something else is noticed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import claude, codex, gemini
from tests.agents.model import Model, serving
from tests.agents.place import Place
from tests.agents.record_transcripts import plant
from tests.agents.script import Turn, says, uses
from tests.agents.transcript_reads import Read, place, reader_of
from triseek.model.conversation import Mark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

AGENTS = (claude, codex, gemini)


def turns(agent: Any, tree: Path) -> list[Turn]:
    """A read, commands that pass and fail, and an edit."""
    a = str(tree / "src/a.py")
    if agent is gemini:
        edit = {"file_path": a, "old_string": "a_3 = 3", "new_string": "a_3 = 33"}
        return [
            uses("read_file", file_path=a),
            uses("run_shell_command", command="cat b.py"),
            uses("run_shell_command", command="echo no >&2; exit 3"),
            uses("replace", **edit, instruction="-"),
        ]
    edited = "src/a.py" if agent is codex else a
    return [
        agent.read(a),
        agent.shell("cat b.py"),
        agent.shell("echo no >&2; exit 3"),
        agent.edit(edited, "a_3 = 3", "a_3 = 33"),
    ]


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as model:
        yield model


def imported(agent: Any, home: Path) -> Read:
    reader = reader_of(agent.NAME)
    found = Read()
    for path in reader.sources(place(home)):
        found.add(reader.read(path, Mark()))
    return found


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.NAME)
def test_what_an_agent_wrote_is_read_as_it_was_said(agent, model, programs, tmp_path):
    here = Place(tmp_path / "home", tmp_path / "repo", programs)
    here.home.mkdir()
    plant(here.tree)
    agent.configure(here, model.url)
    calls = turns(agent, here.tree)
    prompt = model.add("one", [*calls, says("All was done.")])

    if agent is codex:
        with codex.program(here) as program:
            program.start(str(here.tree)).say(prompt)
    else:
        with agent.session(here, model.url) as session:
            session.say(prompt)

    found = imported(agent, here.home)
    [conversation] = found.conversations.values()
    assert conversation.cwd == str(here.tree)
    assert found.said(conversation.id) == [("user", prompt), ("assistant", "All was done.")]
    events = found.used(conversation.id)
    assert [one.name for one in events] == [turn.calls[0].name for turn in calls]
    assert [one.exit_status for one in events if one.command][-2:] == [0, 3]
    assert [one.failed for one in events] == [False, False, True, False]
    assert events[-1].edits[0].path == str(here.tree / "src/a.py")
    shown = [*model.of("one")[-1].results.values()]
    assert len(shown) == len(events)
    for text, event in zip(shown, events, strict=True):
        assert event.output.strip() in text
    assert [one.reason for one in found.unreadable] == []
