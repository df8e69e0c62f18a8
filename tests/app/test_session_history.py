"""What triseek's own sessions recorded is part of the history, unless something better is."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.app.worked import Worked
from tests.cli.running import triseek
from tests.history import stub_agent
from tests.sessions import hostile_packs
from tests.sessions.snapshots import Kept
from triseek.app.session_history import SessionHistory
from triseek.errors import InvalidRequest, PackRejected
from triseek.history import operations
from triseek.history.importing.run import AgentReport
from triseek.history.service import History
from triseek.model.conversation import Conversation, Message
from triseek.redaction import PRIVATE
from triseek.sessions import pack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROMPT = "Please mend the flaky retry test in src/a.py"
SECRET = "AKIA" + "Q7ZB3MNX4KTW2PLD"


class OpenCode(stub_agent.StubAgent):
    """Has the name of the agent whose hooks report."""

    name = "opencode"


@pytest.fixture
def worked(tmp_path: Path) -> Iterator[Worked]:
    worked = Worked(tmp_path)
    yield worked
    worked.keeping.close()


@pytest.fixture
def history(worked: Worked) -> Iterator[History]:
    own = SessionHistory(worked.keeping.sessions, worked.keeping.snapshots)
    history = History(own=own)
    yield history
    history.close()


def work(worked: Worked) -> None:
    worked.hook("UserPromptSubmit", prompt=PROMPT)
    worked.read("src/a.py")
    worked.tool("bash", {"command": "pytest -q"}, "1 failed")
    worked.tool("edit", {"filePath": f"{worked.root}/src/a.py", "oldString": "1", "newString": "2"})


def imported(history: History, home: Path, *agents: Any) -> AgentReport:
    report = history.import_conversations(agents, stub_agent.place(home))
    return report.agents["triseek"]


def shown(history: History, name: str = "s") -> list[tuple[str, str]]:
    reply = operations.show(history, name)
    return [(entry["kind"], entry["text"]) for entry in reply["entries"]]


def dump(history: History) -> list[Any]:
    with history.database.read() as connection:
        return [
            connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in ("sessions", "messages", "tool_events", "event_files", "observations")
        ]


def test_a_session_is_a_conversation_of_its_agent(
    worked: Worked, history: History, home: Path
) -> None:
    work(worked)
    counts = imported(history, home)
    assert (counts.messages, counts.events, counts.conversations) == (1, 3, 1)
    row = operations.show(history, "s")["conversation"]
    assert (row["agent"], row["session"], row["root"]) == ("opencode", "s", worked.root)
    assert shown(history) == [
        ("user", PROMPT), ("tool", "read"), ("tool", "pytest -q"), ("tool", "edit"),
    ]  # fmt: skip
    assert operations.blame(history, f"{worked.root}/src/a.py", 5)["found"]
    assert operations.how(history, "pytest", "", 5)["found"]
    assert operations.search(history, "flaky retry")["total"] == 1


def test_only_what_is_new_is_read(worked: Worked, history: History, home: Path) -> None:
    work(worked)
    imported(history, home)
    before = dump(history)
    assert imported(history, home) == AgentReport(sources=1)
    assert dump(history) == before
    worked.hook("UserPromptSubmit", prompt="and now the other one")
    counts = imported(history, home)
    assert (counts.messages, counts.events) == (1, 0)
    assert ("user", "and now the other one") in shown(history)


def test_secrets_and_private_turns_are_not_written(
    worked: Worked, history: History, home: Path
) -> None:
    worked.hook("UserPromptSubmit", prompt=f"use {SECRET} there")
    worked.hook("UserPromptSubmit", prompt="<private>nobody's business</private>")
    worked.tool("bash", {"command": "make private"}, "ok")
    imported(history, home)
    said = " ".join(text for _, text in shown(history))
    assert SECRET not in said
    assert "nobody" not in said
    assert "make private" not in said
    assert PRIVATE in said


def transcript(home: Path, *texts: str) -> None:
    said = [
        Message(conversation="s", id=f"m{number}", role="user", text=text, time_ms=number + 1)
        for number, text in enumerate(texts)
    ]
    stub_agent.write(home / "stub" / "a.jsonl", Conversation(id="s", cwd=str(home)), *said)


def test_a_transcript_that_was_imported_wins(worked: Worked, history: History, home: Path) -> None:
    transcript(home, "from the transcript")
    work(worked)
    counts = imported(history, home, OpenCode())
    assert (counts.messages, counts.events, counts.conversations) == (0, 0, 0)
    assert shown(history) == [("user", "from the transcript")]


def test_a_transcript_that_comes_later_replaces_what_was_recorded(
    worked: Worked, history: History, home: Path
) -> None:
    work(worked)
    imported(history, home)
    with history.database.write() as connection:
        connection.execute(
            "INSERT INTO observations (session_id, type, title, origin, row_hash)"
            " VALUES (1, 'discovery', 'kept', 'explicit', 'x')"
        )
    transcript(home, "from the transcript")
    imported(history, home, OpenCode())
    worked.hook("UserPromptSubmit", prompt="recorded afterwards")
    imported(history, home, OpenCode())
    assert shown(history) == [("user", "from the transcript")]
    with history.database.read() as connection:
        rows = connection.execute("SELECT title FROM observations WHERE origin = 'explicit'")
        assert rows.fetchall() == [("kept",)]
        prompts = connection.execute("SELECT prompt_number FROM messages").fetchall()
    assert prompts == [(1,)]
    assert operations.search(history, "flaky retry")["total"] == 0


def test_only_the_conversation_of_that_agent_is_replaced(
    worked: Worked, history: History, home: Path
) -> None:
    work(worked)
    imported(history, home)
    transcript(home, "of another agent")
    imported(history, home, stub_agent.AGENT)
    with history.database.read() as connection:
        agents = connection.execute("SELECT agent, external_id FROM sessions ORDER BY 1").fetchall()
    assert agents == [("opencode", "s"), ("stub", "s")]


def test_nothing_is_followed_before_the_first_import(
    worked: Worked, history: History, home: Path
) -> None:
    work(worked)
    place = stub_agent.place(home)
    assert history.follow(place).agents == {}
    history.import_conversations([OpenCode()], place)
    worked.hook("UserPromptSubmit", prompt="and another")
    assert history.follow(place).agents["triseek"].messages == 1


def test_what_was_forgotten_does_not_come_back(
    worked: Worked, history: History, home: Path
) -> None:
    work(worked)
    imported(history, home)
    operations.forget(history, ["s"])
    work(worked)
    counts = imported(history, home)
    assert (counts.messages, counts.events, counts.forgotten) == (0, 0, 4)


def test_damaged_lines_are_skipped_and_named(worked: Worked, history: History, home: Path) -> None:
    work(worked)
    [session] = worked.keeping.sessions.every()
    log = worked.keeping.sessions.log(session.session_id).path
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"kind": 1}\nno json\n\xff\n' + whole[:20])
    counts = imported(history, home)
    assert (counts.messages, counts.events, len(counts.skipped)) == (1, 3, 3)


# Packs


def packed(worked: Worked, tmp_path: Path) -> Path:
    snapshot_id = worked.ask("session_snapshot")["snapshot_id"]
    target = tmp_path / "work.tcp"
    pack.export(worked.keeping.snapshots.folder(snapshot_id), target)
    return target


@pytest.fixture
def received(worked: Worked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pack, on a machine that has nothing else."""
    work(worked)
    file = packed(worked, tmp_path)
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "elsewhere"))
    return file


