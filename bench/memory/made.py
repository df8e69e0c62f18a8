"""Drawers, questions, facts and vectors that a program makes, the same each time."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from bench.memory.corpora import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

SEED = 20261127
MADE_WORDS = 50_000
LENGTHS = (8, 45)
"""The fewest words of a drawer, and one more than the most."""
ROOMS = 20
CLUSTERS = 200
"""Directions around which vectors lie; what is near a vector is mostly of its cluster."""
_START_MS = 1_600_000_000_000
_STEP_MS = 600_000
_SYLLABLES = re.findall(r"\w+", "ka to mi re su lo na pe di vo qu sta bre ing er on")
_WORD = re.compile(r"[a-z]{2,}")


def vocabulary(texts: Sequence[str]) -> list[str]:
    """Return the words of texts, most frequent first, and made words behind them."""
    counts = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    draw = np.random.default_rng(SEED)
    rows = draw.integers(0, len(_SYLLABLES), (MADE_WORDS, 5)).tolist()
    lengths = draw.integers(2, 6, MADE_WORDS).tolist()
    made = ["".join(_SYLLABLES[at] for at in row[:n]) for row, n in zip(rows, lengths, strict=True)]
    return list(dict.fromkeys([*(word for word, _ in counts.most_common()), *made]))


def drawers(count: int, words: Sequence[str], seed: int = SEED) -> Iterator[Text]:
    """Yield drawers of words drawn by Zipf's law, ten minutes apart, room after room."""
    draw = np.random.default_rng(seed)
    upto = _zipf(len(words))
    for at in range(count):
        drawn = np.searchsorted(upto, draw.random(draw.integers(*LENGTHS)))
        yield Text(
            id=str(at), text=" ".join(words[place] for place in drawn), room=f"room-{at % ROOMS}",
            created_ms=_START_MS + at * _STEP_MS,
        )  # fmt: skip


def questions(count: int, words: Sequence[str]) -> list[str]:
    """Return questions of 3 to 8 words, drawn by the same law."""
    draw = np.random.default_rng(SEED + 1)
    upto = _zipf(len(words))
    drawn = (np.searchsorted(upto, draw.random(draw.integers(3, 9))) for _ in range(count))
    return [" ".join(words[place] for place in places) for places in drawn]


def vectors(count: int, dimension: int, seed: int = SEED) -> NDArray[np.float32]:
    """Return float32[count, dimension] of length 1, in clusters as those of texts are.

    The clusters are the same for each seed.
    """
    shared = np.random.default_rng(SEED).standard_normal((CLUSTERS, dimension), np.float32)
    draw = np.random.default_rng(seed + 7)
    rows = draw.standard_normal((count, dimension), np.float32)
    rows += shared[draw.integers(0, CLUSTERS, count)]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def _zipf(count: int) -> NDArray[np.float64]:
    """Return the cumulated shares of words by rank."""
    share = 1 / np.arange(3, count + 3)
    upto: NDArray[np.float64] = np.cumsum(share / share.sum())
    upto[-1] = 1.0
    return upto
