"""What OpenCode 1.18.33 wrote is read, part for part, also while it writes."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import transcripts
from tests.agents.places import place
from tests.agents.transcripts import RECORDED, TRACE, folded, read, read_marked, said, uses
from triseek.agents.opencode_transcripts import OpenCodeTranscripts
from triseek.model.conversation import Conversation, Edit, Message, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

READER = OpenCodeTranscripts()
ROWS: dict[str, list[dict[str, Any]]] = json.loads(
    (RECORDED / "opencode" / "1.18.33.json").read_text()
)
MAIN, SUB, FORK = (row["id"] for row in ROWS["session"])
LISTING = (
    "Found 3 matches\n/work/repo/test_a.py:\n  Line 1: from a import add\n\n"
    '  Line 3: assert add(1, 2) == 3, "wrong sum"\n\n\n/work/repo/a.py:\n  Line 1: def add(a, b):\n'
)
SHOWN = (
    "<path>/work/repo/a.py</path>\n<type>file</type>\n<content>\n1: def add(a, b):\n"
    "2:     return a - b\n\n(End of file - total 2 lines)\n</content>"
)
FIRST = [
    ("user", "Do as told. [[p1]]"),
    ("read", SHOWN),
    ("bash", TRACE),
    ("edit", "Edit applied successfully."),
    ("write", "Wrote file successfully."),
    ("bash", "fine\n"),
    ("read", "File not found: /work/repo/gone.py"),
    ("grep", LISTING),
    ("assistant", "add() subtracted; fixed."),
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database, with the keys that the program's has."""
    file = tmp_path / "opencode.db"
    with _open(file) as database:
        database.execute("PRAGMA journal_mode = WAL")
        for table, rows in ROWS.items():
            columns = ", ".join(
                f"{name} {'PRIMARY KEY' if name == 'id' else ''}" for name in rows[0]
            )
            database.execute(f"CREATE TABLE {table} ({columns})")
        database.execute("CREATE INDEX parts ON part (message_id, id)")
    return file


def test_a_session(path: Path):
    _fill(path)
    conversation, *records = folded(read(READER, path))[MAIN]
    assert conversation == Conversation(
        id=MAIN, cwd="/work/repo", title="Well.", model="scripted", started_ms=1_795_738_783_084
    )
    agent = (
        f'<task id="{SUB}" state="completed">\n<task_result>\nIt adds now.\n</task_result>\n</task>'
    )
    assert said(records) == [
        *FIRST,
        ("user", "Do as told. [[p2]]"),
        ("task", agent),
        ("assistant", "The sub-agent agrees."),
        ("summary", "<summary>Some files were read. Nothing else is known.</summary>"),
        ("user", "Do as told. [[p3]]"),
        ("assistant", "After the compaction."),
        ("user", "Do as told. [[p6]]"),
        ("assistant", "Instead."),
    ]


def test_uses_of_tools(path: Path):
    _fill(path)
    events = list(uses(folded(read(READER, path))[MAIN]).values())
    first, failing, edit, write, passing, missing = events[:6]
    assert first.reads == ("/work/repo/a.py",)
    assert (first.time_ms, first.ended_ms) == (1_795_738_784_929, 1_795_738_784_967)
    assert (failing.command, failing.exit_status, failing.failed) == ("python3 test_a.py", 1, True)
    assert edit.edits == (Edit(path="/work/repo/a.py", before="a - b", after="a + b"),)
    assert write.edits == (Edit(path="/work/repo/notes.md", after="# Notes\n"),)
    assert (passing.exit_status, passing.failed) == (0, False)
    assert (missing.failed, missing.exit_status) == (True, None)


def test_a_sub_agent_and_a_fork(path: Path):
    _fill(path)
    whole = folded(read(READER, path))
    agent, fork = whole[SUB][0], whole[FORK][0]
    assert isinstance(agent, Conversation)
    assert isinstance(fork, Conversation)
    assert (agent.parent, agent.is_sub_agent) == (MAIN, True)
    assert said(whole[SUB])[::2] == [("user", "Do as told. [[sub]]"), ("assistant", "It adds now.")]
    assert (fork.parent, fork.is_sub_agent) == ("", False)
    assert said(whole[FORK]) == [
        *FIRST, ("user", "Do as told. [[p4]]"), ("assistant", "In the fork."),
    ]  # fmt: skip


def test_row_by_row_is_the_same_as_at_once(path: Path):
    records, mark = [], None
    steps = sorted(
        ((row["time_created"], number, table, row) for table in ROWS
         for number, row in enumerate(ROWS[table])), key=lambda step: step[:2],
    )  # fmt: skip
    for table in ("session", "message"):
        with _open(path) as database:
            for row in ROWS[table]:
                _insert(database, table, row)
    for _, _, table, row in steps:
        if table == "part":
            with _open(path) as database:
                _insert(database, table, row)
            new, mark = read_marked(READER, path, mark)
            records += new
    assert folded(records).keys() == {MAIN, SUB, FORK}
    at_once = folded(read(READER, path))
    assert {name: _by_id(one) for name, one in folded(records).items()} == {
        name: _by_id(one) for name, one in at_once.items()
    }


