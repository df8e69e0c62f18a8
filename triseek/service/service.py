"""The whole application without a transport; owns what is open."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from triseek.engine.engine import Engine
from triseek.service.roots import root_for

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class Service:
    """Engines by root, opened when first asked for and shared from then on."""

    def __init__(self) -> None:
        self._engines: dict[str, Engine] = {}
        self._lock = Lock()

    def engine(self, path: str) -> Engine:
        """Return the engine that answers for a folder.

        Raises:
            RepoNotDetected: The path is not a folder.
        """
        root = root_for(path, self._is_indexed)
        with self._lock:
            if root not in self._engines:
                self._engines[root] = Engine(root)
            return self._engines[root]

    def close(self) -> None:
        """Let go of all engines."""
        with self._lock:
            self._engines.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _is_indexed(self, root: str) -> bool:
        """Return whether a folder has an index of its own; none has until there are indexes."""
        return root in self._engines and self._engines[root].index_dir is not None
