"""Hold a record against the budgets; a missed one is listed like any other."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.record import Record

_FILE = Path(__file__).with_name("budgets.toml")
_ENGINE = "triseek"

State: TypeAlias = Literal["met", "missed", "not measured"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One budget, or one case of it."""

    what: str
    corpus: str
    case: str
    """Empty for single figures."""
    measured: str
    limit: str
    state: State


def outcomes(runs: Sequence[Record]) -> list[Outcome]:
    """All budgets, in their order, each by the first of the runs that measured it."""
    found: list[Outcome] = []
    for budget in tomllib.loads(_FILE.read_text(encoding="utf-8"))["budget"]:
        tried = [list(_outcomes(budget, _corpus(results, budget))) for results in runs]
        measured = (one for one in tried if any(o.state != "not measured" for o in one))
        found.extend(next(measured, tried[0]))
    return found


def _corpus(results: Record, budget: dict[str, Any]) -> dict[str, Any] | None:
    """The corpus the budget is due on, if it was run."""
    for corpus in results["corpora"]:
        if corpus["name"] == budget["corpus"]:
            return dict(corpus)
    return None


def _outcomes(budget: dict[str, Any], corpus: dict[str, Any] | None) -> Iterator[Outcome]:
    if "figure" in budget:
        yield _figure(budget, corpus)
        return
    cases = list(_chosen(budget, corpus)) if corpus else []
    if not cases:
        yield Outcome(budget["what"], budget["corpus"], "", "", _limit(budget), "not measured")
    for case in cases:
        yield _case(budget, case)


def _chosen(budget: dict[str, Any], corpus: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for case in corpus["cases"]:
        wanted = any(fnmatch(case["name"], name) for name in budget["cases"])
        if wanted and case["name"] not in budget.get("except", ()):
            yield case


def _case(budget: dict[str, Any], case: dict[str, Any]) -> Outcome:
    entry = case["engines"].get(_ENGINE, {})
    state: State = "not measured"
    measured = entry.get("note", "")
    if "median_ms" in entry:
        ratio, ms = entry["rg_ratio"], entry["median_ms"]
        measured = f"{ms:.3g} ms, rg / {ratio:.3g}"
        if "rg_ratio_min" in budget:
            state = "met" if ratio >= budget["rg_ratio_min"] else "missed"
        else:
            state = "met" if ms <= budget["median_ms_max"] else "missed"
    return Outcome(budget["what"], budget["corpus"], case["name"], measured, _limit(budget), state)


def _figure(budget: dict[str, Any], corpus: dict[str, Any] | None) -> Outcome:
    value: float | None = None
    if corpus is not None:
        try:
            value = _FIGURES[budget["figure"]](corpus)
        except (KeyError, TypeError):  # what the figure is made of was not measured
            value = None
    state: State = "not measured"
    if value is not None:
        state = "met" if value <= budget["value_max"] else "missed"
    measured = "" if value is None else f"{value:.3g} {budget.get('unit', '')}".strip()
    return Outcome(budget["what"], budget["corpus"], "", measured, _limit(budget), state)


def _limit(budget: dict[str, Any]) -> str:
    if "rg_ratio_min" in budget:
        return f"rg / {budget['rg_ratio_min']:g}"
    if "median_ms_max" in budget:
        return f"{budget['median_ms_max']:g} ms"
    return f"{budget['value_max']:g} {budget.get('unit', '')}".strip()


def _built(corpus: dict[str, Any], engine: str, key: str) -> float:
    return float(median(build[key] for build in corpus["builds"][engine]))


_FIGURES: dict[str, Callable[[dict[str, Any]], float]] = {
    "build_cindex_ratio": lambda corpus: (
        _built(corpus, _ENGINE, "seconds") / _built(corpus, "csearch", "seconds")
    ),
    "build_peak_gb": lambda corpus: _built(corpus, _ENGINE, "peak_rss_bytes") / 1e9,
    "index_text_ratio": lambda corpus: (
        _built(corpus, _ENGINE, "index_bytes") / corpus["size_bytes"]
    ),
    "update_seconds": lambda corpus: float(corpus["update"]["triseek-cli"]["update"]["seconds"]),
    "update_peak_mb": lambda corpus: (
        float(corpus["update"]["triseek-cli"]["update"]["peak_rss_bytes"]) / 1e6
    ),
    "opening_ms": lambda corpus: float(corpus["opening"][_ENGINE]["median_ms"]),
    "daemon_overhead_ms": lambda corpus: float(corpus["daemon"]["overhead"]["small"]["median_ms"]),
    "daemon_overhead_worst_ms": lambda corpus: float(
        corpus["daemon"]["overhead"]["small"]["max_ms"]
    ),
    "daemon_sync_ms": lambda corpus: float(corpus["daemon"]["edits"]["sync"]["median_ms"]),
    "daemon_stale": lambda corpus: float(corpus["daemon"]["edits"]["stale"]),
    "daemon_rss_mb": lambda corpus: float(corpus["daemon"]["memory"]["asked"]["rss"]) / 1e6,
    "fresh_install_ms": lambda corpus: float(corpus["fresh_install"]["median_ms"]),
}
