"""The whole application without a transport; owns what is open."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from triseek.engine.engine import Engine
from triseek.files.root import resolve
from triseek.service.roots import index_dir, root_for

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class Service:
    """Engines by root, opened when first asked for and shared from then on."""

    def __init__(self, *, one_shot: bool = False) -> None:
        """With `one_shot` nothing is loaded that one search would not win back."""
        self._one_shot = one_shot
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
            if root not in self._engines:
                self._engines[root] = Engine(
                    root, index_dir=index_dir(root), one_shot=self._one_shot
                )
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
