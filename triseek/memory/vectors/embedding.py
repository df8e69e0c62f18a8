"""Gives vectors to the drawers that have none, or those of another embedder."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from triseek.memory.vectors import rows
from triseek.memory.vectors.embedder import identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.memory.vectors.embedder import Embedder
    from triseek.store.sqlite import Database

BATCH = 64
"""Drawers embedded at a time: what is lost if the process dies, a second of work."""


def embed_missing(
    database: Database,
    embedder: Embedder,
    budget_s: float = float("inf"),
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> int:
    """Embed drawers until all have a vector of this embedder; return how many are left.

    It can be ended at any time and goes on where it was: each batch is written when it is done.

    Args:
        database: The memory database.
        embedder: Whose vectors.
        budget_s: Seconds after which no further batch begins; at least one is embedded.
        progress: Called after each batch with the drawers that are done, and all of them.

    Raises: as `Database` and `embed`.
    """
    end = time.monotonic() + budget_s
    name = identity(embedder)
    with database.read() as connection:
        left = everything = rows.count_missing(connection, name)
    while left:
        with database.read() as connection:
            texts = rows.missing(connection, name, BATCH)
        if not texts:
            return 0
        vectors = embedder.embed(list(texts.values()))
        with database.write() as connection:
            rows.write_if_same(connection, name, texts, vectors)
        left = max(left - len(texts), 0)
        progress(everything - left, everything)
        if time.monotonic() >= end:
            break
    with database.read() as connection:
        return rows.count_missing(connection, name)
