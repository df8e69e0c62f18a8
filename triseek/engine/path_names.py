"""All paths of a tree as one text, to find those that hold a word without taking each apart."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class PathNames:
    """Paths, searched ignoring the case of ASCII letters."""

    def __init__(self, paths: Sequence[bytes]) -> None:
        self.paths = paths
        self._text = b"\n".join(paths).lower()
        self._starts = [0, *accumulate(len(path) + 1 for path in paths)]
        self._numbers: dict[bytes, int] | None = None

    def __len__(self) -> int:
        return len(self.paths)

    def __contains__(self, path: bytes) -> bool:
        if self._numbers is None:
            self._numbers = {path: number for number, path in enumerate(self.paths)}
        return path in self._numbers

    def holding(self, word: bytes) -> Iterator[bytes]:
        """Yield each path that holds a word (lower case), in order."""
        at = self._text.find(word)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            yield self.paths[number]
            at = self._text.find(word, self._starts[number + 1])

    def named(self, word: bytes) -> Iterator[bytes]:
        """Yield each path whose last component holds a word (lower case), in order."""
        last = -1
        for found in re.finditer(re.escape(word) + rb"[^/\n]*$", self._text, re.MULTILINE):
            number = bisect_right(self._starts, found.start()) - 1
            if number != last:
                yield self.paths[number]
            last = number

    def ending(self, tail: bytes) -> list[bytes]:
        """The paths whose last components are those of `tail`; of the exact case if there are."""
        lower = b"/" + tail.lower()
        found = [
            path for path in self.holding(tail.lower()) if (b"/" + path.lower()).endswith(lower)
        ]
        exact = [path for path in found if (b"/" + path).endswith(b"/" + tail)]
        return exact or found
