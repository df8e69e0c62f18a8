"""The store of the MCP memory server, as version 2026.8.31 of it has written it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from triseek.errors import InvalidRequest
from triseek.memory.exchange import importing, sources
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.memory.exchange.importing import ImportReport

RECORDED = Path(__file__).with_name("mcp-server-memory.jsonl")
"""Written by the program itself: its tools create_entities, create_relations, add_observations."""
NOW = 1_790_000_000_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = Memory(str(tmp_path / "memory"))
    opened.create("shop")
    yield opened
    opened.close()


def imported(memory: Memory, path: str, palace: str = "shop") -> ImportReport:
    with sources.opened(path, io.BytesIO()) as source:
        assert (source.kind, source.names_palaces) == ("mcp-memory", False)
        return importing.run(memory.database, source.records(palace), NOW, palace=palace)


def test_observations_become_drawers_and_relations_facts(memory: Memory) -> None:
    report = imported(memory, str(RECORDED))
    assert (report.drawers, report.facts, report.left_out) == (4, 6, 0)
    assert [drawer.text for drawer in memory.listed("shop", tag="service")] == [
        "checkout: Charges cards through Stripe",
        "checkout: Prices are in cents\nsince October",
        "checkout: Owned by team payments",
    ]
    facts = {(fact.predicate, fact.object) for fact in memory.facts("shop", "checkout")}
    assert facts == {
        ("is_a", "service"), ("deployed_to", "staging"), ("depends_on", "redis"),
        ("depends_on", "postgres"),
    }  # fmt: skip
    assert [fact.object for fact in memory.facts("shop", "Grüße 🌍")] == ["person"]


def test_a_second_import_changes_nothing(memory: Memory) -> None:
    imported(memory, str(RECORDED))
    memory.retract("shop", ("checkout", "depends_on", "redis"))
    report = imported(memory, str(RECORDED))
    assert (report.drawers, report.facts, report.known) == (0, 0, 10)
    assert imported(memory, str(RECORDED), "another").drawers == 4


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"type": "entity", "name": 7, "observations": ["x"]}, "no name"),
        ({"type": "entity", "name": "a", "observations": [7]}, "not a text"),
        ({"type": "entity", "name": "a\x1b[2J", "observations": []}, ""),
        ({"type": "relation", "from": "a", "to": "b"}, "predicate is empty"),
        ({"type": "relation", "from": {}, "to": "b", "relationType": "c"}, "subject is empty"),
        ({"type": "vector"}, "neither"),
        ([], "not a JSON object"),
    ],
)
def test_a_wrong_line_is_named_and_the_others_are_imported(
    line: Any, reason: str, memory: Memory, tmp_path: Path
) -> None:
    path = tmp_path / "memory.jsonl"
    good = {"type": "entity", "name": "b", "entityType": "t", "observations": ["x"]}
    path.write_text("\n".join(map(json.dumps, [good, line])), encoding="utf-8")
    report = imported(memory, str(path))
    assert report.drawers == 1
    assert all(skipped.startswith("line 2") and reason in skipped for skipped in report.skipped)
    assert report.left_out == bool(reason)


@pytest.mark.parametrize("text", ["", "[]", '{"type":"entity"}', '{"entities":[]}'])
def test_what_is_no_store_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text(text)
    with pytest.raises(InvalidRequest), sources.opened(str(path), io.BytesIO()):
        pass
