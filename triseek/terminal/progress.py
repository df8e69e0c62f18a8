"""Progress bars on standard error if that is a terminal; no output otherwise."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from triseek.model.index import no_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from triseek.model.index import Progress, Stage

TITLES: dict[Stage, str] = {
    "walk": "Listing files",
    "read": "Reading files",
    "write": "Writing the index",
    "compile": "Compiling kernels",
    "check": "Checking the index",
}


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Yield a progress callback that draws one bar per stage."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Board(bars)


class _Board:
    """Progress callback with one bar per stage, added at the stage's first report."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[Stage, TaskID] = {}

    def __call__(self, stage: Stage, done: int, total: int) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(TITLES[stage], total=total or None)
        self._bars.update(self._tasks[stage], completed=done, total=total or None)
