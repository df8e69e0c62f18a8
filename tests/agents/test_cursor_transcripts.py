"""Cursor's conversations, as others describe its database: none could be recorded."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import transcripts
from tests.agents.places import place
from tests.agents.transcripts import folded, read, read_marked, said, uses
from triseek.agents.cursor_transcripts import CursorTranscripts
from triseek.model.conversation import Conversation, Edit, Message, Unreadable

if TYPE_CHECKING:
    from pathlib import Path

READER = CursorTranscripts()
NAME = "0b5c1e6a-1111-4222-8333-444455556666"


def _tool(
    name: str, result: Any = None, status: str = "completed", **values: Any
) -> dict[str, Any]:
    return {
        "toolCallId": f"call_{name}", "name": name, "status": status,
        "rawArgs": json.dumps(values), "result": json.dumps(result) if result else "",
    }  # fmt: skip


BUBBLES: dict[str, dict[str, Any]] = {
    "b1": {"type": 1, "text": "Fix the sum", "createdAt": "2026-07-28T10:06:00.000Z"},
    "b2": {"type": 2, "text": "I look.", "thinking": {"text": "hm"},
           "toolFormerData": _tool("read_file_v2", {"contents": "def add"}, path="/work/a.py")},
    "b3": {"type": 2, "toolFormerData": _tool(
        "run_terminal_cmd", {"output": "1 failed", "exitCode": 1}, command="make")},
    "b4": {"type": 2, "toolFormerData": _tool(
        "search_replace", {"ok": 1}, file_path="b.py", old_string="-", new_string="+")},
    "b5": {"type": 2, "toolFormerData": _tool("grep", status="error", pattern="x")},
    "b6": {"type": 2, "text": "", "toolFormerData": {"additionalData": {"status": "error"}}},
    "b7": {"type": 2, "text": "Fixed.", "createdAt": "2026-07-28T10:07:00.000Z"},
}  # fmt: skip
COMPOSER = {
    "composerId": NAME, "name": "Sums", "createdAt": 1_785_233_160_000,
    "lastUpdatedAt": 1_785_233_220_000, "modelConfig": {"modelName": "small"},
    "workspaceIdentifier": {"uri": {"fsPath": "/work"}},
    "fullConversationHeadersOnly": [
        {"bubbleId": name, "type": one["type"]} for name, one in BUBBLES.items()
    ],
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The editor's database, as far as it is read."""
    file = tmp_path / "state.vscdb"
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute(
            "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
        )
    _put(file, **{"other:1": {"a": 1}, **_keys(NAME, BUBBLES), f"composerData:{NAME}": COMPOSER})
    return file


def test_a_conversation(path: Path):
    conversation, *records = folded(read(READER, path))[NAME]
    assert conversation == Conversation(
        id=NAME, cwd="/work", title="Sums", model="small", started_ms=1_785_233_160_000
    )
    assert said(records) == [
        ("user", "Fix the sum"),
        ("assistant", "I look."),
        ("read_file_v2", "def add"),
        ("run_terminal_cmd", "1 failed"),
        ("search_replace", '{"ok": 1}'),
        ("grep", ""),
        ("assistant", "Fixed."),
    ]
    first, shell, edit, search = uses(records).values()
    assert (first.reads, first.failed) == (("/work/a.py",), False)
    assert (shell.command, shell.exit_status, shell.failed) == ("make", 1, True)
    assert edit.edits == (Edit(path="/work/b.py", before="-", after="+"),)
    assert search.failed is True
    assert isinstance(records[0], Message)
    assert records[0].time_ms == 1_785_233_160_000


def test_only_conversations_that_changed_are_read(path: Path):
    old = {"type": 1, "text": "Old", "createdAt": 1}
    _put(path, **_keys("old", {"x1": old}))
    headers = [{"bubbleId": "x1"}]
    _put(path, **{"composerData:old": {"fullConversationHeadersOnly": headers, "lastUpdatedAt": 1}})
    _put(path, last=1)
    _, mark = read_marked(READER, path)
    # What is as old as the newest may have changed since.
    assert folded(read(READER, path, mark)).keys() == {NAME}
    _put(path, **_keys("old", {"x1": {**old, "text": "Changed"}}))
    assert said(folded(read(READER, path, mark))["old"]) == [("user", "Changed")]


def test_the_last_row_may_be_written_again(path: Path):
    headers = [{"bubbleId": "x1"}]
    _put(path, **{"composerData:old": {"fullConversationHeadersOnly": headers, "lastUpdatedAt": 1}})
    _put(path, **_keys("old", {"x1": {"type": 1, "text": "Old"}}))
    _, mark = read_marked(READER, path)
    _put(path, **_keys("old", {"x1": {"type": 1, "text": "Changed"}}))
    assert said(folded(read(READER, path, mark))["old"]) == [("user", "Changed")]


