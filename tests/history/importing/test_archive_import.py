"""An archive holds all that is kept, and goes back into a history; a bad one breaks nothing."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import triseek
from tests.history.claude_mem_files import Made
from tests.history.rows import Rows
from triseek.history import archive
from triseek.history.archive import FORMAT
from triseek.history.importing import archive_import
from triseek.history.selecting import Selection
from triseek.history.service import History

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "AKIA" + "Q7ZB3MNX4KTW2PLD"
TABLES = (
    "sessions", "messages", "tool_events", "event_files", "event_programs", "observations",
    "observation_files", "session_summaries",
)  # fmt: skip


@pytest.fixture
def history(home: Path, tmp_path: Path) -> Iterator[History]:
    opened = History(str(tmp_path / "here"))
    yield opened
    opened.close()


@pytest.fixture
def other(home: Path, tmp_path: Path) -> Iterator[History]:
    opened = History(str(tmp_path / "there"))
    yield opened
    opened.close()


def fill(history: History, folder: Path) -> None:
    rows = Rows(history.database)
    session = rows.session("0f9c", title="Mend the total", root="/w/shop", cwd="/w/shop")
    rows.prompt(session, "Mend the cartTotal")
    rows.said(session, "The discount was halved")
    with history.database.write() as connection:
        event = connection.execute(
            "INSERT INTO tool_events (session_id, external_id, name, command, exit_status, failed,"
            " output, created_at_epoch) VALUES (?, 't1', 'Bash', 'pytest -q', 1, 1, 'Error: x', 5)",
            (session,),
        ).lastrowid
        connection.execute(
            "INSERT INTO event_files VALUES (?, '/w/shop/a.py', 'modified', 'x', 'y')", (event,)
        )
        connection.execute("UPDATE sessions SET derived_at = 0")
    old = rows.observation(session, "Old", read=("a.py",), origin="explicit", pinned=1)
    new = rows.observation(session, "New", origin="explicit", facts=("one",), concepts=("gotcha",))
    with history.database.write() as connection:
        connection.execute("UPDATE observations SET superseded_by = ? WHERE id = ?", (new, old))
    history.import_claude_mem(str(Made(folder / "c.db", "head").fill().path))
    history.derive()


def dump(history: History) -> list[list[tuple[Any, ...]]]:
    """All rows, without what an archive leaves out, and numbers that depend on its order."""
    left_out = ("derived_at", "sub", "source_id", "id")
    tables = []
    with history.database.read() as connection:
        for table in TABLES:
            rows = connection.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in rows.description if column[0] not in left_out]
            rows = connection.execute(f"SELECT {', '.join(names)} FROM {table}")
            tables.append(sorted(rows, key=repr))
    return tables


def written(path: Path, *documents: dict[str, Any], rows: int | None = None) -> Path:
    lines = [{"kind": FORMAT, "version": 1}, *documents]
    lines.append({"kind": "end", "rows": len(documents) if rows is None else rows})
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    return path


@pytest.mark.parametrize("batch", [1, 3, 500])
def test_what_is_archived_is_restored_once(
    history: History, other: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(archive_import, "ROWS_MAX", batch)
    fill(history, tmp_path)
    target = tmp_path / "a.gz"
    count = archive.write(history.database, target)
    assert target.stat().st_mode & 0o777 == 0o600
    report = other.import_archive(str(target))
    sums = report.sessions + report.messages + report.events + report.observations
    assert sums + report.summaries == count
    assert report.skipped == []
    assert dump(other) == dump(history)
    with other.database.read() as connection:
        [[found]] = connection.execute(
            "SELECT count(*) FROM user_prompts_fts WHERE user_prompts_fts MATCH 'total'"
        )
    assert found
    before = dump(other)
    assert other.import_archive(str(target)).known == count
    assert dump(other) == before


def test_what_was_forgotten_does_not_come_back(history: History, tmp_path: Path) -> None:
    fill(history, tmp_path)
    target = tmp_path / "a.gz"
    archive.write(history.database, target)
    history.forget(Selection(sessions=(1,)))
    before = dump(history)
    report = history.import_archive(str(target))
    assert report.forgotten > 3
    assert dump(history) == before


def test_secrets_in_an_archive_are_not_kept(history: History, tmp_path: Path) -> None:
    session = {"kind": "session", "agent": "codex", "external_id": "x", "status": "completed"}
    row = {"kind": "message", "external_id": "m", "role": "user", "text": f"my key {KEY}"}
    history.import_archive(str(written(tmp_path / "a.gz", session, row)))
    assert KEY not in str(dump(history))
    assert "my key" in str(dump(history))


def test_ids_are_kept_whatever_they_look_like(history: History, tmp_path: Path) -> None:
    session = {"kind": "session", "agent": "codex", "external_id": "x", "status": "completed"}
    rows = [
        {"kind": "observation", "origin": "import", "title": "t", "row_hash": f"{KEY}{number}"}
        for number in range(3)
    ]
    assert history.import_archive(str(written(tmp_path / "a.gz", session, *rows))).observations == 3


HOSTILE = (None, "", 7, -1, 2.5, True, [], {}, [[[]]], "\ud800", "x" * 70_000, 1 << 80)


def test_lines_of_any_kind_break_nothing(history: History, tmp_path: Path) -> None:
    documents: list[dict[str, Any]] = [{"kind": "message", "external_id": "early"}]
    for value in HOSTILE:
        documents.append({"kind": "session", "agent": value, "external_id": value, "status": value})
        documents.append(
            {"kind": "session", "agent": "codex", "external_id": "s", "status": "active",
             "started_at_epoch": value, "title": value, "is_sub_agent": value}
        )  # fmt: skip
        for kind in (*archive.ROWS, value):
            names = archive.ROWS[kind].columns if kind in (*archive.ROWS,) else ("a",)
            hostile = dict.fromkeys(names, value)
            documents.append({**hostile, "kind": kind, "files": value, "id": value})
            documents.append(
                {**hostile, "kind": kind, "role": "user", "origin": "import", "row_hash": "h",
                 "external_id": "e", "files": [value, {"path": value, "role": value}]}
            )  # fmt: skip
    report = history.import_archive(str(written(tmp_path / "a.gz", *documents)))
    assert report.skipped
    assert (report.sessions, report.messages) == (1, 1)
    assert history.database.check() == []


def test_bad_archives_are_one_clear_line(home: Path, tmp_path: Path) -> None:
    session = {"kind": "session", "agent": "codex", "external_id": "x", "status": "completed"}
    whole = written(tmp_path / "whole.gz", session).read_bytes()
    (home / "torn").write_bytes(whole[: len(whole) // 2])
    (home / "bits").write_bytes(whole[:12] + b"\xff\xff\xff" + whole[15:])
    (home / "other").write_bytes(gzip.compress(b"{}\n"))
    written(home / "short", session, rows=7)
    for name in ("torn", "bits", "other", "short"):
        done = triseek(["history", "import", "--file", str(home / name)], home)
        assert (done.status, done.err.count("\n")) == (2, 1), (name, done.err)
        assert ("damaged" if name == "bits" else "cannot be imported") in done.err


def test_commands_write_and_restore_an_archive(home: Path) -> None:
    assert triseek(["history", "remember", "Prices are in cents"], home).status == 0
    target = home / "a.gz"
    done = triseek(["history", "archive", str(target)], home)
    assert done.out.decode().startswith("2 rows written to ")
    done = triseek(["history", "import", "--file", str(target)], home)
    assert "2 records were there already" in done.out.decode()
