"""Two records side by side: did an engine gain or lose against rg?

Ratios to rg are compared, not times, so that a slower machine or a busier hour does not look
like a slower engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.record import Record

_NOTABLE = 1.25


def compared(before: Record, after: Record, engine: str) -> str:
    """A Markdown table of every case both have."""
    old = dict(_ratios(before, engine))
    rows = []
    for name, ratio in _ratios(after, engine):
        if name in old:
            change = ratio / old[name]
            rows.append((name, f"{old[name]:.3g}", f"{ratio:.3g}", f"{change:.2f}", _word(change)))
    return table(("case", "before, rg /", "after, rg /", "change", ""), rows)


def _ratios(results: Record, engine: str) -> Iterator[tuple[str, float]]:
    for corpus in results["corpora"]:
        for case in corpus["cases"]:
            ratio = case["engines"].get(engine, {}).get("rg_ratio")
            if ratio:
                yield f"{corpus['name']}: {case['name']}", ratio


def _word(change: float) -> str:
    if change >= _NOTABLE:
        return "faster"
    return "slower" if change <= 1 / _NOTABLE else ""
