"""Workflows over small repositories of this machine."""

from __future__ import annotations

import pytest

from tests.workflows import trees
from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.service import Service
from triseek.engine.symbols.symbols import shared
from triseek.workflows.context import symbols_of
from triseek.workflows.running import Workflows
from triseek.workflows.runtime.zoekt_tools import ZoektTools


@pytest.fixture(scope="module", autouse=True)
def parsers():
    """End the processes that parse files: they start again with the next file."""
    yield
    shared().close()


@pytest.fixture(scope="session")
def roots(tmp_path_factory):
    return trees.write(tmp_path_factory.mktemp("repositories"))


@pytest.fixture
def source(roots, home):
    with Service() as service:
        yield LocalRepositories(service, roots)


@pytest.fixture
def tools(source):
    return ZoektTools(source, symbols_of)


@pytest.fixture
def workflows(source):
    return Workflows(lambda: source, symbols_of, {})
