"""Figures of ranked answers, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SEED = 20261127
SAMPLES = 2_000
"""Samples of questions, drawn with replacement, behind an interval."""


class Answers(TypedDict):
    """Where one arm ranked what answers a corpus's questions. A place is from 1, or 0 if none."""

    corpus: str
    arm: str
    kinds: list[str]
    halves: list[int]
    """0 if the question is of the half that parameters were chosen on, else 1."""
    places: list[list[int]]
    """For each question those of its evidence."""
    rooms: list[int]
    """That of the first room with evidence, rooms in the order of their best drawers."""
    p50_ms: float
    """Median of the time of a question."""


class Figure(TypedDict):
    """A mean over questions, and the interval that holds it in 95 of 100 samples."""

    value: float
    low: float
    high: float


def recall(answers: Answers, limit: int) -> NDArray[np.float64]:
    """Return for each question the share of its evidence among the first `limit` drawers."""
    return np.array(
        [sum(0 < at <= limit for at in places) / len(places) for places in answers["places"]]
    )


def reciprocal(answers: Answers) -> NDArray[np.float64]:
    """Return for each question 1 / the place of its first evidence; 0 if there is none."""
    firsts = [min((at for at in places if at), default=0) for places in answers["places"]]
    return _inverse(firsts)


def room_hit(answers: Answers, limit: int) -> NDArray[np.float64]:
    """Return for each question 1.0 if a room with evidence is among the first `limit` rooms."""
    rooms = np.array(answers["rooms"])
    return ((rooms > 0) & (rooms <= limit)).astype(float)


def room_reciprocal(answers: Answers) -> NDArray[np.float64]:
    """Return for each question 1 / the place of the first room with evidence; 0 if none."""
    return _inverse(answers["rooms"])


def figure(values: NDArray[np.float64]) -> Figure:
    """Return the mean of values and its interval, by the bootstrap over questions."""
    if not len(values):
        return {"value": 0.0, "low": 0.0, "high": 0.0}
    draw = np.random.default_rng(SEED)
    means = values[draw.integers(0, len(values), (SAMPLES, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return {"value": float(values.mean()), "low": float(low), "high": float(high)}


def _inverse(places: Sequence[int]) -> NDArray[np.float64]:
    return np.array([1 / at if at else 0.0 for at in places])
