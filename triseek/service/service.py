"""The whole application without a transport; owns what is open."""

from __future__ import annotations

import sys
from threading import Lock
from typing import TYPE_CHECKING

from triseek.engine.engine import Engine
from triseek.files.root import resolve
from triseek.service.roots import index_dir, root_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from triseek.engine.backends.generation import Lender


class Service:
    """Engines by root, opened when first asked for and shared from then on."""

    def __init__(
        self,
        *,
        one_shot: bool = False,
        is_cold: Callable[[], bool] | None = None,
        opened: Callable[[Engine], None] = lambda _: None,
        lender: Callable[[str], Lender] | None = None,
    ) -> None:
        """With `one_shot` nothing is loaded that one search would not win back.

        is_cold: whether loading numba and the kernels has yet to be waited for.
        opened: called with each engine when it is opened.
        lender: who may know what changed below a root since its index, as `service.lending`.
        """
        self._is_cold = is_cold or (_kernels_are_absent if one_shot else _never)
        self._opened = opened
        self._lender = lender
        self._engines: dict[str, Engine] = {}
        self._lock = Lock()

    def engine(self, path: str, *, exact: bool = False) -> Engine:
        """Return the engine that answers for a folder: of the nearest indexed root above it.

        With `exact` the folder itself is the root, as when it is to be indexed.

        Raises:
            RepoNotDetected: The path is not a folder.
        """
        root = resolve(path).path if exact else root_for(path)
        with self._lock:
            engine = self._engines.get(root)
            if engine is not None:
                return engine
            engine = Engine(
                root,
                index_dir=index_dir(root),
                is_cold=self._is_cold,
                lender=self._lender(root) if self._lender else None,
            )
            self._engines[root] = engine
        self._opened(engine)
        return engine

    def engines(self) -> list[Engine]:
        """All that are open."""
        with self._lock:
            return list(self._engines.values())

    def drop(self, engine: Engine) -> None:
        """Let go of an engine; who is using it may go on."""
        with self._lock:
            if self._engines.get(engine.root) is engine:
                del self._engines[engine.root]
        engine.unwatch()

    def close(self) -> None:
        """Let go of all engines."""
        for engine in self.engines():
            self.drop(engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _kernels_are_absent() -> bool:
    return "triseek.kernels.verify" not in sys.modules


def _never() -> bool:
    return False
