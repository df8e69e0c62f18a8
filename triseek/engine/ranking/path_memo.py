"""Small numbers that depend on a path alone, kept so that ranking need not compute them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]

PATHS_MAX = 1 << 18
"""Most paths that are kept: about 30 MB. If there are more, all are dropped."""


class PathMemo(dict[bytes, int]):
    """Numbers of paths; `memo[path]` computes one at its first use. Thread-safe.

    A daemon ranks the same paths again and again. Looking 80,000 of them up takes 5 ms, for which
    no other thread can run Python; computing what they are takes 20 times as long.
    """

    def __init__(self, compute: Callable[[bytes], int]) -> None:
        """Keep what `compute` returns, a number of 0 to 255."""
        super().__init__()
        self._compute = compute

    def __missing__(self, path: bytes) -> int:
        if len(self) >= PATHS_MAX:
            self.clear()
        value = self[path] = int(self._compute(path))
        return value

    def of(self, paths: Sequence[bytes]) -> Array:
        """Return uint8[paths]: the number of each path."""
        import numpy as np  # here, as some processes classify paths without it

        return np.fromiter(map(self.__getitem__, paths), np.uint8, len(paths))
