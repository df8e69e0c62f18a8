"""Single records are forgotten: no file has their text, and nothing brings them back."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.claude_transcripts import Transcript
from tests.history.rows import Rows
from triseek import paths
from triseek.agents.base import InstallPlace
from triseek.errors import InvalidQuery, InvalidRequest
from triseek.history import operations, tombstones
from triseek.history.forgetting import Forgotten
from triseek.history.importing import sources
from triseek.history.service import History

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE = "Fixed tests/test_login.py::test_expiry in src/login.py:ttl"
PROMPT = "the quetzalcoatl token expires too early, please look at it"
NOTHING = dict.fromkeys(Forgotten.__slots__, 0)
START = dt.datetime(2025, 10, 20, 10, tzinfo=dt.UTC)


def transcript(home: Path, session: str = "login") -> Transcript:
    made = (
        Transcript(home, session, str(home / "shop"), START).prompt("first of all").prompt(PROMPT)
    )
    failing = "E   AssertionError: token expired\nFAILED tests/test_login.py::test_expiry"
    made.run("pytest tests/test_login.py", failing, failed=True)
    made.edit("src/login.py", "ttl = 1", "ttl = 60")
    return made.run("pytest tests/test_login.py", "1 passed in 0.1s").answer("The ttl is 60 now.")


@pytest.fixture
def history(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[History]:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (home / "shop" / ".git").mkdir(parents=True)
    opened = History()
    yield opened
    opened.close()


def imported(history: History, home: Path) -> None:
    agents = [agent for agent in sources.importable() if agent.name == "claude-code"]
    history.import_conversations(agents, InstallPlace("", str(home), str(home), {}))


def derived_again(history: History) -> None:
    with history.database.write() as connection:
        connection.execute("UPDATE sessions SET derived_at = 0")
    history.derive()


def rows(history: History, query: str) -> list[Any]:
    with history.database.read() as connection:
        return connection.execute(query).fetchall()


def files_with(home: Path, text: str) -> list[Path]:
    """The files of the state folder that contain a text; transcripts are the agent's own."""
    own = [path for path in home.rglob("*") if path.is_file() and ".claude" not in path.parts]
    return [path for path in own if text.encode() in path.read_bytes()]


def test_an_observation_of_a_rule_is_not_derived_again(history: History, home: Path) -> None:
    transcript(home)
    imported(history, home)
    [(number,)] = rows(history, "SELECT id FROM observations WHERE title LIKE 'Fixed%'")
    [(learned,)] = rows(history, "SELECT learned FROM session_summaries")
    assert TITLE in learned
    assert files_with(home, TITLE)

    counts = operations.forget(history, [f"#{number}"])

    assert counts == {**NOTHING, "observations": 1}
    assert files_with(home, TITLE) == []
    derived_again(history)
    transcript(home, "other")
    imported(history, home)
    titles = rows(history, "SELECT external_id, observations.title FROM observations JOIN sessions"
                           " ON sessions.id = session_id")  # fmt: skip
    assert titles == [("other", TITLE)]


@pytest.mark.parametrize("name", ["P{}", "claude-mem://user-prompt/{}"])
def test_a_prompt_is_in_no_file_and_does_not_come_back(
    history: History, home: Path, name: str
) -> None:
    transcript(home)
    fork = transcript(home, "fork")
    imported(history, home)
    [(number,), _] = rows(history, f"SELECT id FROM messages WHERE text = '{PROMPT}' ORDER BY id")
    assert rows(history, "SELECT request FROM session_summaries") == [(PROMPT,)] * 2

    counts = operations.forget(history, [name.format(number)])

    assert counts["messages"] == 2  # the fork repeats it
    assert files_with(home, "quetzal") == []
    fork.prompt("something else")
    transcript(home, "fork of the fork")
    imported(history, home)
    derived_again(history)
    assert files_with(home, "quetzal") == []
    kept = rows(history, "SELECT DISTINCT text FROM messages ORDER BY text")
    assert kept == [("The ttl is 60 now.",), ("first of all",), ("something else",)]
    assert operations.search(history, "quetzalcoatl")["results"] == []


def test_a_title_that_quotes_a_prompt_is_forgotten_with_it(history: History, home: Path) -> None:
    made = transcript(home)
    row = {"type": "ai-title", "aiTitle": f"{PROMPT[:30]}…", "sessionId": "login"}
    with made.path.open("a") as file:
        file.write(json.dumps(row) + "\n")
    imported(history, home)
    assert rows(history, "SELECT title FROM sessions") == [(f"{PROMPT[:30]}…",)]

    operations.forget(history, ["P2"])

    with made.path.open("a") as file:
        file.write(json.dumps(row) + "\n")
    imported(history, home)
    assert rows(history, "SELECT title FROM sessions") == [("",)]
    assert files_with(home, "quetzal") == []


