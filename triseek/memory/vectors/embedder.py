"""What turns texts into vectors."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np


class Embedder(Protocol):
    """Turns texts into vectors, the same text always into the same one. Thread-safe."""

    @property
    def name(self) -> str:
        """What it is called in the settings, with the model if it may have several."""

    @property
    def version(self) -> str:
        """Changes when its vectors do."""

    @property
    def dimension(self) -> int:
        """Numbers of a vector. An endpoint knows it from its first answer."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of some texts: float32[texts, dimension], each of length 1 or 0.

        Raises:
            BackendFailure: It cannot, now.
        """

    def release(self) -> None:
        """Give back the memory that a model takes; the next `embed` loads it again."""


class Resting:
    """Calls an embedder's `release` when nobody has used it for a while."""

    def __init__(self, embedder: Embedder, after_s: float) -> None:
        self._embedder, self._after_s = embedder, after_s
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._used = False

    def touch(self) -> None:
        """Note that the embedder has been used now."""
        with self._lock:
            self._used = True
            if self._timer is None:
                self._start()

    def _start(self) -> None:
        self._used = False
        self._timer = threading.Timer(self._after_s, self._end)
        self._timer.daemon = True
        self._timer.start()

    def _end(self) -> None:
        with self._lock:
            if self._used:
                self._start()
                return
            self._timer = None
        self._embedder.release()


def identity(embedder: Embedder) -> str:
    """Return the name under which vectors are kept: those of two names are never compared."""
    return f"{embedder.name}/{embedder.version}/{embedder.dimension}"
