"""Indexed real trees and the programs of real agents, kept for a session."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

import pytest

from tests.e2e import mcp_clients, real_trees
from tests.e2e.browsing import Visit
from tests.ui import chromium

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that reaches this machine alone."""
    from playwright.sync_api import sync_playwright

    program = chromium.find()
    if program is None:
        missing = "no Chromium: `make browser` gets one"
        is_needed = os.environ.get("TRISEEK_BROWSER") == "required"
        pytest.fail(missing) if is_needed else pytest.skip(missing)
    with sync_playwright() as playwright:
        # A name that is not this machine's leads nowhere: what asks for one fails, and says so.
        nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        browser = playwright.chromium.launch(executable_path=program, args=[nowhere])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, link: str) -> Iterator[Visit]:
    """A tab of the page whose address is the fixture `link` of the test's module."""
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        visit = Visit(context, link)
        yield visit
        visit.check()
