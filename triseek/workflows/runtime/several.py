"""Work on several files at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from triseek.engine.symbols.parser import PROCESSES_MAX
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from triseek.model.code_search import CodeFile

T = TypeVar("T")
AT_A_TIME = 2 * PROCESSES_MAX
"""Files that are read at a time: while some are parsed, others are on their way."""


def each_of(
    files: Sequence[CodeFile], work: Callable[[CodeFile], T]
) -> Iterator[tuple[CodeFile, T]]:
    """Yield each file with the result of `work`, in order; few are begun that nobody takes.

    Raises: what `work` raises.
    """
    with ThreadPoolExecutor(AT_A_TIME, "triseek-files") as pool:
        for at in range(0, len(files), AT_A_TIME):
            some = files[at : at + AT_A_TIME]
            begun = [pool.submit(budget.carried(partial(work, file))) for file in some]
            for file, result in zip(some, begun, strict=True):
                yield file, result.result()
