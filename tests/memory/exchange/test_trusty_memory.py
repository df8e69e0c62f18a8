"""Stores of trusty-memory, made here from its documented schema: the program does not run here."""

from __future__ import annotations

import io
import json
import os
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from triseek.errors import InvalidRequest
from triseek.memory import names
from triseek.memory.exchange import importing, sources, trusty_memory
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from triseek.memory.exchange.importing import ImportReport

NOW = 1_790_000_000_000
GENERAL = "47667068-7666-7200-0000-000000000000"
"""As the program's own tests have it."""
SCHEMA = """
CREATE TABLE triples (
    id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, predicate TEXT NOT NULL,
    object TEXT NOT NULL, valid_from TEXT NOT NULL, valid_to TEXT,
    confidence REAL NOT NULL DEFAULT 1.0, provenance TEXT);
CREATE TABLE drawers (
    id TEXT PRIMARY KEY, room_id TEXT NOT NULL, content TEXT NOT NULL, importance REAL NOT NULL,
    tags TEXT NOT NULL, source_file TEXT, created_at TEXT NOT NULL);
"""


def drawer(number: int, text: object, room: object = GENERAL, **more: Any) -> tuple[object, ...]:
    row = {
        "id": f"0f9c2d1a-0000-4000-8000-{number:012}", "room_id": room, "content": text,
        "importance": 0.75, "tags": '["ops","db"]', "source_file": None,
        "created_at": "2026-05-19T12:34:56.123456789+00:00", **more,
    }  # fmt: skip
    return tuple(row.values())


def made(
    root: Path,
    name: str,
    drawers: Sequence[Any] = (),
    triples: Sequence[Any] = (),
    *,
    wal: bool = False,
) -> Path:
    """A palace in a store."""
    folder = root / name
    folder.mkdir(parents=True)
    document = {
        "id": name, "name": name, "description": "A shop", "data_dir": str(folder),
        "created_at": "2026-05-01T00:00:00Z", "schema_version": 1,
    }  # fmt: skip
    (folder / "palace.json").write_text(json.dumps(document))
    (folder / "identity.txt").write_text("A web shop.\n")
    with sqlite3.connect(folder / "kg.db") as connection:
        if wal:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
        connection.executemany(f"INSERT INTO drawers VALUES ({','.join('?' * 7)})", drawers)
        connection.executemany(
            "INSERT INTO triples (subject, predicate, object, valid_from, valid_to, confidence,"
            " provenance) VALUES (?, ?, ?, ?, ?, ?, ?)",
            triples,
        )
    connection.close()
    return folder


