"""What the files of the index lack is searched from memory, as if it were in them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.recall.sessions import add, fill, snapshot_of
from triseek.history.message_source import MessageSource
from triseek.kernels import cache
from triseek.recall import engine
from triseek.recall.engine import Recall

if TYPE_CHECKING:
    from pathlib import Path

    from triseek.store.sqlite import Database


@pytest.fixture
def source(database: Database, monkeypatch: pytest.MonkeyPatch) -> MessageSource:
    monkeypatch.setattr(cache, "is_ready", lambda: True)
    monkeypatch.setattr(engine, "READ_FIRST", 0)
    monkeypatch.setattr(MessageSource, "in_memory_max", 1_000)
    return MessageSource(database)


def test_a_history_is_searched_without_an_update(
    tmp_path: Path, database: Database, source: MessageSource
) -> None:
    recall = Recall(str(tmp_path / "recall"), source)
    fill(database, 1, range(1, 40))
    recall.update()
    for seed in range(2, 12):
        fill(database, seed, range(30 + seed, 45 + seed))  # old ones grow, new ones begin
        written = Recall(str(tmp_path / f"all {seed}"), source)
        written.update()
        assert snapshot_of(recall) == snapshot_of(written)
    assert len(recall.open().segments) == 1
    assert recall._fresh.messages > 0


def test_what_changed_much_waits_for_an_update(
    tmp_path: Path, database: Database, source: MessageSource
) -> None:
    recall = Recall(str(tmp_path / "recall"), source)
    add(database, 1, "alpha")
    recall.update()
    add(database, 2, *["alpha again"] * 1_001)
    assert [hit.session_id for hit in recall.search("alpha", by="session", limit=5).hits] == [1]
    recall.update()
    assert recall.search("alpha", by="session", limit=5).total == 2


def test_layers_of_like_size_are_merged(
    tmp_path: Path, database: Database, source: MessageSource
) -> None:
    recall = Recall(str(tmp_path / "recall"), source)
    add(database, 1, "alpha")
    recall.update()
    for session in range(2, 130):
        add(database, session, f"beta number{session}")
        [hit] = recall.search(f"number{session}", by="session", limit=1).hits
        assert hit.session_id == session
    layers = recall._fresh._state.layers  # type: ignore[union-attr]
    assert sum(layer.messages for layer in layers) == 128
    assert len(layers) <= 8
    sizes = [layer.messages for layer in layers]
    assert all(older > 2 * newer for older, newer in pairwise(sizes))
