"""Goose's sessions, as its source writes them: none could be recorded."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import transcripts
from tests.agents.places import place
from tests.agents.transcripts import folded, read, read_marked, said, uses
from triseek.agents.goose import GooseTranscripts
from triseek.model.conversation import Conversation, Edit, Message, Unreadable

if TYPE_CHECKING:
    from pathlib import Path

READER = GooseTranscripts()
SESSION = {
    "id": "20260301_1", "name": "Fix the sum", "description": "", "session_type": "user",
    "working_dir": "/work/repo", "created_at": "2026-03-01 09:00:00",
    "updated_at": "2026-03-01 09:01:05", "model_config_json": '{"model_name":"small"}',
}  # fmt: skip


def _use(use: str, name: str, **values: Any) -> dict[str, Any]:
    call = {"status": "success", "value": {"name": name, "arguments": values}}
    return {"type": "toolRequest", "id": use, "toolCall": call}


def _result(use: str, text: str, **more: Any) -> dict[str, Any]:
    value = {"content": [{"type": "text", "text": text}], **more}
    return {"type": "toolResponse", "id": use, "toolResult": {"status": "success", "value": value}}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


REFUSED = {"type": "toolResponse", "id": "c4", "toolResult": {"status": "error", "error": "No."}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": ""}
MESSAGES: list[tuple[str, list[dict[str, Any]]]] = [
    ("user", [_text("Run the tests")]),
    ("assistant", [THOUGHT, _text("I run them."), _use("c1", "developer__shell", command="make")]),
    ("user", [_result("c1", "1 failed", structuredContent={"exit_code": 2})]),
    ("assistant", [_use("c2", "developer__text_editor", command="str_replace", path="a.py",
                        old_str="-", new_str="+"),
                   _use("c3", "write", path="/work/b.py", file_text="b"),
                   _use("c4", "developer__text_editor", command="view", path="/work/c.py")]),
    ("user", [_result("c2", "ok"), _result("c3", "ok"), REFUSED]),
    ("assistant", [_text("Fixed.")]),
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of schema version 13, as far as it is read."""
    file = tmp_path / "sessions.db"
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute(f"CREATE TABLE sessions ({', '.join(SESSION)})")
        database.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id, role,"
            " content_json, created_timestamp, metadata_json, message_id)"
        )
        marks = ", ".join("?" * len(SESSION))
        database.execute(f"INSERT INTO sessions VALUES ({marks})", [*SESSION.values()])
        database.commit()
    for number, (role, content) in enumerate(MESSAGES):
        _insert(file, role, content, time=1_772_355_600 + number, name=f"m{number}")
    return file


def test_a_session(path: Path):
    conversation, *records = folded(read(READER, path))["20260301_1"]
    assert conversation == Conversation(
        id="20260301_1", cwd="/work/repo", title="Fix the sum", model="small",
        started_ms=1_772_355_600_000,
    )  # fmt: skip
    assert said(records) == [
        ("user", "Run the tests"),
        ("assistant", "I run them."),
        ("developer__shell", "1 failed"),
        ("developer__text_editor", "ok"),
        ("write", "ok"),
        ("developer__text_editor", "No."),
        ("assistant", "Fixed."),
    ]
    shell, edit, write, view = uses(records).values()
    assert (shell.command, shell.exit_status, shell.failed) == ("make", 2, True)
    assert (shell.time_ms, shell.ended_ms) == (1_772_355_601_000, 1_772_355_602_000)
    assert edit.edits == (Edit(path="/work/repo/a.py", before="-", after="+"),)
    assert write.edits == (Edit(path="/work/b.py", after="b"),)
    assert (view.reads, view.failed) == (("/work/c.py",), True)


def test_only_new_messages_are_read(path: Path):
    _, mark = read_marked(READER, path)
    _insert(path, "user", [_text("Thanks")], name="m9")
    new = read(READER, path, mark)
    assert said(new) == [("user", "Thanks")]
    assert [one.id for one in new if isinstance(one, Conversation)] == ["20260301_1"]


