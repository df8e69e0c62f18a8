"""Workflows in a process of their own: of the command line, and of the server by HTTP."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from triseek import config
from triseek.app.code_sources import code_source
from triseek.engine.service import Service
from triseek.workflows.context import symbols_of
from triseek.workflows.running import Workflows

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def workflows(root: str) -> Iterator[Workflows]:
    """Yield what runs workflows for a folder, over what the settings name."""
    with Service() as service:
        yield Workflows(
            lambda: code_source(config.read(), service, root), symbols_of, os.environ
        )
