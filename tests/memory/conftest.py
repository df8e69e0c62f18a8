from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek.memory import palaces
from triseek.memory.database import open_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.store.sqlite import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(str(tmp_path / "memory"))
    yield opened
    opened.close()


@pytest.fixture
def palace(database: Database) -> int:
    with database.write() as connection:
        return palaces.create(connection, "my-project", "", 1)[0]