TRIPLES = [
    (
        "checkout",
        "uses",
        "stripe",
        "2026-05-19T10:00:00+00:00",
        "2026-05-20T10:00:00+00:00",
        1,
        "a",
    ),
    ("checkout", "uses", "paypal", "2026-05-20T10:00:00+00:00", None, 0.5, None),
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = Memory(str(tmp_path / "memory"))
    yield opened
    opened.close()


def imported(memory: Memory, path: Path, palace: str = "") -> ImportReport:
    with sources.opened(str(path), io.BytesIO()) as source:
        assert source.kind == "trusty-memory"
        return importing.run(memory.database, source.records(palace), NOW, palace=palace)


@pytest.mark.parametrize("below", ["", "palaces"])
@pytest.mark.parametrize("wal", [True, False])
def test_a_store_is_imported_and_stays_as_it_is(
    below: str, wal: bool, memory: Memory, tmp_path: Path
) -> None:
    root = tmp_path / "store"
    made(root / below, "shop", [drawer(1, "Staging is reset"), drawer(2, "b")], TRIPLES, wal=wal)
    made(root / below, "notes", [drawer(3, "Prices are in cents")], wal=wal)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    report = imported(memory, root)
    assert (report.palaces, report.drawers, report.facts) == (["notes", "shop"], 3, 2)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    info = memory.info("shop")
    assert (info.description, info.identity, info.drawers) == ("A shop", "A web shop.", 2)
    [first, _] = memory.listed("shop")
    assert (first.text, first.room, first.tags) == ("Staging is reset", "General", ("ops", "db"))
    assert (first.importance, first.created_ms) == (0.75, 1_779_194_096_123)
    [now] = memory.facts("shop", "checkout")
    assert (now.object, now.confidence) == ("paypal", 0.5)
    [then] = memory.facts("shop", "checkout", as_of_ms=now.valid_from - 1)
    assert (then.object, then.valid_to, then.provenance) == ("stripe", now.valid_from, "a")
    again = imported(memory, root)
    assert (again.drawers, again.facts, again.known) == (0, 0, 5)


def test_rows_that_are_in_the_log_only_are_imported(memory: Memory, tmp_path: Path) -> None:
    folder = made(tmp_path, "shop", wal=True)
    with sqlite3.connect(folder / "kg.db") as connection:
        connection.execute(
            f"INSERT INTO drawers VALUES ({','.join('?' * 7)})", drawer(1, "Staging is reset")
        )
        connection.commit()
        assert imported(memory, folder).drawers == 1
    connection.close()


@pytest.mark.parametrize(
    ("room_id", "room"),
    [  # as the program's own tests have them
        (GENERAL, "General"),
        ("43767577-7372-2e29-7f78-7c762e360000", "work"),
        ("43767577-7372-2e29-7b7d-6b7f81803038", "status"),
    ],
)
def test_a_room_is_unfolded(room_id: str, room: str) -> None:
    assert trusty_memory.room_of(room_id) == (room, ())


def folded(text: str) -> str:
    data = trusty_memory.fold(text).hex()
    return f"{data[:8]}-{data[8:12]}-{data[12:16]}-{data[16:20]}-{data[20:]}"


@pytest.mark.parametrize("room", names.ROOMS)
def test_every_usual_room_is_unfolded(room: str) -> None:
    assert trusty_memory.room_of(folded(room)) == (room, ())


@pytest.mark.parametrize(
    "room_id",
    [folded('Custom("decisions")'), folded('Custom("ä")'), folded('Custom("a\\"b")'),
     folded('Custom("")'), folded("Kitchen"), "00000000-0000-0000-0000-000000000000",
     "ffffffff-ffff-ffff-ffff-ffffffffffff"],
)  # fmt: skip
def test_what_cannot_be_unfolded_is_kept_as_a_tag(room_id: str) -> None:
    assert trusty_memory.room_of(room_id) == ("", (f"room:{room_id}",))


def test_a_later_store_is_named_and_what_is_in_sqlite_is_imported(
    memory: Memory, tmp_path: Path
) -> None:
    both, later = made(tmp_path, "both", [drawer(1, "a")]), made(tmp_path, "later")
    (later / "kg.db").unlink()
    (later / "identity.txt").unlink()
    for folder in (both, later):
        (folder / "kg.redb").write_bytes(b"redb")
    report = imported(memory, tmp_path)
    assert (report.drawers, report.palaces) == (1, ["both"])
    assert [line.partition(":")[0] for line in report.skipped] == ["palace both", "palace later"]
    assert all("memory_list" in line for line in report.skipped)


@pytest.mark.parametrize(
    "row",
    [
        drawer(1, "x", id="../x"), drawer(1, None), drawer(1, b"\xff\0"), drawer(1, ""),
        drawer(1, 7), drawer(1, "x", id=None), drawer(1, "x" * 100_001),
        drawer(1, "x", tags=json.dumps([f"t{number}" for number in range(99)])),
    ],
)  # fmt: skip
def test_a_wrong_row_is_named_and_the_others_are_imported(
    row: tuple[object, ...], memory: Memory, tmp_path: Path
) -> None:
    folder = made(tmp_path, "shop")
    with sqlite3.connect(folder / "kg.db") as connection:
        connection.executescript(
            "DROP TABLE drawers; CREATE TABLE drawers"
            " (id, room_id, content, importance, tags, source_file, created_at);"
        )
        marks = ",".join("?" * 7)
        connection.executemany(f"INSERT INTO drawers VALUES ({marks})", [row, drawer(2, "good")])
    connection.close()
    report = imported(memory, folder)
    assert (report.drawers, report.left_out) == (1, 1)
    assert report.skipped[0].startswith("palace shop, drawer 1: ")


@pytest.mark.parametrize(
    "more",
    [{"room_id": 7}, {"room_id": None}, {"importance": "high"}, {"importance": 9e99},
     {"tags": "{"}, {"tags": "[" * 5_000}, {"tags": None}, {"tags": "[1,null]"},
     {"source_file": b"x"}, {"created_at": "yesterday"}, {"created_at": None}],
)  # fmt: skip
def test_what_is_wrong_beside_the_text_does_not_lose_it(
    more: dict[str, Any], memory: Memory, tmp_path: Path
) -> None:
    folder = made(tmp_path, "shop")
    with sqlite3.connect(folder / "kg.db") as connection:
        connection.executescript(
            "DROP TABLE drawers; CREATE TABLE drawers"
            " (id, room_id, content, importance, tags, source_file, created_at);"
        )
        marks = ",".join("?" * 7)
        connection.execute(f"INSERT INTO drawers VALUES ({marks})", drawer(1, "text", **more))
    connection.close()
    imported(memory, folder)
    assert [entry.text for entry in memory.listed("shop")] == ["text"]


def test_a_damaged_palace_does_not_stop_the_others(memory: Memory, tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d", "e"):
        made(tmp_path / "store", name, [drawer(ord(name), "text")])
    store = tmp_path / "store"
    (store / "a/kg.db").write_bytes(b"not a database" * 100)
    os.truncate(store / "b/kg.db", 5_000)
    (store / "c/kg.db").unlink()
    (store / "c/kg.db").symlink_to(store / "e/kg.db")
    (store / "d/palace.json").write_text('{"id": "../../etc"}')
    report = imported(memory, store)
    assert [entry.text for entry in memory.listed("e")] == ["text"]
    assert {line.partition(":")[0].split(",")[0] for line in report.skipped} == {
        "palace a", "palace b", "palace c", "palace d",
    }  # fmt: skip
    assert imported(memory, store / "d", "fixed").drawers == 1


def test_a_folder_without_a_palace_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(InvalidRequest, match="no palace"),
        sources.opened(str(tmp_path), io.BytesIO()),
    ):
        pass
