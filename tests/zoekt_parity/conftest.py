"""The real Zoekt, serving the three repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests import zoekt_programs
from tests.zoekt_parity import trees

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Served(NamedTuple):
    """A server and the repositories that it serves."""

    url: str
    trees: dict[str, Path]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    try:
        zoekt_programs.installed()
    except zoekt_programs.Unreachable as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("zoekt-parity")
    indexes = folder / "indexes"
    indexes.mkdir()
    repositories = trees.make(folder / "trees")
    for tree in repositories.values():
        zoekt_programs.index(tree, indexes, "-disable_ctags")
    with zoekt_programs.serving(indexes) as url:
        yield Served(url, repositories)
