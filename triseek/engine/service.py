"""The open engines of a process, without a transport."""

from __future__ import annotations

import sys
from threading import Lock
from typing import TYPE_CHECKING

from triseek.engine.engine import Engine
from triseek.engine.roots import index_dir, root_for
from triseek.files.tree.root import resolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self


class Service:
    """Engines by root, each opened on first use and shared from then on."""

    def __init__(
        self,
        *,
        one_shot: bool = False,
        is_cold: Callable[[], bool] = lambda: False,
        opened: Callable[[Engine], None] = lambda _: None,
    ) -> None:
        """Create a service without open engines.

        one_shot: the process ends after one search; do not load what one search does not repay.
        is_cold: returns whether using the kernels would mean waiting for numba and them to load.
        opened: called with each engine when it is opened.
        """
        self._is_cold = _kernels_are_absent if one_shot else is_cold
        self._opened = opened
        self._engines: dict[str, Engine] = {}
        self._lock = Lock()

    def engine(self, path: str, *, exact: bool = False) -> Engine:
        """Return the engine of a folder: that of the nearest indexed root at or above it.

        With `exact`, the folder itself is the root, as when it is to be indexed.

        Raises:
            RepoNotDetected: The path is not a folder.
        """
        root = resolve(path).path if exact else root_for(path)
        with self._lock:
            engine = self._engines.get(root)
            if engine is not None:
                return engine
            engine = Engine(root, index_dir=index_dir(root), is_cold=self._is_cold)
            self._engines[root] = engine
        self._opened(engine)
        return engine

    def engines(self) -> list[Engine]:
        """Return all open engines."""
        with self._lock:
            return list(self._engines.values())

    def drop(self, engine: Engine) -> None:
        """Forget an engine and stop watching its root; current users may continue."""
        with self._lock:
            if self._engines.get(engine.root) is engine:
                del self._engines[engine.root]
        engine.unwatch()

    def close(self) -> None:
        """Drop all engines."""
        for engine in self.engines():
            self.drop(engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _kernels_are_absent() -> bool:
    return "triseek.kernels.verify" not in sys.modules
