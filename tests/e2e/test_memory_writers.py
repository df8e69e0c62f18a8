"""Eight processes write into one memory at once: nothing is lost, nothing is there twice."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.memory_writer import PALACE
from tests.e2e.serving import PACKAGE, environ
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.long

WRITERS = 8
WRITES, WRITES_SLOW = 40, 1_000
WITHIN_S = 900


def _write(state: Path, count: int) -> list[Any]:
    """Have all writers write; return what each expects."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.memory_writer", str(who), str(count)],
            env={**os.environ, **environ(state)}, cwd=PACKAGE, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for who in range(WRITERS)
    ]  # fmt: skip
    try:
        documents = []
        for process in processes:
            out, errors = process.communicate(timeout=WITHIN_S)
            assert process.returncode == 0, errors
            documents.append(json.loads(out))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return documents


@pytest.mark.parametrize("count", [WRITES, pytest.param(WRITES_SLOW, marks=pytest.mark.slow)])
def test_writers_lose_nothing_and_double_nothing(tmp_path: Path, count: int) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    with contextlib.closing(Memory(str(state / "memory"))) as memory:
        memory.create(PALACE)
        began = time.monotonic()
        expected = _write(state, count)
        print(f"\n{WRITERS} x {count:,} writes in {time.monotonic() - began:.1f} s")
        assert memory.database.check() == []
        with memory.database.read() as connection:
            rows = connection.execute(
                "SELECT uuid, text, deleted_at_epoch IS NOT NULL, superseded_by FROM drawers"
            ).fetchall()
            tags = connection.execute("SELECT count(*) FROM drawer_tags").fetchone()
            [indexed] = connection.execute(
                "SELECT count(*) FROM drawers_fts WHERE drawers_fts MATCH 'writer'"
            ).fetchone()
            facts: dict[str, list[str]] = {}
            for subject, target in connection.execute(
                "SELECT subject, object FROM triples WHERE valid_to IS NULL ORDER BY id"
            ):
                facts.setdefault(subject, []).append(target)
        texts = {uuid: text for uuid, text, _, _ in rows}
        assert len(texts) == len(rows) == indexed
        assert texts == {key: text for one in expected for key, text in one["texts"].items()}
        assert {uuid for uuid, _, deleted, _ in rows if deleted} == {
            uuid for one in expected for uuid in one["forgotten"]
        }
        assert {superseded for *_, superseded in rows} == {None}
        assert tags == (2 * len(rows),)
        assert facts == {key: value for one in expected for key, value in one["facts"].items()}
        report = memory.dream(budget_s=60)
        assert (report.superseded, report.left) == (0, 0)
