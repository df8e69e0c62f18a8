"""Workflows of a command, and what they search."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING

from triseek import config
from triseek.workflows.commands import quick
from triseek.workflows.context import symbols_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.config import Settings
    from triseek.engine.service import Service
    from triseek.model.code_search import CodeSource
    from triseek.terminal.command_context import CommandContext
    from triseek.workflows.running import Workflows


def code_source(settings: Settings, service: Service, root: str) -> CodeSource:
    """Return what `code_sources.code_source` does; its imports wait for the first search."""
    from triseek.app import code_sources

    return code_sources.code_source(settings, service, root)


def perform(words: Sequence[str], context: CommandContext) -> int | None:
    """Run `triseek workflow …` as `workflows.commands.quick` does."""
    provide()
    return quick.perform(words, context)


def provide() -> None:
    """Have commands run workflows over what their settings name."""
    quick.provide(_opened)


@contextlib.contextmanager
def _opened(context: CommandContext, root: str) -> Iterator[Workflows]:
    """Yield what runs workflows for a folder, on the daemon's engines or on those of a command."""
    from triseek.engine.service import Service
    from triseek.workflows.running import Workflows

    here = contextlib.nullcontext(context.kept) if context.kept else Service(one_shot=True)
    with here as service:
        settings = partial(config.read, environ=context.environ)
        yield Workflows(lambda: code_source(settings(), service, root), symbols_of, context.environ)
