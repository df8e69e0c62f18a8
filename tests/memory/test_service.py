from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from triseek.errors import InvalidRequest
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory(str(tmp_path / "memory"))
    memory.create("shop")
    yield memory
    memory.close()


def test_what_was_stored_is_recalled_at_once(memory: Memory) -> None:
    text = "The API gateway validates JWT tokens using RS256."
    stored = memory.remember("shop", Draft(text=text, room="Backend", tags=["auth"]))
    memory.remember("shop", Draft(text="Invoices are due in May."))
    recalled = memory.recall("shop", "How does token validation work?", 5)
    assert [hit.drawer.uuid for hit in recalled.hits] == [stored.uuid]
    assert 0 < recalled.hits[0].score <= 1
    assert len(recalled.essentials) == 2


def test_drawers_with_all_words_come_first(memory: Memory) -> None:
    memory.remember("shop", Draft(text="retry retry retry of the queue"))
    both = memory.remember("shop", Draft(text="the payment has a retry that waits for a long time"))
    hits = memory.recall("shop", "payment retry").hits
    assert hits[0].drawer.uuid == both.uuid
    assert len(hits) == 2


def test_filters_hold(memory: Memory) -> None:
    memory.remember("shop", Draft(text="retry one", room="Backend", tags=["x"]))
    memory.remember("shop", Draft(text="retry two", room="Frontend", tags=["y"]))

    def found(**filters: object) -> list[str]:
        hits = memory.recall("shop", "retry", **filters).hits  # type: ignore[arg-type]
        return sorted(hit.drawer.text for hit in hits)

    assert found(room="backend") == ["retry one"]
    assert found(tag="y") == ["retry two"]
    assert found(since_ms=1 << 50) == []
    assert found(top_k=1) == ["retry two"]
    assert found(top_k=-4) == []


@pytest.mark.parametrize("query", ["", "?", '"', "AND OR NOT", "a" * 100_000, "col:x NEAR(", "\0"])
def test_no_query_is_an_error(memory: Memory, query: str) -> None:
    memory.remember("shop", Draft(text="retry"))
    assert isinstance(memory.recall("shop", query).hits, tuple)


def test_what_was_forgotten_is_not_recalled(memory: Memory) -> None:
    drawer = memory.remember("shop", Draft(text="quetzal"))
    assert memory.forget("shop", drawer.uuid)
    assert memory.recall("shop", "quetzal").hits == ()
    assert memory.restore("shop", drawer.uuid)
    assert len(memory.recall("shop", "quetzal").hits) == 1


def test_nothing_makes_a_palace_but_create(memory: Memory) -> None:
    for work in (
        lambda: memory.remember("other", Draft(text="x")),
        lambda: memory.recall("other", "x"),
        lambda: memory.facts("other", "x"),
    ):
        with pytest.raises(InvalidRequest, match="no palace"):
            work()
    assert memory.palaces() == ["shop"]


@pytest.mark.parametrize("way", ["purge", "palace"])
def test_what_was_deleted_for_good_is_in_no_file(memory: Memory, way: str) -> None:
    for number in range(50):
        memory.remember("shop", Draft(text=f"note {number} about invoices"))
    drawer = memory.remember("shop", Draft(text="the quetzalcoatl token", tags=["quetzalcoatl"]))
    memory.update("shop", drawer.uuid, "the quetzalcoatl key")
    memory.prepare()
    assert _files_with(memory, b"quetzalcoatl")
    if way == "purge":
        assert memory.forget("shop", drawer.uuid, purges=True)
    else:
        assert memory.delete_palace("shop") == 51

    assert _files_with(memory, b"quetzalcoatl") == []


def _files_with(memory: Memory, text: bytes) -> list[str]:
    files = (path for path in Path(memory.folder).rglob("*") if path.is_file())
    return [path.name for path in files if text in path.read_bytes()]


def test_a_tag_that_comes_later_is_searched(memory: Memory) -> None:
    """Consolidation gives a drawer the tags of what it supersedes."""
    drawer = memory.remember("shop", Draft(text="Prices are in cents"))
    memory.prepare()
    assert not memory.recall("shop", "billing").hits
    with memory.database.write() as connection:
        connection.execute(
            "INSERT INTO drawer_tags (drawer_id, position, tag) VALUES (?, 0, 'billing')",
            (drawer.id,),
        )
    assert [hit.drawer.uuid for hit in memory.recall("shop", "billing").hits] == [drawer.uuid]


def test_a_palace_is_searched_that_has_the_name_of_a_deleted_one(memory: Memory) -> None:
    for text in ("The old heron", "The new heron"):
        memory.create("shop")
        memory.remember("shop", Draft(text=text))
        memory.prepare()
        assert [hit.drawer.text for hit in memory.recall("shop", "heron").hits] == [text]
        memory.delete_palace("shop")