def test_a_conversation_that_got_the_rows_of_a_deleted_one(path: Path):
    _put(path, **{f"filler:{number}": number for number in range(20)})
    _, mark = read_marked(READER, path)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM cursorDiskKV WHERE key LIKE 'filler:%'")
        database.commit()
    bubble = {"type": 1, "text": "New"}
    _put(path, **_keys("new", {"n1": bubble}))
    _put(path, **{"composerData:new": {"fullConversationHeadersOnly": [{"bubbleId": "n1"}]}})
    assert said(folded(read(READER, path, mark))["new"]) == [("user", "New")]


def test_older_conversations_hold_their_bubbles(path: Path):
    inline = [{"bubbleId": "i1", "type": 1, "text": "Hello"}, {"bubbleId": "i2", "type": 2,
              "rawText": "Hi"}]  # fmt: skip
    _put(path, **{"composerData:old": {"conversation": inline}})
    assert said(folded(read(READER, path))["old"]) == [("user", "Hello"), ("assistant", "Hi")]


def test_hostile_content(path: Path):
    whole = {**_keys(NAME, BUBBLES), f"composerData:{NAME}": COMPOSER}
    for seed in range(100):
        _put(path, **transcripts.spoiled(whole, seed, places=10))
        transcripts.check(read(READER, path))


def test_values_that_are_no_json_are_named(path: Path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE cursorDiskKV SET value = '{' WHERE key LIKE '%:b2'")
        database.execute("UPDATE cursorDiskKV SET value = ? WHERE key LIKE '%:b3'", (b"\xff",))
        database.execute("INSERT INTO cursorDiskKV VALUES ('composerData:x', NULL)")
        database.commit()
    records = read(READER, path)
    assert len([one for one in records if isinstance(one, Unreadable)]) == 2
    assert "Fixed." in {one.text for one in records if isinstance(one, Message)}


def test_another_database_has_no_conversations(tmp_path: Path):
    file = tmp_path / "state.vscdb"
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE ItemTable (key, value)")
        database.commit()
    assert read(READER, file) == []


def test_a_transcript_of_an_agent(tmp_path: Path):
    path = _transcript(tmp_path, "main")
    conversation, *records = folded(read(READER, path))["main"]
    assert conversation == Conversation(id="main")
    assert said(records) == [
        ("user", "List it"), ("assistant", "Listing."), ("Shell", ""), ("StrReplace", ""),
    ]  # fmt: skip
    shell, edit = uses(records).values()
    assert shell.command == "ls"
    assert edit.edits == (Edit(path="/work/a.py", before="-", after="+"),)
    assert read(READER, path) == read(READER, path)


def test_a_transcript_of_a_sub_agent(tmp_path: Path):
    path = _transcript(tmp_path / "main/subagents", "sub")
    conversation = read(READER, path)[0]
    assert conversation == Conversation(id="sub", parent="main", is_sub_agent=True)


def test_transcripts_that_the_database_has_are_no_sources(tmp_path: Path, path: Path):
    here = place(tmp_path / "x").here
    data = tmp_path / "x/home/.config/Cursor/User/globalStorage"
    data.mkdir(parents=True)
    database = path.rename(data / "state.vscdb")
    folder = tmp_path / "x/home/.cursor/projects/work/agent-transcripts"
    other = _transcript(folder / "other", "other")
    _transcript(folder / NAME, NAME)
    _transcript(folder.parent / "terminals", "no")
    assert list(READER.sources(here)) == [str(database), str(other)]
    assert READER.resume("x") == ("cursor-agent", "--resume=x")


def _transcript(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    content = [
        {"type": "text", "text": "Listing."},
        {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}},
        {"type": "tool_use", "name": "StrReplace",
         "input": {"path": "/work/a.py", "old_string": "-", "new_string": "+"}},
    ]  # fmt: skip
    query = "<timestamp>Monday</timestamp>\n<user_query>\nList it\n</user_query>"
    lines = [
        {"role": "user", "message": {"content": [{"type": "text", "text": query}]}},
        {"role": "assistant", "message": {"content": content}},
        {"type": "turn_ended", "status": "success"},
    ]
    return transcripts.write_rows(folder / f"{name}.jsonl", lines)


def _keys(conversation: str, bubbles: dict[str, Any]) -> dict[str, Any]:
    return {f"bubbleId:{conversation}:{name}": one for name, one in bubbles.items()}


def _put(path: Path, **values: Any) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        for key, value in values.items():
            database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(value)))
        database.commit()
