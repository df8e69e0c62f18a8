"""An import writes each record once, goes on where it was, cleans, and omits what was forgotten."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sqlite3
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.history import made_transcripts, stub_agent
from triseek import paths
from triseek.agents import transcript_database
from triseek.errors import Busy
from triseek.history import forgetting
from triseek.history.database import open_database
from triseek.history.importing import run, sources
from triseek.history.importing.cleaning import NOT_KEPT, OUTPUT_MAX
from triseek.history.selecting import Selection
from triseek.model.conversation import Conversation, Edit, Message, ToolEvent
from triseek.store import lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.history.importing.run import AgentReport, ImportReport
    from triseek.store.sqlite import Database

KEY = "AKIA" + "Q7ZB3MNX4KTW2PLD"
AGENTS = (stub_agent.AGENT,)


@pytest.fixture
def database() -> Iterator[Database]:
    database = open_database()
    yield database
    database.close()


@pytest.fixture
def transcript(home: Path) -> Path:
    return home / "stub" / "a.jsonl"


def imported(database: Database, home: Path, **more: Any) -> ImportReport:
    place = stub_agent.place(home)
    return run.run(database, AGENTS, place, folder=paths.history(), **more)


def rows(database: Database, query: str) -> list[tuple[Any, ...]]:
    with database.read() as connection:
        return connection.execute(query).fetchall()


def dump(database: Database) -> list[list[tuple[Any, ...]]]:
    """Everything but what says when a source was read."""
    tables = ("sessions", "messages", "tool_events", "event_files", "user_prompts_fts")
    return [rows(database, f"SELECT * FROM {table} ORDER BY 1") for table in tables]


def said(number: int, text: str, role: Any = "user", conversation: str = "c") -> Message:
    return Message(
        conversation=conversation, id=f"m{number}", role=role, text=text, time_ms=1000 * number
    )


def ran(number: int, **more: Any) -> ToolEvent:
    return ToolEvent(conversation="c", id=f"t{number}", time_ms=1000 * number, **more)


def test_records_are_written_with_their_prompt(
    database: Database, home: Path, transcript: Path
) -> None:
    stub_agent.write(
        transcript,
        Conversation(id="c", cwd=str(home), title="Mend it", branch="main", started_ms=500),
        said(1, "first"),
        ran(2, name="Bash", command="make", exit_status=2, failed=True, output="error: x"),
        said(3, "done", "assistant"),
        said(4, "second"),
        ran(5, name="Edit", edits=(Edit(path=f"{home}/a.py", before="x", after="y"),)),
    )
    report = imported(database, home)
    assert rows(database, "SELECT role, prompt_number, text FROM messages ORDER BY id") == [
        ("user", 1, "first"), ("assistant", 1, "done"), ("user", 2, "second"),
    ]  # fmt: skip
    assert rows(
        database, "SELECT prompt_number, name, command, exit_status, failed FROM tool_events"
    ) == [(1, "Bash", "make", 2, 1), (2, "Edit", "", None, None)]
    assert rows(database, "SELECT path, role, before, after FROM event_files") == [
        (f"{home}/a.py", "modified", "x", "y")
    ]
    assert rows(
        database,
        "SELECT agent, external_id, title, branch, cwd, prompt_counter, started_at_epoch,"
        " completed_at_epoch FROM sessions",
    ) == [("stub", "c", "Mend it", "main", str(home), 2, 500, 5000)]
    counts = report.agents["stub"]
    assert (counts.messages, counts.events, counts.conversations) == (3, 2, 1)


def test_a_second_import_changes_nothing(database: Database, home: Path, transcript: Path) -> None:
    stub_agent.write(transcript, Conversation(id="c"), said(1, "first"), ran(2, name="Read"))
    imported(database, home)
    before = dump(database)
    report = imported(database, home)
    assert dump(database) == before
    assert (report.agents["stub"].sources, report.agents["stub"].read) == (1, 0)


def test_a_longer_file_is_read_from_where_it_ended(
    database: Database, home: Path, transcript: Path
) -> None:
    stub_agent.write(transcript, Conversation(id="c"), said(1, "first"))
    with transcript.open("a") as file:
        file.write('{"kind": "Message", "conversation": "c", "id": "torn')
    imported(database, home)
    before = transcript.stat().st_size
    with transcript.open("a") as file:
        file.write('", "role": "user", "text": "torn"}\n')
    stub_agent.write(transcript, said(3, "third", "assistant"))
    report = imported(database, home)
    assert rows(database, "SELECT text, prompt_number FROM messages") == [
        ("first", 1), ("torn", 2), ("third", 2),
    ]  # fmt: skip
    assert report.agents["stub"].bytes < before


def test_a_rewritten_file_is_read_again_and_loses_nothing(
    database: Database, home: Path, transcript: Path
) -> None:
    stub_agent.write(transcript, Conversation(id="c"), said(1, "first"), said(2, "second"))
    imported(database, home)
    stub_agent.write(
        transcript, Conversation(id="c"), said(1, "first"), said(9, "other way"), mode="w"
    )
    imported(database, home)
    texts = [row[0] for row in rows(database, "SELECT text FROM messages ORDER BY id")]
    assert texts == ["first", "second", "other way"]


def test_progress_is_shown_within_a_file(
    database: Database, home: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "RECORDS_MAX", 2)
    stub_agent.write(transcript, Conversation(id="c"), *(said(one, "words") for one in range(9)))
    shown: list[int] = []
    imported(database, home, progress=lambda _stage, done, _total: shown.append(done))
    assert shown == sorted(shown)
    assert len(set(shown)) == 5
    assert shown[-1] == transcript.stat().st_size


def test_what_the_agent_deletes_is_kept(database: Database, home: Path, transcript: Path) -> None:
    stub_agent.write(transcript, Conversation(id="c"), said(1, "first"))
    imported(database, home)
    transcript.unlink()
    imported(database, home)
    assert rows(database, "SELECT text FROM messages") == [("first",)]
    assert rows(database, "SELECT count(*) FROM sources WHERE gone_at IS NOT NULL") == [(1,)]


def test_a_source_that_is_not_listed_is_not_gone(
    database: Database, home: Path, transcript: Path
) -> None:
    """The daemon's environment may name other folders than that of the command."""
    stub_agent.write(transcript, Conversation(id="c"), said(1, "first"))
    imported(database, home)
    elsewhere = stub_agent.place(home / "elsewhere")
    run.run(database, AGENTS, elsewhere, folder=paths.history())
    assert rows(database, "SELECT gone_at FROM sources") == [(None,)]
    aside = transcript.rename(home / "aside")
    imported(database, home)
    assert rows(database, "SELECT count(gone_at) FROM sources") == [(1,)]
    aside.rename(transcript)
    imported(database, home)
    assert rows(database, "SELECT gone_at FROM sources") == [(None,)]


