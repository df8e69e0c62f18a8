from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek.history.database import open_database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.store.sqlite import Database


@pytest.fixture
def database(tmp_path) -> Iterator[Database]:
    opened = open_database(str(tmp_path / "history"))
    yield opened
    opened.close()
