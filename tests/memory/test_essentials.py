from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek.memory import drawers, essentials
from triseek.memory.drawers import Draft
from triseek.memory.essentials import faded
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from pathlib import Path

    from triseek.store.sqlite import Database

DAY = 86_400_000


def chosen(database: Database, palace: int, now_ms: int, limit: int = 15) -> list[str]:
    with database.read() as connection:
        return [drawer.text for drawer in essentials.chosen(connection, palace, now_ms, limit)]


def test_importance_fades_to_a_floor() -> None:
    assert faded(0.8, 0, 0) == 0.8
    assert faded(0.8, 0, DAY - 1) == 0.8
    assert faded(0.8, 0, 90 * DAY) == pytest.approx(0.8 * 0.5**0.5)
    assert faded(0.8, 0, 180 * DAY) == faded(0.8, 0, 9_999 * DAY) == 0.4
    assert faded(0.8, 5 * DAY, 0) == 0.8  # a clock may have been set back


def test_the_most_important_come_first_then_the_first_written(
    database: Database, palace: int
) -> None:
    with database.write() as connection:
        for number, importance in enumerate((0.5, 0.9, 0.5, 0.7)):
            draft = Draft(text=str(number), importance=importance)
            drawers.add(connection, palace, draft, number)
    assert chosen(database, palace, 10) == ["1", "3", "0", "2"]
    assert chosen(database, palace, 10, 2) == ["1", "3"]


def test_what_nobody_used_for_long_gives_way(database: Database, palace: int) -> None:
    with database.write() as connection:
        old = drawers.add(connection, palace, Draft(text="old", importance=0.8), 0)
        drawers.add(connection, palace, Draft(text="new"), 400 * DAY)
    assert chosen(database, palace, 400 * DAY) == ["new", "old"]
    uses = essentials.Uses()
    uses.note([old.id, old.id], 390 * DAY)
    uses.write(database)
    assert chosen(database, palace, 400 * DAY) == ["old", "new"]
    with database.read() as connection:
        [kept] = drawers.by_ids(connection, [old.id]).values()
        row = connection.execute("SELECT recall_count FROM drawers WHERE id = ?", (old.id,))
        assert row.fetchone() == (2,)
    assert kept == old


def test_a_dream_writes_what_was_recalled(tmp_path: Path) -> None:
    memory = Memory(str(tmp_path / "memory"))
    memory.create("shop")
    memory.remember("shop", Draft(text="retry"))
    memory.remember("shop", Draft(text="other"))
    for _ in range(3):
        assert len(memory.recall("shop", "retry").hits) == 1
    before = memory.drawer("shop", memory.listed("shop")[0].uuid)
    memory.dream()
    with memory.database.read() as connection:
        rows = connection.execute("SELECT recall_count, recalled_at_epoch > 0 FROM drawers")
        assert rows.fetchall() == [(3, 1), (0, None)]
    assert memory.drawer("shop", before.uuid) == before
    memory.close()


def test_the_choice_reads_an_index(database: Database, palace: int) -> None:
    with database.read() as connection:
        plan: list[str] = []
        statements: list[str] = []
        connection.set_trace_callback(statements.append)
        essentials.chosen(connection, palace, 0, 15)
        connection.set_trace_callback(None)
        [query] = [text for text in statements if "LIMIT" in text]
        plan += [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert any("drawers_by_use" in line for line in plan), plan
    assert not any("TEMP B-TREE" in line for line in plan), plan
