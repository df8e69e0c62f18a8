"""A database of claude-mem is imported row by row, once, and stays as it is."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import triseek
from tests.history import stub_agent
from tests.history.claude_mem_files import NOON, SCHEMAS, Made
from triseek.engine.tool_host import ToolHost
from triseek.history.context import HistoryContext
from triseek.history.importing import claude_mem_import
from triseek.history.selecting import Selection
from triseek.history.service import History
from triseek.model.conversation import Conversation, Message

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "AKIA" + "Q7ZB3MNX4KTW2PLD"


@pytest.fixture
def history(home: Path) -> Iterator[History]:
    opened = History()
    yield opened
    opened.close()


def rows(history: History, query: str) -> list[tuple[Any, ...]]:
    with history.database.read() as connection:
        return connection.execute(query).fetchall()


def dump(history: History) -> list[list[tuple[Any, ...]]]:
    tables = (
        "sessions", "messages", "observations", "observation_files", "session_summaries",
        "observations_fts", "user_prompts_fts", "session_summaries_fts", "sqlite_sequence",
    )  # fmt: skip
    return [rows(history, f"SELECT * FROM {table} ORDER BY 1") for table in tables]


@pytest.mark.parametrize("version", SCHEMAS)
def test_each_version_is_imported_once(
    version: str, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_mem_import, "ROWS_MAX", 1)
    made = Made(tmp_path / "any.name", version).fill()
    before, names = made.path.read_bytes(), sorted(tmp_path.rglob("any*"))
    report = history.import_claude_mem(str(made.path))
    prompts = 1 if version == "v4" else 2
    assert (report.sessions, report.observations, report.summaries) == (1, 1, 1)
    assert (report.messages, report.skipped) == (prompts, [])
    first = dump(history)
    again = history.import_claude_mem(str(made.path))
    assert (again.sessions, again.observations, again.summaries, again.messages) == (0, 0, 0, 0)
    assert again.known == 3 + prompts
    assert dump(history) == first
    assert made.path.read_bytes() == before
    assert sorted(tmp_path.rglob("any*")) == names


def test_every_field_has_its_place(history: History, tmp_path: Path) -> None:
    made = Made(tmp_path / "c.db", "head").fill()
    history.import_claude_mem(str(made.path))
    assert rows(
        history,
        "SELECT agent, external_id, project, status, prompt_counter, started_at_epoch,"
        " completed_at_epoch FROM sessions",
    ) == [("claude-code", "c-1", "shop", "completed", 2, NOON, NOON + 9_000)]
    assert rows(
        history,
        "SELECT type, title, subtitle, narrative, facts, concepts, project, prompt_number, origin,"
        " created_at_epoch FROM observations",
    ) == [
        (
            "bugfix", "Fixed the discount", "Rounding", "It was halved.",
            '["cart.py rounds down"]', '["gotcha"]', "shop", 2, "import", NOON + 3_000,
        )
    ]  # fmt: skip
    assert rows(history, "SELECT path, role FROM observation_files ORDER BY path") == [
        ("docs/prices.md", "read"), ("src/cart.py", "modified"),
    ]  # fmt: skip
    assert rows(history, "SELECT request, learned, notes, origin FROM session_summaries") == [
        ("Mend the total", "Discounts round down", "Files read: docs/prices.md", "import")
    ]
    found = "SELECT rowid FROM {} WHERE {} MATCH '{}'"
    for table, word in (
        ("observations_fts", "halved"), ("observations_fts", "prices"),
        ("session_summaries_fts", "discounts"), ("user_prompts_fts", "total"),
    ):  # fmt: skip
        assert rows(history, found.format(table, table, word)), (table, word)


def test_what_it_says_of_files_is_compared_with_them(history: History, tmp_path: Path) -> None:
    history.import_claude_mem(str(Made(tmp_path / "c.db", "head").fill().path))
    host = ToolHost(service=None, root=str(tmp_path / "shop"), services={"history": history})
    for path in ("docs/prices.md", "src/cart.py"):
        (tmp_path / "shop" / path).parent.mkdir(parents=True)
        (tmp_path / "shop" / path).touch()
        os.utime(tmp_path / "shop" / path, (0, 0))
    states = []
    for _ in range(2):
        with history.database.read() as connection:
            states.append(HistoryContext(host).freshness(connection, [1]))
        (tmp_path / "shop/src/cart.py").touch()
    assert states == [{1: "FRESH"}, {1: "STALE"}]


def test_rows_in_the_log_of_a_program_that_runs_are_read(history: History, tmp_path: Path) -> None:
    made = Made(tmp_path / "c.db", "v5.3").fill()
    with closing(sqlite3.connect(made.path)) as writer:
        writer.execute(
            "INSERT INTO observations (sdk_session_id, project, type, title) VALUES"
            " ('m-1', 'shop', 'discovery', 'In the log')"
        )
        writer.commit()
        log = tmp_path / "c.db-wal"
        before = made.path.read_bytes(), log.read_bytes()
        report = history.import_claude_mem(str(made.path))
        assert (made.path.read_bytes(), log.read_bytes()) == before
    assert report.observations == 2


def test_secrets_and_private_turns_are_not_kept(history: History, tmp_path: Path) -> None:
    made = Made(tmp_path / "c.db", "v5.3").fill()
    made.add(
        "observations", memory="m-1", project="shop", type="discovery",
        title=f"key {KEY}", narrative=f"it is {KEY} <private>hush</private>",
        facts=json.dumps([f"aws {KEY}"]), concepts=json.dumps([KEY]),
        files_read=json.dumps([f"/tmp/{KEY}"]), prompt_number=2,
    )  # fmt: skip
    made.add(
        "user_prompts", external="c-1", prompt_number=3,
        prompt_text="<private>nobody reads this</private>",
    )  # fmt: skip
    made.add("observations", memory="m-1", project="shop", type="change", title="Of a private turn",
             prompt_number=3)  # fmt: skip
    report = history.import_claude_mem(str(made.path))
    assert report.private == 2
    history.close()
    files = [path for path in Path(history.folder).rglob("*") if path.is_file()]
    held = b"".join(path.read_bytes() for path in files)
    assert b"Fixed the discount" in held
    for secret in (KEY.encode(), b"hush", b"nobody reads", b"Of a private turn"):
        assert secret not in held


def test_what_was_forgotten_stays_so(history: History, tmp_path: Path) -> None:
    made = Made(tmp_path / "c.db", "v5.3").fill()
    made.add("sdk_sessions", external="c-2", memory="m-2", project="shop")
    made.add("observations", memory="m-2", project="shop", type="change", title="Other")
    history.import_claude_mem(str(made.path))
    [(session,)] = rows(history, "SELECT id FROM sessions WHERE external_id = 'c-2'")
    [(observation,)] = rows(history, "SELECT id FROM observations WHERE title LIKE 'Fixed%'")
    history.forget(Selection(sessions=(session,), observations=(observation,)))
    left = dump(history)
    report = history.import_claude_mem(str(made.path))
    assert report.forgotten == 3
    assert dump(history) == left


def test_prompts_of_a_conversation_that_is_imported_are_not_repeated(
    history: History, tmp_path: Path
) -> None:
    with history.database.write() as connection:
        connection.execute(
            "INSERT INTO sessions (id, agent, external_id, project, root) VALUES"
            " (1, 'claude-code', 'c-1', 'web', '/w/web')"
        )
        connection.execute(
            "INSERT INTO messages (session_id, external_id, role, text) VALUES"
            " (1, 'u1', 'user', 'And test it')"
        )
    report = history.import_claude_mem(str(Made(tmp_path / "c.db", "head").fill().path))
    assert (report.sessions, report.messages, report.known) == (0, 1, 2)
    assert rows(history, "SELECT session_id, root FROM observations") == [(1, "/w/web")]


def test_a_conversation_that_is_imported_later_does_not_repeat_its_prompts(
    history: History, home: Path, tmp_path: Path
) -> None:
    history.import_claude_mem(str(Made(tmp_path / "c.db", "head").fill().path))
    with history.database.write() as connection:
        connection.execute("UPDATE sessions SET agent = 'stub' WHERE external_id = 'c-1'")
    place = stub_agent.place(home)
    stub_agent.write(
        home / "stub" / "a.jsonl",
        Conversation(id="c-1", cwd=str(home)),
        Message(conversation="c-1", id="u1", role="user", text="Mend the cartTotal", time_ms=NOON),
        Message(conversation="c-1", id="a1", role="assistant", text="Done", time_ms=NOON + 1),
    )
    history.import_conversations([stub_agent.AGENT], place)
    assert rows(history, "SELECT external_id, prompt_number FROM messages ORDER BY text") == [
        (f"claude-mem:prompt::2:{NOON + 2_000}", 2), ("a1", 1), ("u1", 1),
    ]  # fmt: skip
    history.import_claude_mem(str(tmp_path / "c.db"))
    stub_agent.write(home / "stub" / "a.jsonl")
    history.import_conversations([stub_agent.AGENT], place)
    assert len(rows(history, "SELECT 1 FROM messages WHERE session_id = 1")) == 3


HOSTILE = (
    None,
    "",
    7,
    -1,
    2.5,
    1e300,
    b"\xff\x00",
    "\x00",
    "\ud800",
    "[[[",
    "[1,null,{}]",
    "9" * 400,
)


def test_values_of_any_type_break_nothing(history: History, tmp_path: Path) -> None:
    made = Made(tmp_path / "c.db", "head").fill()
    with closing(sqlite3.connect(made.path)) as connection:
        for table, columns in made.tables.items():
            names = [
                part.split()[0] for part in columns.format(**made.names).split(",")
                if part.split()[0] != "id"
            ]  # fmt: skip
            connection.execute(f"DROP TABLE {table}")
            connection.execute(f"CREATE TABLE {table} (id, {', '.join(names)})")
            for value in HOSTILE:
                text = value.encode("utf-8", "surrogatepass") if value == "\ud800" else value
                cast = "CAST(? AS TEXT)" if value == "\ud800" else "?"
                connection.execute(
                    f"INSERT INTO {table} VALUES (1, {', '.join([cast] * len(names))})",
                    [text] * len(names),
                )
        connection.commit()
    report = history.import_claude_mem(str(made.path))
    assert report.observations
    assert history.database.check() == []
    first = dump(history)
    history.import_claude_mem(str(made.path))
    assert dump(history) == first


def test_a_command_imports_and_says_what(home: Path, tmp_path: Path) -> None:
    made = Made(home / "claude.db", "head").fill()
    done = triseek(["history", "import", "--file", str(made.path), "--dry-run"], home)
    assert done.out.decode().startswith("claude-mem: 1 conversation, 1 observation, 1 summary, 2 p")
    done = triseek(["history", "import", "--file", str(made.path), "--json"], home)
    assert json.loads(done.out)["observations"] == 1
    assert made.path.exists()


def test_bad_files_are_one_clear_line(home: Path, tmp_path: Path) -> None:
    made = Made(home / "claude.db", "v5.3", wal=False).fill()
    with closing(sqlite3.connect(made.path)) as connection:
        connection.executemany(
            "INSERT INTO observations (sdk_session_id, project, type, title)"
            " VALUES ('m-1', 'shop', 'change', ?)",
            [(f"{number} {'x' * 900}",) for number in range(200)],
        )
        connection.commit()
    data = bytearray(made.path.read_bytes())
    data[len(data) // 2 : -4096] = b"\xa5" * (len(data) - 4096 - len(data) // 2)
    (home / "torn.db").write_bytes(data)
    (home / "other.db").touch()
    with closing(sqlite3.connect(home / "other.db")) as connection:
        connection.execute("CREATE TABLE t (a)")
    (home / "text.db").write_text("no database")
    os.mkfifo(home / "pipe")
    for name, reason in (
        ("torn.db", "malformed"), ("other.db", "not a database of claude-mem"),
        ("text.db", "not a file that"), ("pipe", "not a regular file"), ("none", "no such file"),
    ):  # fmt: skip
        done = triseek(["history", "import", "--file", str(home / name)], home)
        assert (done.status, done.err.count("\n")) == (2, 1), done.err
        assert reason in done.err


def test_the_hint_names_the_database_and_reads_nothing(home: Path) -> None:
    (home / ".claude-mem").mkdir()
    (home / ".claude-mem" / "claude-mem.db").write_text("never opened")
    done = triseek(["history", "import"], home)
    assert "claude-mem.db` imports claude-mem's" in done.err
