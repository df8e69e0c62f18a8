"""kill -9 at random moments of writes and of consolidations: what was acknowledged is there.

`TRISEEK_MEMORY_KILLS` says how many moments the slow tests take.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

from triseek.memory.drawers import Draft
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KILLS, KILLS_SLOW = 5, int(os.environ.get("TRISEEK_MEMORY_KILLS", "100"))
PALACE = "shop"


def _killed(work: Callable[[int], None], within_s: float) -> list[list[str]]:
    """Run `work` in a process, kill it after a while, and return the lines that it wrote."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.close(reader)
            work(writer)
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(writer)
    time.sleep(within_s)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert status in (0, signal.SIGKILL), "the work has failed"
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    return [json.loads(line) for line in data.splitlines(keepends=True) if line.endswith(b"\n")]


def _write(folder: str, name: str) -> Callable[[int], None]:
    """Work that writes until it is killed, and acknowledges each write."""

    def work(writer: int) -> None:
        memory = Memory(folder)
        for number in range(1_000_000):
            text = f"{name} event {number}"
            drawer = memory.remember(PALACE, Draft(text=text, tags=[name]))
            os.write(writer, json.dumps(["remember", drawer.uuid, text]).encode() + b"\n")
            if number % 3 == 0:
                memory.assert_fact(PALACE, (name, "is", str(number)))
                os.write(writer, json.dumps(["fact", name, str(number)]).encode() + b"\n")
            if number % 5 == 0:
                memory.forget(PALACE, drawer.uuid)
                os.write(writer, json.dumps(["forget", drawer.uuid, ""]).encode() + b"\n")

    return work


def _kill_writers(folder: str, kills: int) -> None:
    with contextlib.closing(Memory(folder)) as memory:
        memory.create(PALACE)
    chance = random.Random(5)
    texts: dict[str, str] = {}
    forgotten: set[str] = set()
    for kill in range(kills):
        name = f"writer{kill}"
        lines = _killed(_write(folder, name), chance.uniform(0.02, 0.3))
        texts |= {uuid: text for kind, uuid, text in lines if kind == "remember"}
        forgotten |= {uuid for kind, uuid, _ in lines if kind == "forget"}
        facts = [value for kind, _, value in lines if kind == "fact"]
        with contextlib.closing(Memory(folder)) as memory:
            assert memory.database.check() == []
            with memory.database.read() as connection:
                rows = connection.execute(
                    "SELECT uuid, text, deleted_at_epoch IS NOT NULL FROM drawers"
                ).fetchall()
                [untagged] = connection.execute(
                    "SELECT count(*) FROM drawers WHERE id NOT IN"
                    " (SELECT drawer_id FROM drawer_tags)"
                ).fetchone()
            kept = {uuid: text for uuid, text, _ in rows}
            assert texts.items() <= kept.items()
            assert len(kept) - len(texts) <= kill + 1  # written, and killed before it was said
            assert forgotten <= {uuid for uuid, _, deleted in rows if deleted}
            assert untagged == 0
            holding = memory.facts(PALACE, name)
            assert len(holding) <= 1
            if facts:
                assert int(holding[0].object) >= int(facts[-1])
    assert len(texts) > kills
    print(f"\n{kills} kills; {len(texts):,} drawers had been acknowledged, all are there")


def _rows(memory: Memory) -> list[object]:
    with memory.database.read() as connection:
        return [
            *connection.execute("SELECT * FROM drawers ORDER BY id"),
            *connection.execute("SELECT * FROM drawer_tags ORDER BY drawer_id, position"),
        ]


def _dream(folder: str) -> Callable[[int], None]:
    def work(_writer: int) -> None:
        Memory(folder).dream(budget_s=60)

    return work


def _kill_dreams(folder: str, kills: int) -> None:
    """Kill consolidations: each link is whole or not made, and undoing all gives what was there."""
    chance = random.Random(6)
    with contextlib.closing(Memory(folder)) as memory:
        memory.create(PALACE)
        for number in range(1_000):
            text = f"The payment service number {number % 400} retries failed charges at night"
            memory.remember(PALACE, Draft(text=text, tags=[f"t{number % 7}"]))
        before = _rows(memory)
    unfinished = 0
    for _ in range(kills):
        _killed(_dream(folder), chance.uniform(0.01, 0.15))
        with contextlib.closing(Memory(folder)) as memory:
            assert memory.database.check() == []
            _links_are_whole(memory)
            with memory.database.read() as connection:
                [waiting] = connection.execute("SELECT count(*) FROM dream_queue").fetchone()
            unfinished += 0 < waiting < 1_000
            if waiting == 0:  # begin again
                _undo_all(memory)
                assert _rows(memory) == before
                with memory.database.write() as connection:
                    connection.execute("DELETE FROM dreams")
                    connection.execute("DELETE FROM drawer_keys")
                    connection.execute("INSERT OR IGNORE INTO dream_queue SELECT id FROM drawers")
    with contextlib.closing(Memory(folder)) as memory:
        memory.dream(budget_s=60)
        _links_are_whole(memory)
        assert len(memory.listed(PALACE, limit=1_000)) == 400
        _undo_all(memory)
        assert _rows(memory) == before
    print(f"\n{kills} kills, {unfinished} in the middle of a consolidation")


def _undo_all(memory: Memory) -> None:
    with memory.database.read() as connection:
        runs = connection.execute("SELECT id FROM dreams ORDER BY id DESC").fetchall()
    for (run,) in runs:
        memory.undo_dream(run)


def _links_are_whole(memory: Memory) -> None:
    """Check that each link is in the log, and that its tags are where they should be."""
    with memory.database.read() as connection:
        links = connection.execute(
            "SELECT d.id, d.uuid, s.id, s.uuid FROM drawers d JOIN drawers s"
            " ON s.id = d.superseded_by"
        ).fetchall()
        logged = set(
            connection.execute("SELECT drawer, after FROM dream_changes WHERE step = 'duplicate'")
        )
        tags: dict[int, set[str]] = {}
        for number, tag in connection.execute("SELECT drawer_id, tag FROM drawer_tags"):
            tags.setdefault(number, set()).add(tag)
    assert {(loser, survivor) for _, loser, _, survivor in links} == logged
    assert all(tags[loser] <= tags[survivor] for loser, _, survivor, _ in links)


def test_what_killed_writers_acknowledged_is_there(tmp_path: Path) -> None:
    _kill_writers(str(tmp_path / "memory"), KILLS)


def test_killed_consolidations_leave_no_half_link(tmp_path: Path) -> None:
    _kill_dreams(str(tmp_path / "memory"), KILLS)


@pytest.mark.slow
def test_what_a_hundred_killed_writers_acknowledged_is_there(tmp_path: Path) -> None:
    _kill_writers(str(tmp_path / "memory"), KILLS_SLOW)


@pytest.mark.slow
def test_a_hundred_killed_consolidations_leave_no_half_link(tmp_path: Path) -> None:
    _kill_dreams(str(tmp_path / "memory"), KILLS_SLOW)
