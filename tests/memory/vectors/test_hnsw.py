from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from triseek.config import Settings
from triseek.errors import InvalidRequest
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory
from triseek.memory.vectors import hnsw

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.memory.vectors.lane import VectorLane

COUNT = 300
HNSW = Settings(memory_embedder="hashing", memory_vector_index="hnsw")


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    pytest.importorskip("usearch")
    monkeypatch.setattr(hnsw, "FROM", 100)
    monkeypatch.setattr(hnsw, "BEHIND_MAX", 20)
    memory = Memory(str(tmp_path), HNSW)
    memory.create("shop")
    memory.create("small")
    for number in range(COUNT):
        draft = Draft(text=f"word{number} word{number + 1} gateway", room=f"r{number % 100}")
        memory.remember("shop", draft)
    memory.remember("small", Draft(text="word7"))
    assert memory.embed_missing() == 0
    yield memory
    memory.close()


def lane_of(memory: Memory) -> VectorLane:
    assert memory.vectors is not None
    return memory.vectors


def by_graph(memory: Memory, query: str, count: int = 5) -> list[int] | None:
    """What the graph alone answers of the first palace."""
    lane = lane_of(memory)
    vector = lane.embed(query)
    assert vector is not None
    assert lane.graphs is not None
    with memory.database.read() as connection:
        return lane.graphs.search(connection, 1, vector, count, None, ())


def recalled(memory: Memory, query: str, **arguments: object) -> list[tuple[str, float]]:
    hits = memory.recall("shop", query, **arguments).hits  # type: ignore[arg-type]
    return [(hit.drawer.text, hit.score) for hit in hits]


def scanned(memory: Memory, query: str, **arguments: object) -> list[tuple[str, float]]:
    """The same by the exact scan."""
    plain = Memory(memory.folder, Settings(memory_embedder="hashing"))
    try:
        return recalled(plain, query, **arguments)
    finally:
        plain.close()


def test_large_palaces_have_a_graph(memory: Memory, tmp_path: Path) -> None:
    assert sorted(path.name for path in (tmp_path / "vectors").iterdir()) == [
        "1.json",
        "1.usearch",
    ]
    assert by_graph(memory, "word7") is not None
    for query in ("ord7 ord8", "word120", "gatewy"):
        assert recalled(memory, query) == scanned(memory, query)
    # A room with three drawers, which the graph passes over
    assert recalled(memory, "gatewy", room="r5") == scanned(memory, "gatewy", room="r5")


def test_changes_are_seen_at_once(memory: Memory) -> None:
    assert by_graph(memory, "zebra") is not None
    new = memory.remember("shop", Draft(text="zebra crossing"))
    assert new.id in (by_graph(memory, "zebra", 1) or ())
    memory.update("shop", new.uuid, "something else")
    assert [text for text, _ in recalled(memory, "ebra crossing")] == []
    memory.forget("shop", new.uuid, purges=True)
    for number in range(21):  # more than a search adds
        memory.remember("shop", Draft(text=f"zebras {number}"))
    assert by_graph(memory, "zebra") is None
    assert len(recalled(memory, "ebras")) == 10
    memory.embed_missing()
    assert by_graph(memory, "zebras") is not None
    assert recalled(memory, "ebras") == scanned(memory, "ebras")


@pytest.mark.parametrize("name", ["1.json", "1.usearch"])
@pytest.mark.parametrize("damage", ["deleted", "empty", "cut", "flipped", "folder", "foreign"])
def test_a_damaged_file_changes_no_answer(memory: Memory, name: str, damage: str) -> None:
    path = hnsw.Path(memory.folder, "vectors", name)
    data = bytearray(path.read_bytes())
    path.unlink()
    rng = np.random.default_rng(1)
    for _ in range(20 if damage == "flipped" else 1):
        if damage == "folder":
            path.mkdir()
        elif damage == "flipped":
            flipped = bytearray(data)
            flipped[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
            path.write_bytes(flipped)
        elif damage != "deleted":
            path.write_bytes({"empty": b"", "cut": data[:-9], "foreign": b"{}" * 50}[damage])
        other = Memory(memory.folder, HNSW)
        assert by_graph(other, "word7") is None
        assert recalled(other, "ord7 ord8") == scanned(memory, "ord7 ord8")
        other.close()
    if damage == "folder":
        path.rmdir()
    memory.embed_missing()
    assert by_graph(memory, "word7") is not None


def test_a_graph_of_another_embedder_is_not_used(memory: Memory) -> None:
    graphs = hnsw.Graphs(f"{memory.folder}/vectors", "other/1/512", 512)
    with memory.database.read() as connection:
        query = np.ones(512, np.float32)
        assert graphs.search(connection, 1, query, 5, None, ()) is None


def test_the_file_of_a_deleted_palace_goes(memory: Memory, tmp_path: Path) -> None:
    memory.delete_palace("shop")
    memory.embed_missing()
    assert list((tmp_path / "vectors").iterdir()) == []


def test_the_package_is_named_if_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    memory = Memory(str(tmp_path), HNSW)
    memory.create("shop")
    memory.remember("shop", Draft(text="gateway"))
    with pytest.raises(InvalidRequest, match="usearch"):
        memory.embed_missing()
    assert [text for text, _ in recalled(memory, "gateway")] == ["gateway"]
    memory.close()
