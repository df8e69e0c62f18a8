"""A process without kernels reads a few messages rather than load them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.history.rows import Rows
from triseek.history.message_source import MessageSource
from triseek.recall import engine
from triseek.recall.engine import Recall
from triseek.recall.index import NOTHING

if TYPE_CHECKING:
    import pytest

    from triseek.store.sqlite import Database


def test_kernels_are_loaded_only_for_many_messages(
    database: Database, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Rows(database)
    number = rows.session()
    rows.prompt(number, "The retry test is flaky")
    rows.said(number, "It waits too long")
    recall = Recall(str(tmp_path / "recall"), MessageSource(database))
    loaded: list[Recall] = []
    monkeypatch.setattr(Recall, "open", lambda self: loaded.append(self) or NOTHING)
    monkeypatch.setattr(engine.cache, "is_ready", lambda: True)
    monkeypatch.delitem(sys.modules, "triseek.kernels.recall", raising=False)

    def hits() -> list[int]:
        page = recall.search("flaky retry", by="session", limit=5)
        return [hit.session_id for hit in page.hits]

    assert hits() == [number]
    assert not loaded
    monkeypatch.setattr(engine, "READ_FIRST", 1)
    assert hits() == [number]
    assert loaded == [recall]
