"""What the workflow tools of one agent work on."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from triseek.workflows.running import Workflows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.engine.symbols.symbols import FileSymbols
    from triseek.model.code_search import CodeSource


class Host(Protocol):
    """What the tools need of a `ToolHost`."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The agent's environment variables, as far as they hold settings."""

    def code_source(self) -> Any:  # noqa: ANN401 - a CodeSource
        """Return what is searched."""


class WorkflowContext:
    """What the workflow tools of one agent work on."""

    def __init__(self, host: Host) -> None:
        """Work on what `host` searches."""
        self._host = host

    @cached_property
    def workflows(self) -> Workflows:
        """Runs workflows."""
        return Workflows(self._source, symbols_of, self._host.environ)

    def _source(self) -> CodeSource:
        source: CodeSource = self._host.code_source()
        return source


def symbols_of(path: bytes, text: bytes) -> FileSymbols:
    """Return the definitions of a file, and whether some may be missing."""
    from triseek.engine.symbols.symbols import shared

    return shared().file_symbols(path, text)
