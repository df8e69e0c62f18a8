"""A handful of timings, reduced honestly: median, least, 95th percentile, and how many."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def reduced(seconds: Sequence[float]) -> dict[str, Any]:
    """Milliseconds; the percentile is the nearest rank, so with few samples it is the greatest."""
    ordered = sorted(seconds)
    rank = max(1, math.ceil(0.95 * len(ordered)))
    return {
        "median_ms": _ms(statistics.median(ordered)),
        "min_ms": _ms(ordered[0]),
        "p95_ms": _ms(ordered[rank - 1]),
        "n": len(ordered),
        "samples_ms": [_ms(value) for value in seconds],
    }


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 4)