def test_a_pack_is_imported_from_the_command_line(received: Path, tmp_path: Path) -> None:
    done = triseek(["history", "import", "--file", str(received)], tmp_path)
    assert done.err == ""
    assert done.out.decode().startswith("pack: 1 of 1 file read, 1 message and 3 uses of tools")
    history = History()
    assert shown(history)[0] == ("user", PROMPT)
    before = dump(history)
    history.close()
    again = triseek(["history", "import", "--file", str(received)], tmp_path)
    assert b"0 of 1 file read" in again.out
    history = History()
    assert dump(history) == before
    history.close()


def test_a_pack_gives_way_to_what_is_recorded_here(
    worked: Worked, history: History, home: Path, tmp_path: Path
) -> None:
    work(worked)
    file = packed(worked, tmp_path)
    place = stub_agent.place(home)
    assert history.import_pack(str(file), place).agents["pack"].messages == 1
    assert imported(history, home).messages == 1  # takes its place
    assert len(shown(history)) == 4
    later = tmp_path / "later.tcp"
    later.write_bytes(file.read_bytes())
    assert history.import_pack(str(later), place).agents["pack"].messages == 0
    with history.database.read() as connection:
        gone = connection.execute("SELECT count(*) FROM sources WHERE gone_at IS NOT NULL")
        assert gone.fetchone() == (0,)


def test_hostile_packs_are_refused_and_leave_nothing(
    history: History, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "hostile.tcp"
    kept = Kept(tmp_path / "sender")
    pack.export(kept.create()[1], file)
    good = dict(pack.unpack(file).files)
    chance = random.Random(18)
    before = dump(history)
    for number in range(len(hostile_packs.FAMILIES)):
        file.write_bytes(hostile_packs.hostile(good, number, chance).held)
        with pytest.raises(PackRejected):
            history.import_pack(str(file), stub_agent.place(home))
    assert dump(history) == before
    with history.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM sources").fetchone() == (0,)


def test_a_file_that_is_no_pack_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "bad.tcp").write_bytes(b"no pack")
    for name, reason in (
        ("bad.tcp", "bad.tcp"),
        ("gone.tcp", "no such file"),
        ("a.zip", "no such file"),
    ):
        done = triseek(["history", "import", "--file", name], tmp_path)
        assert done.status == 2
        assert done.err.count("\n") == 1
        assert reason in done.err
    done = triseek(["history", "import", "--file", "bad.tcp", "--all"], tmp_path)
    assert "--file" in done.err


def test_without_sessions_no_pack_can_be_read(home: Path) -> None:
    with pytest.raises(InvalidRequest):
        History().import_pack("a.tcp", stub_agent.place(home))
