"""The embedder that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from triseek.config import Settings
    from triseek.memory.vectors.embedder import Embedder


def choose(settings: Settings) -> Embedder | None:
    """Return the embedder of the settings; None if vectors are off.

    Raises:
        InvalidRequest: What it needs is not installed, or its settings are not complete.
    """
    match settings.memory_embedder:
        case "hashing":
            from triseek.memory.vectors.hashing import Hashing

            return Hashing()
        case "minilm":
            from triseek.memory.vectors.minilm import MiniLm

            return MiniLm()
        case "endpoint":
            from triseek.memory.vectors.endpoint import Endpoint

            return Endpoint.of(settings)
        case "none":
            return None
    raise InvalidRequest(f"there is no embedder {settings.memory_embedder!r}")
