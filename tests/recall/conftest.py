"""A real source: the recall floor is tested on a history's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek.history.database import open_database
from triseek.history.message_source import MessageSource
from triseek.kernels import cache
from triseek.recall import engine
from triseek.recall.engine import Recall

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.store.sqlite import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = open_database(str(tmp_path / "history"))
    yield made
    made.close()


@pytest.fixture
def recall(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> Recall:
    monkeypatch.setattr(cache, "is_ready", lambda: True)
    monkeypatch.setattr(engine, "READ_FIRST", 0)  # the index, also in a process without kernels
    return Recall(str(tmp_path / "recall"), MessageSource(database))
