"""Files of any content are imported without a fault: what is not valid is named."""

from __future__ import annotations

import contextlib
import io
import json
import random
from pathlib import Path
from typing import Any

from triseek.errors import TriseekError
from triseek.memory.exchange import importing, sources
from triseek.memory.service import Memory

ROUNDS = 600
SEEDS = [
    [
        {"format": "triseek-memory", "version": 1},
        {"kind": "palace", "name": "shop", "description": "d", "identity": "i", "root": "/a",
         "created_at": "2026-01-01T00:00:00Z"},
        {"kind": "drawer", "drawer_id": "0f9c2d1a-0000-4000-8000-000000000001", "content": "text",
         "room": "Backend", "tags": ["a"], "importance": 0.5, "source": "s", "created_at": 5,
         "updated_at": 6, "deleted_at": 7, "earlier": [{"content": "x", "until": 5}],
         "superseded_by": "0f9c2d1a-0000-4000-8000-000000000002"},
        {"kind": "fact", "subject": "a", "predicate": "b", "object": "c", "valid_from": 5,
         "valid_to": 9, "confidence": 0.5, "provenance": "p", "multi": True},
    ],
    [
        json.loads(line)
        for line in Path(__file__).with_name("mcp-server-memory.jsonl").read_text().splitlines()
    ],
]  # fmt: skip
VALUES: list[Any] = [
    None, True, -1, 0, 1e308, 2**70, "", "\x00", "\ud800", "\u202e" * 300, "x" * 200_000, "../x",
    [], {}, [[]], {"a": {}}, [None] * 60, "2026-13-01", "9999-12-31T23:59:59.999Z", "nan",
    float("nan"), float("inf"), "entity", "palace", ["drawer"], "[redacted: x]", "<private>x",
]  # fmt: skip


def mutated(chance: random.Random) -> bytes:
    lines = [dict(line) for line in chance.choice(SEEDS)]
    for _ in range(chance.randrange(1, 5)):
        line = chance.choice(lines[chance.randrange(2) :])
        if line and chance.random() < 0.9:
            line[chance.choice([*line, "extra"])] = chance.choice(VALUES)
        else:
            lines.insert(chance.randrange(len(lines)), {"kind": chance.choice(VALUES)})
    data = bytearray("\n".join(map(json.dumps, lines)).encode())
    if chance.random() < 0.3:
        for _ in range(chance.randrange(1, 20)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def test_no_file_is_a_fault(tmp_path: Path) -> None:
    chance = random.Random(19)
    memory = Memory(str(tmp_path / "memory"))
    count = refused = 0
    for _ in range(ROUNDS):
        data = mutated(chance)
        try:
            with sources.opened("-", io.BytesIO(data)) as source:
                report = importing.run(memory.database, source.records("shop"), 1_790_000_000_000)
        except TriseekError as error:
            assert "\n" not in str(error)  # noqa: PT017
            refused += 1
            continue
        count += report.drawers + report.facts + report.known
        assert all("\n" not in line for line in report.skipped)
    assert memory.database.check() == []
    assert count > ROUNDS
    assert 0 < refused < ROUNDS / 2
    with contextlib.closing(memory):
        assert all(not name.startswith(".") for name in memory.palaces())
