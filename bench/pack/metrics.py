"""hit@1, hit@4 and mean reciprocal rank, with what chance alone may make of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

RESAMPLINGS = 10_000
_SEED = 20_260_814
_SHARE = 0.95


class Interval(NamedTuple):
    """A mean and its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


def rank_of(files: Collection[str], ranked: Sequence[str]) -> int:
    """Return the place, from 1, of the first file that was changed; 0 if none is there."""
    return next((place for place, path in enumerate(ranked, 1) if path in files), 0)


def hit(rank: int, depth: int) -> float:
    """Return 1 for a rank within a depth."""
    return float(0 < rank <= depth)


def reciprocal(rank: int) -> float:
    """Return 1 / rank; 0 where there is none."""
    return 1 / rank if rank else 0.0


METRICS: dict[str, Callable[[int], float]] = {
    "hit@1": lambda rank: hit(rank, 1),
    "hit@4": lambda rank: hit(rank, 4),
    "MRR": reciprocal,
}


def interval(values: Sequence[float]) -> Interval:
    """Return the mean of what was seen, and where 95 % of the means of resamplings lie.

    Of differences, task by task, this is a paired bootstrap: an interval that holds 0 says that
    the two cannot be told apart.
    """
    chance = random.Random(_SEED)  # the same resamplings for all
    count = len(values)
    means = sorted(sum(chance.choices(values, k=count)) / count for _ in range(RESAMPLINGS))
    cut = int(RESAMPLINGS * (1 - _SHARE) / 2)
    return Interval(sum(values) / count, means[cut], means[-cut - 1])
