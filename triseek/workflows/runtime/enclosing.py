"""References to a name: which matching lines are no definitions, and what is around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.model.symbol import Symbol
    from triseek.workflows.runtime.items import FileItem, MatchItem

SymbolsOf: TypeAlias = "Callable[[bytes, bytes], Sequence[Symbol]]"
"""Returns the definitions of a file, of its path and content."""


class Enclosing:
    """Sorts the matching lines of files that mention a name."""

    def __init__(self, symbols: SymbolsOf, name: str) -> None:
        """For references to `name`; `symbols` returns the definitions of a file."""
        self._symbols = symbols
        self._name = name

    def references(self, item: FileItem, file: tuple[bytes, bytes] | None) -> list[MatchItem]:
        """Return the matches of a file that are no definitions, each with what is around it.

        file: Its path and content; None if it is gone.
        """
        symbols = self._symbols(*file) if file else ()
        defining = {symbol.line for symbol in symbols if symbol.name == self._name}
        return [
            {**match, "inside": _inside(symbols, match["line_number"])}
            for match in item["matches"]
            if match["line_number"] and match["line_number"] not in defining
        ]


def _inside(symbols: Sequence[Symbol], line: int) -> str:
    """Return the innermost definition of several lines around a line; "" at top level."""
    around = [each for each in symbols if each.line <= line <= each.end_line > each.line]
    if not around:
        return ""
    inner = max(around, key=lambda symbol: (symbol.line, -symbol.end_line))
    return f"{inner.parent}.{inner.name}" if inner.parent else inner.name
