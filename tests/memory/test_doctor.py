"""The doctor says how large the memory is and whether it is damaged, and makes none."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

import pytest

from triseek.memory import doctor
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.agents.doctor.checks import Finding


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    opened = Memory()
    yield opened
    opened.close()


def findings() -> list[Finding]:
    memory = Memory()
    try:
        return list(doctor.database(memory))
    finally:
        memory.close()


def filled(memory: Memory) -> Path:
    memory.create("shop")
    for number in range(200):
        memory.remember("shop", Draft(text=f"Text {number}"))
    memory.assert_fact("shop", ("a", "b", "c"))
    path = memory.database.path
    memory.close()
    return path


def test_without_a_memory_nothing_is_said(home: Path) -> None:
    assert findings() == []
    assert not (home / "memory").exists()


def test_the_size_is_said(memory: Memory) -> None:
    filled(memory)
    [finding] = findings()
    assert finding.level == "ok"
    assert finding.detail.startswith("200 drawers and 1 fact in 1 palace, ")


def test_a_large_memory_is_not_read_through(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(memory)
    monkeypatch.setattr(doctor, "CHECKED_MAX", 1_000)
    assert [finding.level for finding in findings()] == ["ok", "info"]


@pytest.mark.parametrize("damage", ["head", "truncated", "zeroes", "empty"])
def test_damage_is_named_with_the_way_on(damage: str, memory: Memory) -> None:
    path = filled(memory)
    size = path.stat().st_size
    if damage == "truncated":
        os.truncate(path, size // 2)
    elif damage == "empty":
        path.write_bytes(b"x" * size)
    else:
        with path.open("r+b") as file:
            file.seek(0 if damage == "head" else size // 3 & ~0xFFF)
            file.write(b"\0" * 8_192)
    [finding] = findings()
    assert finding.level == "fail"
    assert str(path) in finding.detail
    assert finding.mend


def test_a_row_that_refers_to_nothing_is_damage(memory: Memory) -> None:
    path = filled(memory)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE drawers SET superseded_by = 9999 WHERE id = 1")
    connection.close()
    [finding] = findings()
    assert (finding.level, "drawers refers" in finding.detail) == ("fail", True)