def test_a_database_that_was_locked_is_read_later(
    database: Database, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_database, "BUSY_S", 0.05)
    [opencode] = [agent for agent in sources.importable() if agent.name == "opencode"]
    path = made_transcripts.opencode(home, "session", lambda kind: kind)

    def again() -> AgentReport:
        place = stub_agent.place(home)
        return run.run(database, [opencode], place, folder=paths.history()).agents["opencode"]

    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("PRAGMA journal_mode = DELETE")
        owner.execute("BEGIN EXCLUSIVE")
        for _ in range(2):
            report = again()
            assert (report.read, report.messages) == (1, 0)
            assert "locked" in report.skipped[0]
        owner.execute("ROLLBACK")
    assert again().messages == 2
    assert again().read == 0


def test_a_result_completes_its_use(database: Database, home: Path, transcript: Path) -> None:
    stub_agent.write(transcript, Conversation(id="c"), ran(1, name="Bash", command="make"))
    imported(database, home)
    stub_agent.write(transcript, ran(1, exit_status=1, failed=True, output="no rule"))
    imported(database, home)
    assert rows(database, "SELECT name, command, exit_status, failed, output FROM tool_events") == [
        ("Bash", "make", 1, 1, "no rule")
    ]


def test_secrets_reach_no_file(database: Database, home: Path, transcript: Path) -> None:
    stub_agent.write(
        transcript,
        Conversation(id="c", title=f"use {KEY}"),
        said(1, f"the key is {KEY}"),
        ran(2, name="Bash", command=f"export KEY={KEY}", input=f'{{"a":"{KEY}"}}', output=KEY),
        ran(3, name="Edit", edits=(Edit(path=f"{home}/a", before=KEY, after=f"x {KEY}"),)),
    )
    imported(database, home)
    database.close()
    held = [path for path in home.rglob("*") if path.is_file() and path != transcript]
    assert any(path.name == "history.db" for path in held)
    assert not [path for path in held if KEY.encode() in path.read_bytes()]


