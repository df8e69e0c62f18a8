"""What real agents write to disk is imported message for message and tool for tool.

The agents come from npm and have a model that does as a script says; where npm reaches no registry,
the tests are skipped and say why. What is read is compared with the script and with what the model
was sent, so a new version of an agent that writes something else is noticed.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.agents import claude, codex, gemini, opencode, pi
from tests.agents.model import Model, serving
from tests.agents.place import Place
from tests.agents.record_transcripts import plant
from tests.agents.script import says, uses
from tests.agents.transcript_reads import Read, place, reader_of
from tests.e2e.living import RUN
from triseek.model.conversation import Mark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.agents.script import Turn

pytestmark = pytest.mark.slow

AGENTS = (claude, codex, gemini, opencode, pi)
ANSWER = "All was done."
TIMES_OF_IMPORT = {"sources": {"read_at"}, "sessions": {"derived_at"}}
"""Columns that say when an import ran."""


class Played(NamedTuple):
    """A conversation of one prompt that an agent has had."""

    agent: Any
    here: Place
    model: Model
    prompt: str
    calls: list[Turn]

    @property
    def edited(self) -> str:
        return str(self.here.tree / "src/a.py")

    @property
    def shown(self) -> list[str]:
        """What the model was sent of each use of a tool."""
        return [*self.model.of("one")[-1].results.values()]


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


@pytest.fixture(scope="module", params=AGENTS, ids=lambda agent: agent.NAME)
def played(request: Any, programs: Path, tmp_path_factory: Any) -> Iterator[Played]:
    """A conversation of each agent, which is over."""
    agent, folder = request.param, tmp_path_factory.mktemp(request.param.NAME)
    here = Place(folder / "home", folder / "repo", programs)
    here.home.mkdir()
    plant(here.tree)
    with serving() as model:
        agent.configure(here, model.url)
        calls = turns(agent, here.tree)
        prompt = model.add("one", [*calls, says(ANSWER)])
        if agent is codex:
            with codex.program(here) as program:
                program.start(str(here.tree)).say(prompt)
        else:
            with agent.session(here, model.url) as session:
                session.say(prompt)
        yield Played(agent, here, model, prompt, calls)


def test_what_an_agent_wrote_is_read_as_it_was_said(played: Played) -> None:
    reader = reader_of(played.agent.NAME)
    read = Read()
    for path in reader.sources(place(played.here.home)):
        read.add(reader.read(path, Mark()))

    [conversation] = read.conversations.values()
    assert conversation.cwd == str(played.here.tree)
    assert read.said(conversation.id) == [("user", played.prompt), ("assistant", ANSWER)]
    events = read.used(conversation.id)
    assert [event.name for event in events] == [turn.calls[0].name for turn in played.calls]
    assert [event.exit_status for event in events if event.command][-2:] == [0, 3]
    assert [event.failed for event in events] == [False, False, True, False]
    assert events[-1].edits[0].path == played.edited
    assert len(played.shown) == len(events)
    for text, event in zip(played.shown, events, strict=True):
        assert event.output.strip() in text
    assert [line.reason for line in read.unreadable] == []


def test_an_import_has_each_message_and_tool_once(played: Played, tmp_path: Path) -> None:
    state = tmp_path / "state"
    report = run_import(played, state)
    assert report["conversations"] == 1, report
    assert report["skipped"] == [], report

    with closing(sqlite3.connect(state / "history" / "history.db")) as database:
        [(session, cwd, root, prompts)] = database.execute(
            "SELECT id, cwd, root, prompt_counter FROM sessions"
        ).fetchall()
        said = database.execute(
            "SELECT session_id, role, text, prompt_number FROM messages ORDER BY id"
        ).fetchall()
        events = database.execute(
            "SELECT id, name, command, exit_status, failed, output FROM tool_events ORDER BY id"
        ).fetchall()
        edits = database.execute(
            "SELECT event_id, path, before, after FROM event_files WHERE role = 'modified'"
        ).fetchall()

    assert (cwd, root, prompts) == (str(played.here.tree), str(played.here.tree), 1)
    assert said == [(session, "user", played.prompt, 1), (session, "assistant", ANSWER, 1)]
    assert [event[1] for event in events] == [turn.calls[0].name for turn in played.calls]
    commands = [(command, status) for _, _, command, status, *_ in events if command]
    assert commands[-2:] == [("cat b.py", 0), ("echo no >&2; exit 3", 3)]
    assert [event[4] for event in events] == [0, 0, 1, 0]
    for text, event in zip(played.shown, events, strict=True):
        assert event[5].strip() in text
    [(event, path, before, after)] = edits
    assert (event, path) == (events[-1][0], played.edited)
    assert "a_3 = 3" in before
    assert "a_3 = 33" in after


def test_an_import_made_twice_gives_the_same_database(played: Played, tmp_path: Path) -> None:
    first, other = tmp_path / "first", tmp_path / "other"
    run_import(played, first)
    imported = contents(first)
    run_import(played, first)
    again = contents(first)
    run_import(played, other)
    fresh = contents(other)

    assert len(imported["messages"]) == 2
    assert len(imported["tool_events"]) == len(played.calls)
    for table, rows in imported.items():
        assert again[table] == rows, table
        assert fresh[table] == rows, table
    assert again.keys() == fresh.keys() == imported.keys()


def run_import(played: Played, state: Path) -> dict[str, Any]:
    """Run `triseek history import` for the agent; what it reports of it."""
    environ = played.here.env(TRISEEK_HOME=str(state), TRISEEK_NO_DAEMON="1")
    done = subprocess.run(
        [*RUN, "history", "import", played.agent.NAME, "--json"], env=environ, cwd=played.here.home,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done
    report: dict[str, Any] = json.loads(done.stdout)["agents"][played.agent.NAME]
    return report


def contents(state: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, full-text indexes too, without the times of the import."""
    tables = {}
    with closing(sqlite3.connect(state / "history" / "history.db")) as database:
        names = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall()
        for (table,) in names:
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            kept = [f'"{name}"' for name in columns if name not in TIMES_OF_IMPORT.get(table, ())]
            tables[table] = database.execute(
                f"SELECT {', '.join(kept)} FROM {table} ORDER BY 1, 2"
                if len(kept) > 1
                else f"SELECT {kept[0]} FROM {table} ORDER BY 1"
            ).fetchall()
    return tables