def test_a_compaction(path: Path):
    hidden = {"userVisible": False, "agentVisible": True}
    _insert(path, "user", [_text("What was done.")], metadata=hidden)
    _insert(path, "assistant", [_text("Your context was compacted.")], metadata=hidden)
    assert said(folded(read(READER, path))["20260301_1"])[-2:] == [
        ("assistant", "Fixed."), ("summary", "What was done."),
    ]  # fmt: skip


def test_messages_that_are_inserted_again_keep_their_ids(path: Path):
    before, mark = read_marked(READER, path)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM messages")
        database.commit()
    for number, (role, content) in enumerate(MESSAGES):
        _insert(path, role, content, name=f"m{number}")
    again = read(READER, path, mark)
    assert [one.id for one in again if isinstance(one, Message)] == [
        one.id for one in before if isinstance(one, Message)
    ]


def test_older_tables(path: Path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        for column in ("message_id", "metadata_json"):
            database.execute(f"ALTER TABLE messages DROP COLUMN {column}")
        for column in ("session_type", "model_config_json"):
            database.execute(f"ALTER TABLE sessions DROP COLUMN {column}")
        database.execute("UPDATE sessions SET name = '', description = 'Old'")
        database.commit()
    conversation, *records = folded(read(READER, path))["20260301_1"]
    assert isinstance(conversation, Conversation)
    assert (conversation.title, conversation.model) == ("Old", "")
    assert len(said(records)) == 7


def test_a_sub_agent(path: Path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE sessions SET session_type = 'sub_agent'")
        database.commit()
    conversation = folded(read(READER, path))["20260301_1"][0]
    assert isinstance(conversation, Conversation)
    assert conversation.is_sub_agent


def test_hostile_content(path: Path):
    for seed in range(100):
        contents = transcripts.spoiled([content for _, content in MESSAGES], seed, 8)
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("DELETE FROM messages")
            database.commit()
        for content in contents:
            _insert(path, "assistant", content, metadata=transcripts.ODD[seed % 21])
        with contextlib.closing(sqlite3.connect(path)) as database:
            odd = (seed, b"\xff\xfe", "x" * 9, None, 1.5, "[1]")
            for place_, column in enumerate(("role", "content_json", "created_timestamp")):
                value = odd[(seed + place_) % len(odd)]
                database.execute(f"UPDATE messages SET {column} = ? WHERE rowid % 5 = 1", (value,))
            for place_, column in enumerate([*SESSION][1:]):
                value = odd[(seed + place_) % len(odd)]
                database.execute(f"UPDATE sessions SET {column} = ?", (value,))
            database.commit()
        transcripts.check(read(READER, path))


def test_messages_of_no_session_are_named(path: Path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE messages SET session_id = NULL WHERE id = 1")
        database.commit()
    assert [one for one in read(READER, path) if isinstance(one, Unreadable)] == [
        Unreadable(where="row 1 of messages", reason="no session")
    ]


def test_sources(tmp_path: Path, path: Path):
    here = place(tmp_path / "x", GOOSE_PATH_ROOT=str(tmp_path)).here
    folder = tmp_path / "data/sessions"
    folder.mkdir(parents=True)
    path.rename(folder / "sessions.db")
    (folder / "backup.db").touch()
    assert list(READER.sources(here)) == [str(folder / "sessions.db")]
    assert READER.resume("a") == ("goose", "session", "--resume", "--session-id", "a")


def _insert(
    path: Path, role: str, content: Any, *, time: int = 0, name: str | None = None,
    metadata: Any = None,
) -> None:  # fmt: skip
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp,"
            " metadata_json, message_id) VALUES (?, ?, ?, ?, ?, ?)",
            ("20260301_1", role, json.dumps(content), time, json.dumps(metadata), name),
        )
        database.commit()