def test_names_that_hold_secrets_stay_apart_without_them(database: Database, home: Path) -> None:
    other = KEY[:-1] + "Q"
    for number, key in enumerate((KEY, other)):
        transcript = home / "stub" / f"{key}.jsonl"
        use = ran(2, name=f"tool/{key}", reads=(f"/a/{key}/b",), edits=(Edit(path=f"/{key}"),))
        stub_agent.write(
            transcript,
            Conversation(id=key, cwd=f"/a/{key}", branch=key),
            said(1, f"prompt {number}", conversation=key),
            dataclasses.replace(use, conversation=key, id=f"t/{key}", parent=f"m/{key}"),
        )
        with transcript.open("a") as file:
            file.write(f'["{key}"]\n{{"{key}\n')
    report = imported(database, home)
    assert imported(database, home).agents["stub"].read == 0
    assert report.agents["stub"].conversations == 2
    assert rows(database, "SELECT text FROM messages ORDER BY text") == [
        ("prompt 0",), ("prompt 1",),
    ]  # fmt: skip
    sessions = tuple(row[0] for row in rows(database, "SELECT id FROM sessions"))
    forgetting.forget(database, Selection(sessions=sessions))
    for path in (home / "stub").iterdir():
        os.utime(path, ns=(0, 0))
    imported(database, home)
    assert rows(database, "SELECT count(*) FROM messages") == [(0,)]
    database.close()
    held = [path for path in home.rglob("*") if path.is_file() and path.parent.name != "stub"]
    content = b"".join(path.read_bytes() for path in held)
    assert KEY.encode() not in content
    assert other.encode() not in content


def test_contents_of_secret_and_ignored_files_are_not_kept(
    database: Database, home: Path, transcript: Path
) -> None:
    root = home / "work"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".gitignore").write_text("*.out\n")
    stub_agent.write(
        transcript,
        Conversation(id="c", cwd=str(root)),
        ran(1, name="Read", reads=(f"{root}/.env",), output="plain"),
        ran(2, name="Bash", command="cat made.out", output="plain"),
        ran(3, name="Read", reads=(f"{root}/a.py",), output="kept"),
        ran(4, name="Write", edits=(Edit(path=f"{root}/server.pem", after="plain"),)),
    )
    imported(database, home)
    assert rows(database, "SELECT output FROM tool_events ORDER BY id") == [
        (NOT_KEPT,), (NOT_KEPT,), ("kept",), ("",),
    ]  # fmt: skip
    assert rows(database, "SELECT after FROM event_files WHERE role = 'modified'") == [("",)]


def test_a_private_turn_is_not_kept(database: Database, home: Path, transcript: Path) -> None:
    stub_agent.write(
        transcript,
        Conversation(id="c"),
        said(1, "<private>our plan</private>"),
        said(2, "about the plan", "assistant"),
        ran(3, name="Bash", command="plan"),
    )
    imported(database, home)
    stub_agent.write(transcript, said(4, "the plan again", "assistant"), said(5, "open"), ran(6))
    imported(database, home)
    assert [row[0] for row in rows(database, "SELECT text FROM messages")] == ["[private]", "open"]
    assert rows(database, "SELECT external_id FROM tool_events") == [("t6",)]


def test_long_outputs_keep_both_ends(database: Database, home: Path, transcript: Path) -> None:
    output = "begin" + "x" * (3 * OUTPUT_MAX) + "end"
    stub_agent.write(transcript, Conversation(id="c"), ran(1, name="Bash", output=output))
    imported(database, home)
    ((kept,),) = rows(database, "SELECT output FROM tool_events")
    assert (kept[:5], kept[-3:]) == ("begin", "end")
    assert len(kept) < OUTPUT_MAX + 100


def test_what_was_forgotten_does_not_come_back(
    database: Database, home: Path, transcript: Path
) -> None:
    long = "a sentence that is long enough to be known again"
    stub_agent.write(transcript, Conversation(id="c"), said(1, long), said(2, "other words"))
    imported(database, home)
    forgetting.forget(database, Selection(sessions=(1,)))
    assert rows(database, "SELECT count(*) FROM messages") == [(0,)]
    with database.read() as connection:
        assert long.encode() not in b"".join(connection.serialize().split())
    stub_agent.write(transcript, said(3, "something new"))
    copy = transcript.with_name("b.jsonl")
    stub_agent.write(copy, Conversation(id="fork"), said(7, long, conversation="fork"))
    report = imported(database, home)
    assert rows(database, "SELECT count(*) FROM messages") == [(0,)]
    assert report.agents["stub"].forgotten == 4  # the file is read from its start again


def test_sub_agents_are_forgotten_with_their_conversation(
    database: Database, home: Path, transcript: Path
) -> None:
    def sub_agent(name: str, parent: str) -> Path:
        path = transcript.with_name(f"{name}.jsonl")
        begun = Conversation(id=name, parent=parent, is_sub_agent=True)
        stub_agent.write(path, begun, said(1, "short", conversation=name))
        return path

    stub_agent.write(transcript, Conversation(id="c"), said(1, "short"))
    below = sub_agent("sub", "c")
    sub_agent("below sub", "sub")
    sub_agent("of another", "d")
    fork = Conversation(id="fork", parent="c")
    stub_agent.write(transcript.with_name("f.jsonl"), fork, said(1, "short", conversation="fork"))
    imported(database, home)
    assert forgetting.count(database, Selection(sessions=(1,))).sessions == 3
    assert forgetting.forget(database, Selection(sessions=(1,))).sessions == 3
    sub_agent("begun later", "below sub")
    stub_agent.write(below, said(2, "later", conversation="sub"))
    assert imported(database, home).agents["stub"].forgotten == 3
    names = rows(database, "SELECT external_id FROM sessions ORDER BY 1")
    assert names == [("fork",), ("of another",)]


