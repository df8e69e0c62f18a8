"""Vectors in the bench: which embedders are installed, and ranking by vectors alone."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import numpy as np

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.memory.corpora import Corpus
    from triseek.memory.service import Memory
    from triseek.memory.vectors.embedder import Embedder

NAMES = ("hashing", "minilm")
"""The embedders that need no service."""
EMBED_S = 60.0
"""Seconds of a call that embeds."""
_VARIABLE = "TRISEEK_MEMORY_EMBEDDER"


def installed() -> list[str]:
    """Return the names of the embedders that can be used here."""
    names = []
    for name in NAMES:
        try:
            embedder(name)
        except InvalidRequest:
            continue
        names.append(name)
    return names


def embedder(name: str) -> Embedder:
    """Return an embedder by its name.

    Raises:
        InvalidRequest: What it needs is not installed, or there is none of this name.
    """
    from triseek.config import Settings
    from triseek.memory.vectors.choice import choose

    own = choose(Settings(memory_embedder=name))
    if own is None:
        raise InvalidRequest(f"there is no embedder {name}")
    return own


@contextlib.contextmanager
def chosen(name: str) -> Iterator[None]:
    """Let this process and those it starts use an embedder, or `none`, within the block."""
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before


def embed_all(memory: Memory) -> None:
    """Give every drawer its vector, by the embedder that is chosen."""
    while memory.embed_missing(EMBED_S):
        pass


class VectorsAlone:
    """Ranks the drawers of a corpus by the cosine of their vectors with the query's, exactly."""

    def __init__(self, corpus: Corpus, own: Embedder) -> None:
        """Embed the drawers of a corpus."""
        self._ids = [drawer.id for drawer in corpus.drawers]
        self._embedder = own
        self._vectors = own.embed([drawer.text for drawer in corpus.drawers])

    def ranked(self, query: str, limit: int) -> list[str]:
        """Return the ids of the best drawers, best first."""
        cosines = self._vectors @ self._embedder.embed([query])[0]
        order = np.argsort(-cosines, kind="stable")[:limit]
        return [self._ids[at] for at in order]

    def close(self) -> None:
        """Free the vectors."""
        self._vectors = self._vectors[:0]
