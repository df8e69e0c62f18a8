"""A run as a page of Markdown; its text is `page.md`."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.markdown import ms, table
from bench.programmatic.shell import LINES_MAX, WINDOW
from bench.programmatic.tasks import CLASSES, EACH
from bench.programmatic.tools import USAGES_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

WAYS = {"workflow": "workflow", "script": "script", "single": "single tools", "grep": "grep, read"}
KINDS = {"trace": "trace", "usages": "usages", "config": "configuration"}
_PAGE = Path(__file__).with_name("page.md").read_text(encoding="utf-8")


def page(record: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> str:
    """Return the whole page.

    before: What was measured before the workflows were mended.
    """
    rows = [row for row in record["tasks"] if row["reported"]]
    repositories = record["repositories"]
    return _PAGE.format(
        by_kind=_by_kind(rows),
        each=len(rows) // len(KINDS),
        verdict="\n".join(_verdict(rows, way) for way in ("workflow", "script")),
        repositories=len(repositories),
        versions=", ".join(f"{each['name']} {each['version']}" for each in repositories),
        count=len(record["tasks"]),
        class_size=EACH,
        classes=_classes(),
        limit=USAGES_MAX,
        lines_max=LINES_MAX,
        window=WINDOW,
        first_use=_first_use(record),
        workflows_listed=f"{record['listed']['workflows']:,}",
        search_listed=f"{record['listed']['search']:,}",
        mended=_mended(record, before) if before else "",
        narrow=_narrow(rows),
        tasks=_each(rows),
    )


def _mean(rows: Sequence[Row], way: str, figure: str) -> float:
    return statistics.fmean(row["ways"][way][figure] for row in rows)


def _recall(rows: Sequence[Row], way: str) -> str:
    return f"{100 * _mean(rows, way, 'recall'):.1f}%"


def _classes() -> str:
    return "; ".join(
        f"{KINDS[kind]} {', '.join(f'{low} to {high}' for low, high in bounds)}"
        for kind, bounds in CLASSES.items()
    )


def _by_kind(rows: Sequence[Row]) -> str:
    body = []
    for kind, title in KINDS.items():
        chosen = [row for row in rows if row["kind"] == kind]
        for way, name in WAYS.items():
            calls = f"{_mean(chosen, way, 'calls'):.1f}"
            tokens = f"{_mean(chosen, way, 'tokens'):,.0f}"
            times = statistics.median(row["ways"][way]["ms"] for row in chosen)
            body.append((title, name, calls, tokens, _recall(chosen, way), ms(times)))
    return table(("kind", "way", "calls", "tokens", "facts found", "ms (median)"), body)


def _verdict(rows: Sequence[Row], way: str) -> str:
    """Say how often a way costs less or more than the better of the ways without scripts."""
    wins: list[str] = []
    losses: list[str] = []
    misses: list[str] = []
    for row in rows:
        mine = row["ways"][way]
        others = [row["ways"][other] for other in ("single", "grep")]
        complete = max(other["recall"] for other in others)
        least = min(other["tokens"] for other in others if other["recall"] == complete)
        if mine["recall"] < complete:
            misses.append(row["name"])
        else:
            (wins if mine["tokens"] < least else losses).append(row["name"])
    return (
        f"- **{WAYS[way].capitalize()}**: with as many facts as the better of single tools and "
        f"grep, fewer tokens in {len(wins)} of {len(rows)} tasks; no fewer in {len(losses)} "
        f"({_names(losses)}); facts missing that they find in {len(misses)} ({_names(misses)})."
    )


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _first_use(record: Mapping[str, Any]) -> str:
    body = []
    for kind, costs in record["first_use"].items():
        rows = [row for row in record["tasks"] if row["reported"] and row["kind"] == kind]
        for way in ("workflow", "script"):
            cost = costs[way]
            others = min(_mean(rows, other, "tokens") for other in ("single", "grep"))
            saved = others - _mean(rows, way, "tokens")
            paid = f"{math.ceil(cost['tokens'] / saved)}" if saved > 0 else "never"
            body.append((KINDS[kind], way, f"{cost['calls']}", f"{cost['tokens']:,}", paid))
    return table(("kind", "way", "calls", "tokens", "tasks until they are saved"), body)


def _mended(record: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    body = []
    for kind, title in KINDS.items():
        for is_reported in (False, True):
            runs = [
                [
                    row
                    for row in run["tasks"]
                    if row["kind"] == kind and row["reported"] == is_reported
                ]
                for run in (before, record)
            ]
            cells = (
                f"{_mean(rows, way, 'tokens'):,.0f} ({_recall(rows, way)})"
                for way in ("workflow", "script")
                for rows in runs
            )
            body.append((title, "reported" if is_reported else "looked at", *cells))
    head = ("kind", "half", "workflow before", "workflow", "script before", "script")
    return f"\n## What the measurement changed\n\n{table(head, body)}\n\n{_CHANGES}\n"


_CHANGES = """\
Mean tokens, and the facts found. The workflows were changed by what the first half showed."""


def _narrow(rows: Sequence[Row]) -> str:
    """Say what usages cost where two lines of each file are enough."""
    usages = [row for row in rows if row["kind"] == "usages"]
    narrow = [row["ways"]["grep"]["policies"]["narrow"] for row in usages]
    tokens = statistics.fmean(each["tokens"] for each in narrow)
    uses = 100 * statistics.fmean(each["uses"] for each in narrow)
    return (
        "Who is content with two lines of each file pays less for usages by grep: "
        f"{tokens:,.0f} tokens on the mean, for {uses:.0f}% of the lines."
    )


def _each(rows: Sequence[Row]) -> str:
    body = []
    for row in rows:
        cells = []
        for way in WAYS:
            figures = row["ways"][way]
            share = "" if figures["recall"] == 1 else f", **{100 * figures['recall']:.0f}%**"
            cells.append(f"{figures['calls']}: {figures['tokens']:,}{share}")
        place = f" in {row['repository']}" if row["repository"] else ""
        facts = f"{sum(row['facts'].values())}"
        name = f"{KINDS[row['kind']]} `{row['name']}`{place}"
        body.append((name, f"{row['lines']}", facts, *cells))
    return table(("task", "lines", "facts", *WAYS.values()), body)