def test_copies_of_tool_uses_are_forgotten_with_their_conversation(
    database: Database, home: Path, transcript: Path
) -> None:
    use = ToolEvent(conversation="c", id="toolu_0123456789abcdef", command="cat it", output="quetz")
    counter = dataclasses.replace(use, id="7", output="kept")

    def fork(name: str) -> None:
        copies = [dataclasses.replace(one, conversation=name) for one in (use, counter)]
        stub_agent.write(transcript.with_name(f"{name}.jsonl"), Conversation(id=name), *copies)

    stub_agent.write(transcript, Conversation(id="c"), use, counter)
    fork("d")
    imported(database, home)
    assert forgetting.forget(database, Selection(sessions=(1,))).events == 3
    fork("e")
    assert imported(database, home).agents["stub"].forgotten == 1
    assert rows(database, "SELECT output FROM tool_events") == [("kept",), ("kept",)]


def test_forgetting_leaves_no_path_of_the_transcript(database: Database, home: Path) -> None:
    transcript = home / "stub" / "quetzal.jsonl"
    stub_agent.write(transcript, Conversation(id="c"), said(1, "first"))
    imported(database, home)
    forgetting.forget(database, Selection(sessions=(1,)))
    assert imported(database, home).agents["stub"].read == 0
    stub_agent.write(transcript, said(2, "later"))
    assert imported(database, home).agents["stub"].read == 1
    assert rows(database, "SELECT count(*), count(gone_at) FROM sources") == [(1, 0)]
    database.rewrite()
    assert b"quetzal" not in (home / "history" / "history.db").read_bytes()
    stub_agent.write(transcript, said(3, "of another", conversation="d"))
    assert imported(database, home).agents["stub"].read == 1
    assert imported(database, home).agents["stub"].read == 0
    assert rows(database, "SELECT path FROM sources") == [(str(transcript),)]
    transcript.unlink()
    imported(database, home)
    assert rows(database, "SELECT count(*), count(gone_at) FROM sources") == [(1, 1)]


def test_forgetting_leaves_no_text_in_any_file(
    database: Database, home: Path, transcript: Path
) -> None:
    stub_agent.write(transcript, Conversation(id="c"), said(1, "quetzalcoatl " * 400))
    stub_agent.write(transcript, Conversation(id="d"), said(2, "stays", conversation="d"))
    imported(database, home)
    forgetting.forget(database, Selection(sessions=(1,)))
    files = [path for path in (home / "history").iterdir() if path.is_file()]
    assert not [path.name for path in files if b"quetzal" in path.read_bytes()]
    assert rows(database, "SELECT text FROM messages") == [("stays",)]


def test_malformed_lines_are_reported(database: Database, home: Path, transcript: Path) -> None:
    stub_agent.write(transcript, Conversation(id="c"), said(1, "first"))
    with transcript.open("a") as file:
        file.write("[1]\n{]\n")
    stub_agent.write(transcript, said(2, "second"))
    report = imported(database, home)
    assert len(report.agents["stub"].skipped) == 2
    assert rows(database, "SELECT count(*) FROM messages") == [(2,)]
    with transcript.open("a") as file:
        file.write("{]\n" * 1_234)
    skipped = imported(database, home).agents["stub"].skipped
    assert (len(skipped), skipped[-1]) == (21, f"{transcript}: 1,214 more")


def test_two_imports_do_not_run_at_once(database: Database, home: Path, transcript: Path) -> None:
    stub_agent.write(transcript, Conversation(id="c"), said(1, "first"))
    with lock.writer(paths.history(), run.LOCK), pytest.raises(Busy, match="another import"):
        imported(database, home)


def test_links_and_pipes_are_not_sources(database: Database, home: Path, transcript: Path) -> None:
    stub_agent.write(transcript, Conversation(id="c"), said(1, "first"))
    os.mkfifo(transcript.with_name("b.jsonl"))
    transcript.with_name("c.jsonl").symlink_to("/dev/zero")
    assert imported(database, home).agents["stub"].sources == 1


def test_a_use_is_counted_once_although_its_result_comes_later(
    database: Database, home: Path, transcript: Path
) -> None:
    stub_agent.write(transcript, said(1, "go"), ran(2, name="Bash", command="make"))
    stub_agent.write(transcript, ran(2, output="done"), ran(3, name="Read"))
    assert imported(database, home).agents["stub"].events == 2
    stub_agent.write(transcript, ran(3, output="text"))
    assert imported(database, home).agents["stub"].events == 0