@pytest.mark.parametrize("name", ["S1", "#S1", "claude-mem://session/login", "login", "log"])
def test_a_session_is_named_in_every_way(history: History, home: Path, name: str) -> None:
    transcript(home)
    imported(history, home)

    counted = operations.forget(history, [name], dry_run=True)
    assert rows(history, "SELECT count(*) FROM sessions") == [(1,)]
    assert operations.forget(history, [name]) == counted

    assert counted == {**NOTHING, "sessions": 1, "messages": 3, "events": 3, "observations": 1}
    imported(history, home)
    derived_again(history)
    for text in ("quetzal", TITLE, "test_expiry"):
        assert files_with(home, text) == []


def test_what_is_shown_under_a_name_is_what_is_forgotten(history: History, home: Path) -> None:
    Rows(history.database).session("has no summary")  # so that numbers differ
    transcript(home)
    imported(history, home)
    assert rows(history, "SELECT id, session_id FROM session_summaries") == [(1, 2)]
    assert operations.show(history, "S1")["conversation"]["session"] == "login"
    with pytest.raises(InvalidRequest):
        operations.show(history, "S2")


def test_a_project_is_forgotten_in_conversations_of_others(history: History) -> None:
    made = Rows(history.database)
    session = made.session("of the shop", project="shop")
    made.observation(session, "of quetzal", project="quetzal", origin="import")
    made.observation(session, "of a folder", project="b", root="/work/quetzal", origin="import")
    made.observation(session, "of the shop", origin="import")
    assert operations.forget(history, [], "quetzal") == {**NOTHING, "observations": 1}
    assert operations.forget(history, [], "/work/quetzal") == {**NOTHING, "observations": 1}
    assert rows(history, "SELECT title FROM observations") == [("of the shop",)]


def test_what_a_forgotten_observation_has_superseded_stays_hidden(history: History) -> None:
    from triseek.history import writing

    with history.database.write() as connection:
        old, _ = writing.remember(connection, writing.Draft(text="port 80"), 1)
        new, _ = writing.supersede(connection, old, "port 81", "", 2)

    operations.forget(history, [str(new)])

    assert rows(history, "SELECT id, superseded_by, valid_until < 9e15 FROM observations") == [
        (old, None, 1)
    ]


@pytest.mark.parametrize("name", ["7", "#7", "S7", "P7", "claude-mem://observation/7"])
def test_a_number_that_is_no_records_removes_nothing(
    history: History, home: Path, name: str
) -> None:
    transcript(home)
    imported(history, home)

    with pytest.raises(InvalidQuery, match="not found"):
        operations.forget(history, ["login", name])
    assert rows(history, "SELECT count(*) FROM sessions") == [(1,)]


@pytest.mark.parametrize("name", ["", "nobody", "claude-mem://session/nobody", "2025-10-20", "\0"])
def test_a_name_that_is_no_conversations_removes_nothing(history: History, name: str) -> None:
    with pytest.raises(InvalidRequest, match="no conversation"):
        operations.forget(history, [name])


def test_an_address_of_nothing_is_refused(history: History) -> None:
    with pytest.raises(InvalidQuery, match="no address"):
        operations.forget(history, ["claude-mem://mood/1"])


class Killed(BaseException):
    """Ends a process at this point."""


def test_forgetting_that_was_killed_is_finished_by_the_next_import(
    history: History, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill() -> None:
        raise Killed

    made = transcript(home)
    imported(history, home)
    with monkeypatch.context() as patch:
        patch.setattr(history.database, "rewrite", kill)
        with pytest.raises(Killed):
            operations.forget(history, ["P2"])
    assert files_with(home, "quetzal")
    for table in ("messages", "session_summaries", "observations", "sessions"):
        assert "quetzal" not in str(rows(history, f"SELECT * FROM {table}"))

    made.prompt("go on")
    imported(history, home)

    assert files_with(home, "quetzal") == []


def test_a_lost_key_stops_imports_until_that_is_accepted(history: History, home: Path) -> None:
    """Nothing says any more which conversations were forgotten."""
    transcript(home)
    imported(history, home)
    operations.forget(history, ["login"])
    imported(history, home)
    assert not rows(history, "SELECT 1 FROM sessions")
    Path(paths.keys(), tombstones.KEY_NAME).unlink()

    with pytest.raises(InvalidRequest, match="is lost: an import would bring them back"):
        imported(history, home)
    transcript(home, "other")
    assert not rows(history, "SELECT 1 FROM sessions")

    tombstones.accept_lost_key(history.database)
    imported(history, home)
    assert rows(history, "SELECT count(*) FROM sessions") == [(2,)]
    operations.forget(history, ["other"])
    imported(history, home)
    assert rows(history, "SELECT external_id FROM sessions") == [("login",)]