def test_a_part_that_changes_is_read_again(path: Path):
    _fill(path)
    part = next(row for row in ROWS["part"] if row["data"].get("tool") == "bash")
    running = {**part["data"], "state": {"status": "running", "input": {"command": "sleep 9"}}}
    with _open(path) as database:
        _set(database, part["id"], running, part["time_updated"])
    records, mark = read_marked(READER, path)
    event = uses(folded(records)[MAIN])["toolu_00000300"]
    assert (event.command, event.failed, event.output) == ("sleep 9", None, "")
    later = mark.offset + 3_600_000
    with _open(path) as database:
        _set(database, part["id"], part["data"], later)
        database.execute("UPDATE session SET time_updated = ? WHERE id = ?", (later, MAIN))
    new, mark = read_marked(READER, path, mark)
    assert uses(new)["toolu_00000300"].failed is True
    assert read(READER, path, mark)  # what is as old as the mark may still change


def test_old_rows_are_not_read_again(path: Path):
    _fill(path)
    _, mark = read_marked(READER, path)
    week = 7 * 86_400_000
    with _open(path) as database:
        for table in ROWS:
            database.execute(
                f"UPDATE {table} SET time_updated = time_updated - ? WHERE id != ?", (week, SUB)
            )
    assert not [one for one in read(READER, path, mark) if isinstance(one, Message)]


def test_a_part_written_with_a_clock_set_back_is_read(path: Path):
    _fill(path)
    _, mark = read_marked(READER, path)
    part = next(row for row in ROWS["part"] if row["data"].get("text") == "Instead.")
    with _open(path) as database:
        database.execute("UPDATE message SET time_updated = 5")
        database.execute("UPDATE part SET time_updated = 5")
        _insert(database, "part", {**part, "id": "prt_zz", "time_updated": 5})
    assert "prt_zz" in {one.id for one in read(READER, path, mark) if isinstance(one, Message)}


def test_what_nobody_said_is_left_out(path: Path):
    _fill(path)
    first = next(row for row in ROWS["part"] if row["data"]["type"] == "text")
    for number, mark in enumerate(("synthetic", "ignored")):
        data = {"type": "text", "text": "Called the tool", mark: True}
        with _open(path) as database:
            _insert(database, "part", {**first, "id": f"prt_z{number}", "data": data})
    assert "Called the tool" not in {text for _, text in said(folded(read(READER, path))[MAIN])}


def test_a_database_that_is_being_written(path: Path):
    _fill(path)
    with _open(path) as database:
        database.execute("BEGIN IMMEDIATE")
        database.execute("DELETE FROM part")
        assert len(said(folded(read(READER, path))[MAIN])) == 17
        database.rollback()


def test_hostile_content(path: Path):
    for seed in range(60):
        rows = transcripts.spoiled(ROWS, seed, places=12)
        with _open(path) as database:
            for table in ROWS:
                database.execute(f"DELETE FROM {table}")
                for row in rows[table] if isinstance(rows.get(table), list) else ():
                    if isinstance(row, dict):
                        with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                            _insert(database, table, row)
        transcripts.check(read(READER, path))


def test_values_that_are_no_json_are_named(path: Path):
    _fill(path)
    with _open(path) as database:
        database.execute("UPDATE part SET data = '{' WHERE rowid = 1")
        database.execute("UPDATE part SET data = ? WHERE rowid = 2", (b"\xff\xfe",))
        database.execute("UPDATE message SET data = NULL WHERE rowid = 20")
    records = read(READER, path)
    assert len([one for one in records if isinstance(one, Unreadable)]) == 3
    assert "Instead." in {one.text for one in records if isinstance(one, Message)}


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_what_is_no_database(tmp_path: Path, content: bytes):
    file = tmp_path / "opencode.db"
    file.write_bytes(content)
    if content:
        with pytest.raises(OSError, match="SQLite"):
            read(READER, file)
    else:
        (one,) = read(READER, file)
        assert isinstance(one, Unreadable)


def test_links_and_pipes_are_refused(tmp_path: Path, path: Path):
    (tmp_path / "link.db").symlink_to(path)
    os.mkfifo(tmp_path / "pipe.db")
    for name in ("link.db", "pipe.db", "none.db"):
        with pytest.raises(OSError, match=name):
            read(READER, tmp_path / name)


def test_sources(tmp_path: Path):
    here = place(tmp_path).here
    folder = tmp_path / "home/.local/share/opencode"
    folder.mkdir(parents=True)
    for name in ("opencode.db", "opencode-dev.db", "other.db", "opencode.db-wal"):
        (folder / name).touch()
    assert [os.path.basename(one) for one in READER.sources(here)] == [
        "opencode-dev.db", "opencode.db",
    ]  # fmt: skip
    assert READER.resume(MAIN) == ("opencode", "--session", MAIN)


@contextlib.contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path)) as database:
        yield database
        database.commit()


def _fill(path: Path) -> None:
    with _open(path) as database:
        for table, rows in ROWS.items():
            for row in rows:
                _insert(database, table, row)


def _insert(database: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    values = [json.dumps(one) if isinstance(one, (dict, list)) else one for one in row.values()]
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)


def _set(database: sqlite3.Connection, part: str, data: Any, time: int) -> None:
    database.execute(
        "UPDATE part SET data = ?, time_updated = ? WHERE id = ?", (json.dumps(data), time, part)
    )


def _by_id(records: list[Any]) -> dict[str, Any]:
    return {record.id: record for record in records}
