"""The database of a wing, by a toy wing: notes with words."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from triseek.errors import Busy, FormatTooNew, OutOfTime, StateCorrupt, StateUnwritable
from triseek.model import budget
from triseek.store import sqlite
from triseek.store.sqlite import Database, Migration

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
WORDS = ["alpha", "beta", "gamma", "delta"]


def _words(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE note ADD COLUMN words INTEGER NOT NULL DEFAULT 0")
    rows = connection.execute("SELECT id, text FROM note").fetchall()
    connection.executemany(
        "UPDATE note SET words = ? WHERE id = ?", [(len(text.split()), key) for key, text in rows]
    )


FIRST = Migration(
    1,
    """
    CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
    -- A semicolon; in a comment, and one in a trigger:
    CREATE TABLE tag (note INTEGER NOT NULL REFERENCES note, name TEXT NOT NULL) STRICT;
    CREATE TRIGGER untag AFTER DELETE ON note BEGIN
        DELETE FROM tag WHERE note = old.id;
    END;
    """,
)
SECOND = Migration(2, _words)
THIRD = Migration(3, "CREATE VIRTUAL TABLE found USING fts5(text)")
ALL = (FIRST, SECOND, THIRD)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = Database(path, ALL)
    yield database
    database.close()


def put(database: Database, *texts: str) -> None:
    with database.write() as connection:
        connection.executemany("INSERT INTO note (text) VALUES (?)", [(text,) for text in texts])


def texts(database: Database) -> list[str]:
    with database.read() as connection:
        return [row[0] for row in connection.execute("SELECT text FROM note ORDER BY id")]


def test_a_new_database_has_the_newest_schema_and_nobody_else_reads_it(
    database: Database, path: Path
) -> None:
    put(database, "one")

    assert database.version == 3
    assert texts(database) == ["one"]
    assert database.check() == []
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_what_is_committed_is_there_for_the_next(path: Path) -> None:
    for number in range(3):
        database = Database(path, ALL)
        assert texts(database) == [str(each) for each in range(number)]
        put(database, str(number))
        database.close()
        database.close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["notes.db"]


def test_a_transaction_is_kept_whole_or_not_at_all(database: Database) -> None:
    put(database, "kept")
    with pytest.raises(sqlite3.IntegrityError), database.write() as connection:
        connection.executemany("INSERT INTO note (text) VALUES (?)", [("lost",), (None,)])

    assert texts(database) == ["kept"]
    put(database, "again")
    assert texts(database) == ["kept", "again"]


def test_an_older_database_is_migrated_step_by_step_and_copied_before(path: Path) -> None:
    old = Database(path, ALL[:1])
    put(old, "two words", "one")
    old.close()

    database = Database(path, ALL)

    with database.read() as connection:
        assert connection.execute("SELECT text, words FROM note").fetchall() == [
            ("two words", 2), ("one", 1)
        ]  # fmt: skip
    database.close()
    copy = Database(path.with_suffix(".before-2.db"), ALL[:1])
    assert texts(copy) == ["two words", "one"]
    copy.close()


def test_a_migration_that_fails_leaves_the_database_as_it_was(path: Path) -> None:
    old = Database(path, ALL[:1])
    put(old, "kept")
    old.close()

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM note")
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError):
        Database(path, (FIRST, SECOND, Migration(3, fail)))

    same = Database(path, ALL[:1])
    assert (same.version, texts(same)) == (1, ["kept"])
    same.close()


def test_a_process_that_is_killed_in_a_migration_leaves_the_database_as_it_was(path: Path) -> None:
    old = Database(path, ALL[:1])
    put(old, *WORDS)
    old.close()
    program = (
        "import sys, time\n"
        "from tests.store.test_sqlite import FIRST, SECOND\n"
        "from triseek.store.sqlite import Database, Migration\n"
        "def stay(connection):\n"
        "    connection.execute('DELETE FROM note')\n"
        "    print('begun', flush=True)\n"
        "    time.sleep(600)\n"
        "Database(sys.argv[1], (FIRST, SECOND, Migration(3, stay)))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        with pytest.raises(Busy):
            Database(path, ALL, busy_s=0.05)
        process.send_signal(signal.SIGKILL)

    database = Database(path, ALL)
    assert (database.version, texts(database)) == (3, WORDS)
    database.close()


def test_several_that_open_it_at_once_migrate_it_once(path: Path) -> None:
    old = Database(path, ALL[:1])
    put(old, *WORDS)
    old.close()
    opened: list[Database] = []
    threads = [
        threading.Thread(target=lambda: opened.append(Database(path, ALL))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert [one.version for one in opened] == [3] * 6
    for one in opened:
        assert texts(one) == WORDS
        one.close()


def test_a_later_versions_database_is_left_alone(path: Path) -> None:
    Database(path, ALL).close()
    before = path.read_bytes()

    with pytest.raises(FormatTooNew, match="schema 3, and this triseek knows 2"):
        Database(path, ALL[:2])
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_file_of_something_else_is_refused_and_kept(path: Path, content: bytes) -> None:
    path.write_bytes(content)

    with pytest.raises(StateCorrupt, match=str(path)):
        Database(path, ALL)
    assert path.read_bytes() == content


def test_anothers_database_is_refused_and_kept(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()

    with pytest.raises(StateCorrupt, match="no database of triseek's"):
        Database(path, ALL)
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT count(*) FROM theirs").fetchone() == (0,)
    other.close()


def test_damage_is_found_by_a_check_or_by_who_reads_it(path: Path) -> None:
    database = Database(path, ALL)
    put(database, *("word " * 200 for _ in range(500)))
    database.close()
    data = bytearray(path.read_bytes())
    for page in range(3, len(data) // 4096):
        data[page * 4096 : page * 4096 + 200] = os.urandom(200)
    path.write_bytes(data)

    try:
        damaged = Database(path, ALL)
        found = damaged.check()
        damaged.close()
    except StateCorrupt:
        found = ["damaged"]
    assert found


def test_a_reader_sees_one_state_and_holds_up_no_writer(database: Database) -> None:
    put(database, "before")
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM note").fetchone() == (1,)
        put(database, "meanwhile")
        assert connection.execute("SELECT count(*) FROM note").fetchone() == (1,)
    assert texts(database) == ["before", "meanwhile"]


def test_who_reads_cannot_write(database: Database) -> None:
    with pytest.raises(StateUnwritable, match="readonly"), database.read() as connection:
        connection.execute("INSERT INTO note (text) VALUES ('x')")


def test_many_threads_lose_nothing(database: Database) -> None:
    def work(who: int) -> None:
        for number in range(40):
            put(database, f"{who}-{number}")
            assert f"{who}-{number}" in texts(database)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(texts(database)) == sorted(f"{who}-{n}" for who in range(6) for n in range(40))


def test_another_processs_transaction_is_waited_for_and_no_longer(path: Path) -> None:
    database, other = Database(path, ALL, busy_s=0.1), Database(path, ALL)
    with other.write() as connection:
        connection.execute("INSERT INTO note (text) VALUES ('theirs')")
        began = time.monotonic()
        with pytest.raises(Busy):
            put(database, "ours")
        assert time.monotonic() - began < 30
        assert texts(database) == []
    put(database, "ours")
    assert texts(database) == ["theirs", "ours"]
    database.close()
    other.close()


def test_a_full_disk_is_said_and_costs_no_row(database: Database) -> None:
    put(database, "kept")
    database._writer.execute("PRAGMA max_page_count = 20")
    with pytest.raises(StateUnwritable, match="full"):
        put(database, *("x" * 4000 for _ in range(100)))

    assert texts(database) == ["kept"]
    database._writer.execute("PRAGMA max_page_count = 100000")
    put(database, "again")
    assert texts(database) == ["kept", "again"]


def test_a_query_ends_with_its_request(database: Database) -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    )
    with pytest.raises(OutOfTime), budget.limited(0.05), database.read() as connection:
        connection.execute(endless).fetchone()

    assert texts(database) == []


def test_a_backup_is_whole_while_others_write(database: Database, tmp_path: Path) -> None:
    put(database, *(str(number) for number in range(1_000)))
    ended = threading.Event()

    def write() -> None:
        number = 1_000
        while not ended.is_set():
            put(database, str(number))
            number += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        database.back_up(tmp_path / "copy.db")
    finally:
        ended.set()
        thread.join()

    copy = Database(tmp_path / "copy.db", ALL)
    kept = texts(copy)
    assert kept == [str(number) for number in range(len(kept))]
    assert len(kept) >= 1_000
    assert copy.check() == []
    copy.close()
    assert not list(tmp_path.glob("*.partial"))


def test_a_backup_that_fails_leaves_nothing(database: Database, tmp_path: Path) -> None:
    with pytest.raises(StateUnwritable):
        database.back_up(tmp_path / "nowhere" / "copy.db")

    assert sorted(file.name for file in tmp_path.iterdir() if "copy" in file.name) == []


def test_rows_that_refer_to_nothing_are_told(database: Database) -> None:
    put(database, "one")
    connection = database._writer
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("INSERT INTO tag VALUES (77, 'lost')")
    connection.execute("PRAGMA foreign_keys = ON")

    assert database.check() == ["row 1 of tag refers to a row that is not there"]


def test_a_closed_database_is_not_opened_again(database: Database) -> None:
    database.close()
    with pytest.raises(StateUnwritable, match="is closed"):
        texts(database)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(StateUnwritable, match="No such file"):
        Database(tmp_path / "none" / "notes.db", ALL)


@pytest.mark.parametrize("numbers", [(2,), (1, 3), (1, 1)])
def test_migrations_are_numbered_without_gaps(path: Path, numbers: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="without gaps"):
        Database(path, [Migration(number, "") for number in numbers])


def test_what_is_released_is_named_by_its_file() -> None:
    assert sqlite.APPLICATION.to_bytes(4, "big") == b"tris"
