"""Sessions of 20 and 100 questions, as an agent asks them.

Every engine answers every question; each answer is timed on its own and the session is their
sum. (The numbers TriSeek published compared 20 questions with the five that its baseline's
script got through before it stopped.)
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.engines.base import Engine
    from bench.model import Case

CYCLE = (
    "families/literal_selective",
    "families/literal_moderate",
    "families/literal_high",
    "families/regex_anchor",
    "families/multi_or",
    "families/path_plus_content",
)


def measure(
    length: int,
    cases: Sequence[Case],
    engines: Sequence[Engine],
    named: Sequence[str] = (),
    names: Sequence[str] = CYCLE,
) -> dict[str, Any]:
    """One session; engines take turns at each question. Answers were compared as families.

    Args:
        length: questions.
        cases: all there are.
        engines: all there are; those that refuse a question of the session take no part.
        named: the engines that do; none: all.
        names: the cases that take turns.
    """
    cycle = [case for name in names for case in cases if case.name == name]
    if len(cycle) != len(names):
        raise Faulty("a session needs the cases of queries/families.toml")
    taking = [
        engine
        for engine in engines
        if (not named or engine.name in named) and not any(map(engine.refuses, cycle))
    ]
    times: dict[str, list[float]] = {engine.name: [] for engine in taking}
    for place in range(length):
        case = cycle[place % len(cycle)]
        for engine in taking:
            times[engine.name].extend(engine.ask(case).seconds)
    return {
        "length": length,
        "engines": {name: _entry(taken, names) for name, taken in times.items()},
    }


def _entry(taken: list[float], names: Sequence[str]) -> dict[str, Any]:
    return {
        "queries": len(taken),
        "total_ms": round(sum(taken) * 1e3, 3),
        "per_query_ms": round(statistics.fmean(taken) * 1e3, 4),
        "median_ms": round(statistics.median(taken) * 1e3, 4),
        "by_query_ms": {
            name.split("/")[1]: round(statistics.median(taken[place :: len(names)]) * 1e3, 4)
            for place, name in enumerate(names)
        },
    }
