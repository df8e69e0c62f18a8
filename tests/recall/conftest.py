"""A real source: the recall floor is tested on a history's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek.history.database import open_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.store.sqlite import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = open_database(str(tmp_path / "history"))
    yield made
    made.close()
