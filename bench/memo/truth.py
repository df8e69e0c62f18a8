"""What a model really had before it, by the requests it was sent: the judge of the memo."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_NUMBER = re.compile(r"^ *\d+(?:\t|: ?)")
_CALL = re.compile(r"(?:toolu|call)_(\d{6})\d{2}")
_RUN = 5
"""So many lines in a row are of a file, not like it."""


def request_of(call: str) -> str:
    """The number of the request that was answered with this use of a tool; "" for none."""
    found = _CALL.fullmatch(call)
    return str(int(found[1])) if found else ""


class View:
    """The outputs in one request."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [
            [_NUMBER.sub("", line).rstrip("\r") for line in text.split("\n")] for text in texts
        ]

    def holds(self, lines: Sequence[str]) -> bool:
        """Whether each of the lines stands there, as part of a run of the same lines."""
        length = min(_RUN, len(lines))
        runs = {run for text in self._texts for run in _runs(text, length)}
        there = [run in runs for run in _runs(lines, length)]
        return bool(lines) and all(
            any(there[max(0, at - length + 1) : at + 1]) for at in range(len(lines))
        )


def _runs(lines: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(lines[at : at + length]) for at in range(len(lines) - length + 1))


def lines_of(
    text: str, first: int = 1, last: int | None = None, tail: int | None = None
) -> list[str]:
    """The lines of a file that a read asks for."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines[-tail:] if tail else lines[first - 1 : last]
