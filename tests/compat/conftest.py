"""The real Zoekt's server and ours, over the same trees."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests import zoekt_programs
from tests.compat import asked, served

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="package")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("trees")
    served.build(home, asked.write(folder))
    with served.serving(home) as server:
        yield server.url


@pytest.fixture(scope="package")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, indexes = tmp_path_factory.mktemp("trees"), tmp_path_factory.mktemp("indexes")
    ctags = shutil.which("universal-ctags") or shutil.which("ctags")
    if ctags is None:
        pytest.skip("universal-ctags is not installed, by which Zoekt finds symbols")
    try:
        with pytest.MonkeyPatch.context() as variables:
            variables.setenv("CTAGS_COMMAND", ctags)
            for tree in asked.write(folder):
                zoekt_programs.index(tree, indexes, "-require_ctags")
    except zoekt_programs.Unreachable as error:
        pytest.skip(str(error))
    with zoekt_programs.serving(indexes) as url:
        yield url
