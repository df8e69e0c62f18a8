"""A handful of timings, reduced honestly: median, least, 95th percentile, and how many."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def reduced(seconds: Sequence[float]) -> dict[str, Any]:
    """Milliseconds; the percentile is the nearest rank, so with few samples it is the greatest."""
    return {
        "median_ms": ms(statistics.median(seconds)),
        "min_ms": ms(min(seconds)),
        "p95_ms": ms(quantile(seconds, 0.95)),
        "n": len(seconds),
        "samples_ms": [ms(value) for value in seconds],
    }


def quantile(values: Sequence[float], share: float) -> float:
    """The nearest rank."""
    return sorted(values)[max(1, math.ceil(share * len(values))) - 1]


def ms(seconds: float) -> float:
    """Milliseconds, to a tenth of a microsecond."""
    return round(seconds * 1e3, 4)
