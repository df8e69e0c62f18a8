"""Zed's threads, as its source writes them: none could be recorded."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.agents import transcripts
from tests.agents.places import place
from tests.agents.transcripts import folded, read, read_marked, said, uses
from triseek.agents import zed_transcripts
from triseek.agents.zed_transcripts import ZedTranscripts
from triseek.model.conversation import Conversation, Edit, Unreadable

if TYPE_CHECKING:
    from pathlib import Path

READER = ZedTranscripts()


def _use(use: str, name: str, **values: Any) -> dict[str, Any]:
    return {"ToolUse": {"id": use, "name": name, "input": values}}


THREAD = {
    "version": "0.3.0", "title": "Sums", "updated_at": "2026-07-19T09:00:02Z",
    "model": {"provider": "p", "model": "small"},
    "messages": [
        {"User": {"id": "u1", "content": [
            {"Text": "Fix the sum"}, {"Mention": {"uri": "file:///a", "content": "x"}}]}},
        {"Agent": {
            "content": [
                {"Thinking": {"text": "hm"}}, {"Text": "I look."},
                _use("c1", "read_file", path="repo/a.py"), _use("c2", "terminal", command="make"),
                _use("c3", "edit_file", path="repo/a.py", old_text="-", new_text="+"),
            ],
            "tool_results": {
                "c1": {"is_error": False, "content": {"Text": "def add"}},
                "c2": {"is_error": True, "content": [{"Text": "1 failed"}]},
            },
        }},
        "Resume",
        {"Agent": {"content": [{"Text": "Fixed."}], "tool_results": {}}},
    ],
}  # fmt: skip
OLD = {"version": "0.2.0", "summary": "Old", "messages": [
    {"id": 0, "role": "user", "segments": [{"type": "text", "text": "Hello"}]},
    {"id": 1, "role": "assistant", "segments": [{"type": "thinking", "text": "hm"},
                                                {"type": "text", "text": "Hi"}]},
]}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The database, as far as it is read, with two threads."""
    file = tmp_path / "threads.db"
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute(
            "CREATE TABLE threads (id TEXT PRIMARY KEY, summary, updated_at, data_type,"
            " data BLOB, parent_id, folder_paths, folder_paths_order, created_at)"
        )
        database.commit()
    _put(file, "new", "2026-07-19T09:00:02+00:00", _packed(THREAD), "zstd")
    _put(file, "old", "2025-07-19T09:00:02+00:00", json.dumps(OLD).encode(), "json")
    return file


def test_a_thread(path: Path):
    conversation, *records = folded(read(READER, path))["new"]
    assert conversation == Conversation(
        id="new", cwd="/work/repo", title="Sums", model="small", started_ms=1_784_448_000_000
    )
    assert said(records) == [
        ("user", "Fix the sum"),
        ("assistant", "I look."),
        ("read_file", "def add"),
        ("terminal", "1 failed"),
        ("edit_file", ""),
        ("assistant", "Fixed."),
    ]
    first, shell, edit = uses(records).values()
    assert (first.reads, first.failed) == (("/work/repo/a.py",), False)
    assert (shell.command, shell.failed) == ("make", True)
    assert edit.edits == (Edit(path="/work/repo/a.py", before="-", after="+"),)


def test_an_old_thread_that_is_not_compressed(path: Path):
    conversation, *records = folded(read(READER, path))["old"]
    assert isinstance(conversation, Conversation)
    assert conversation.title == "Old"
    assert said(records) == [("user", "Hello"), ("assistant", "Hi")]


def test_only_threads_that_changed_are_read(path: Path):
    _, mark = read_marked(READER, path)
    assert folded(read(READER, path, mark)).keys() == {"new"}
    _put(path, "old", "2026-07-20T09:00:02+00:00", json.dumps(OLD).encode(), "json")
    assert folded(read(READER, path, mark)).keys() == {"new", "old"}


def test_a_thread_without_a_time_is_read_again(path: Path):
    _put(path, "odd", None, json.dumps(OLD).encode(), "json")
    _, mark = read_marked(READER, path)
    assert "odd" in folded(read(READER, path, mark))


def test_threads_that_cannot_be_unpacked_are_named(path: Path, monkeypatch: pytest.MonkeyPatch):
    _put(path, "torn", None, _packed(THREAD)[:-9], "zstd")
    _put(path, "no", None, b"no frame", "zstd")
    _put(path, "none", None, None, "zstd")
    _put(path, "other", None, b"\x00\x01", "brotli")
    records = read(READER, path)
    bad = {one.where for one in records if isinstance(one, Unreadable)}
    assert bad == {"thread torn", "thread no", "thread none", "thread other"}
    monkeypatch.setattr(zed_transcripts, "VALUE_MAX", 100)
    assert "thread new" in {one.where for one in read(READER, path) if isinstance(one, Unreadable)}


def test_older_tables(path: Path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        for column in ("parent_id", "folder_paths", "folder_paths_order", "created_at"):
            database.execute(f"ALTER TABLE threads DROP COLUMN {column}")
        database.commit()
    conversation, *records = folded(read(READER, path))["new"]
    assert conversation == Conversation(id="new", title="Sums", model="small")
    assert len(said(records)) == 6


def test_hostile_content(path: Path):
    for seed in range(100):
        thread = transcripts.spoiled(THREAD if seed % 2 else OLD, seed, places=8)
        _put(path, "new", f"{seed}", _packed(thread), "zstd")
        transcripts.check(read(READER, path))


def test_sources(tmp_path: Path, path: Path):
    here = place(tmp_path / "x", XDG_DATA_HOME=str(tmp_path)).here
    folder = tmp_path / "zed/threads"
    folder.mkdir(parents=True)
    path.rename(folder / "threads.db")
    (folder / "other.db").touch()
    assert list(READER.sources(here)) == [str(folder / "threads.db")]
    assert READER.resume("new") == ()


def _packed(value: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(json.dumps(value).encode())
    return bytes(sink.getvalue())


def _put(path: Path, name: str, updated: str | None, data: bytes | None, kind: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(
            "INSERT OR REPLACE INTO threads (id, summary, updated_at, data_type, data,"
            " folder_paths, created_at) VALUES (?, 'S', ?, ?, ?, '/work/repo', ?)",
            (name, updated, kind, data, "2026-07-19T08:00:00Z"),
        )
        database.commit()
