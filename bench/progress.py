"""What a run says while it goes: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import track

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")


class Progress:
    """Speaks on standard error."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)

    def say(self, text: str) -> None:
        """One line."""
        self._console.print(text, highlight=False)

    def each(self, items: Sequence[T], what: str) -> Iterator[T]:
        """Go through `items` with a bar."""
        if self._console.is_terminal:
            yield from track(items, description=what, console=self._console)
            return
        for place, item in enumerate(items):
            self.say(f"{what} {place + 1}/{len(items)}: {getattr(item, 'name', item)}")
            yield item
