"""Indexed real trees and the programs of real agents, kept for a session."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from tests.e2e import mcp_clients, real_trees

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.real_trees import Tree


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("e2e-state")


@pytest.fixture(scope="session")
def real_tree(tmp_path_factory: pytest.TempPathFactory, state: Path) -> Callable[[str], Tree]:
    """A real tree by name, indexed when first asked for."""

    @functools.cache
    def prepared(name: str) -> Tree:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TRISEEK_HOME", str(state))
            return real_trees.prepare(name, tmp_path_factory.mktemp("trees"))

    return prepared


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of real agents' programs; without a registry, what needs it is skipped."""
    try:
        return mcp_clients.installed()
    except mcp_clients.Unreachable as error:
        pytest.skip(str(error))
