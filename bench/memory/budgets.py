"""The promises about the memory, each with what the record says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.markdown import table
from bench.memory import graph, metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bench.memory.metrics import Answers
    from bench.memory.report import Measured

RECALL_MS = {10_000: 10.0, 100_000: 40.0}
"""The most milliseconds of a recall's median, by number of drawers."""
FLAT = 0.05
"""The most by which a time of the graph may grow with 100,000 triples, as a share."""
BASELINE = "SQLite FTS5"
"""The arm that the others are compared with."""


def section(measured: Measured) -> Iterator[str]:
    """Yield the section with a row for each promise that has been measured."""
    rows = [
        (what, limit, value, "met" if is_met else "missed")
        for what, limit, value, is_met in (
            *_quality(measured), *_speed(measured), *_graph(measured)
        )
    ]  # fmt: skip
    if rows:
        yield "## Budgets"
        yield table(("what", "limit", "measured", "state"), rows)


def _quality(measured: Measured) -> Iterator[tuple[str, str, str, bool]]:
    answers = measured["quality"]["answers"] if "quality" in measured else []
    for one in answers:
        if (one["corpus"], one["arm"]) == ("LoCoMo", "words"):
            for limit, least in ((1, 0.78), (5, 0.945)):
                hits = metrics.room_hit(one, limit)
                held_out = hits[np.array(one["halves"]) == 1].mean()
                what = f"LoCoMo, session hit@{limit} without a model (held out: {held_out:.3f})"
                value = float(hits.mean())
                yield what, f"≥ {least}", f"{value:.4f}", value >= least
        if "paraphrase" in one["kinds"] and one["arm"].startswith("words"):
            arms = {it["arm"]: it for it in answers if it["corpus"] == one["corpus"]}
            yield from _against(one, arms[BASELINE])


def _against(one: Answers, base: Answers) -> Iterator[tuple[str, str, str, bool]]:
    """Yield paraphrases, which are to be better, and exact words, which are to be no worse."""
    for kind, sign in (("paraphrase", ">"), ("exact words", "≥")):
        for limit in (1, 5):
            own, other = (_mean(metrics.recall(it, limit), it, kind) for it in (one, base))
            is_met = own > other if sign == ">" else own >= other
            what = f"{one['corpus']}, {kind}, recall@{limit}: {one['arm']}"
            yield what, f"{sign} {other:.3f} (FTS5)", f"{own:.3f}", is_met


def _mean(values: NDArray[np.float64], answers: Answers, kind: str) -> float:
    return float(values[np.array(answers["kinds"]) == kind].mean())


def _speed(measured: Measured) -> Iterator[tuple[str, str, str, bool]]:
    for one in measured.get("speed", []):
        if one["drawers"] in RECALL_MS:
            most, value = RECALL_MS[one["drawers"]], one["recall"]["profile"]["p50_ms"]
            what = f"recall by the profile, {one['drawers']:,} drawers, embedder {one['embedder']}"
            yield f"{what}: p50", f"≤ {most:g} ms", f"{value:.2f} ms", value <= most


def _graph(measured: Measured) -> Iterator[tuple[str, str, str, bool]]:
    if "graph" in measured:
        for what in ("asserted", "as_of"):
            value = graph.slope(measured["graph"], what)
            size = measured["graph"]["sizes"][-1]["triples"]
            yield (
                f"graph up to {size:,} triples, {what}: growth by 100,000",
                f"≤ {FLAT:.0%}", f"{value:.1%}", value <= FLAT,
            )  # fmt: skip
