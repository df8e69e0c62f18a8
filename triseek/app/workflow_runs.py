"""Workflows in a process of their own, and what they search."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from triseek import config
from triseek.engine.service import Service
from triseek.workflows.context import symbols_of
from triseek.workflows.running import Workflows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.config import Settings
    from triseek.model.code_search import CodeSource


def code_source(settings: Settings, service: Service, root: str) -> CodeSource:
    """Return what `code_sources.code_source` does; its imports wait for the first search."""
    from triseek.app import code_sources

    return code_sources.code_source(settings, service, root)


@contextlib.contextmanager
def workflows(root: str) -> Iterator[Workflows]:
    """Yield what runs workflows for a folder, over what the settings name."""
    with Service() as service:
        yield Workflows(lambda: code_source(config.read(), service, root), symbols_of, os.environ)
