"""Time of the graph's reads and writes while it grows: they are to stay the same."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from bench import machine
from bench.markdown import ms, table
from bench.memory.timing import Times, times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.progress import Progress
    from triseek.memory.service import Memory

SEED = 20261127
STEP = 100_000
"""Triples between two measurements."""
BATCH = 1_000
"""Triples of a transaction while the graph is filled; measured ones have one of their own."""
SAMPLES = 200
PREDICATES = 10
OF_A_SUBJECT = 20
"""Triples of a subject: each predicate once closed and once current."""
CHANGES = 10_000
"""Times that the one fact of the busiest subject changed."""
_PALACE = "graph"
_START_MS = 1_600_000_000_000


class Growth(TypedDict):
    """The graph at one size."""

    triples: int
    asserted: Times
    """One fact asserted, in a transaction of its own."""
    current: Times
    """Everything that holds of a subject."""
    as_of: Times
    """Everything that held of a subject at a time."""
    fill_cpu_s: float
    """Processor seconds of the triples since the size before."""
    database_bytes: int


class Graph(TypedDict):
    """What was measured."""

    sizes: list[Growth]
    busiest: Times
    """What held at a time of a subject whose one fact changed `CHANGES` times."""
    load: float
    """Runnable processes on average, at the end."""


def measure(triples: int, progress: Progress, step: int = STEP) -> Graph:
    """Fill a graph with so many triples, and measure it every `step`."""
    from triseek.memory.service import Memory

    sizes: list[Growth] = []
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        memory = Memory(scratch)
        memory.create(_PALACE)
        draw = np.random.default_rng(SEED)
        for first in range(0, triples, step):
            last = min(first + step, triples)
            begun = time.process_time()
            _fill(memory, [_fact(at) for at in range(first, last)], _START_MS + first)
            filled = time.process_time() - begun
            progress.say(f"{last:,} triples")
            sizes.append(_measured(memory, draw, last, filled, Path(scratch)))
        progress.say(f"{CHANGES:,} changes of one fact")
        _fill(memory, [("busiest", "version", str(at)) for at in range(CHANGES)], _START_MS)
        moments = (_START_MS + draw.integers(0, CHANGES, SAMPLES)).tolist()
        busiest = times(lambda at: memory.facts(_PALACE, "busiest", as_of_ms=at), moments)
        memory.close()
    return {"sizes": sizes, "busiest": busiest, "load": machine.load()}


def slope(graph: Graph, what: str) -> float:
    """Return by how much the median CPU time grows per 100,000 triples, as a share of the first.

    what: asserted, current or as_of.
    """
    sizes = [size["triples"] / 100_000 for size in graph["sizes"]]
    taken = [size[what]["cpu_p50_ms"] for size in graph["sizes"]]  # type: ignore[literal-required]
    if len(sizes) < 2:
        return 0.0
    return float(np.polyfit(sizes, taken, 1)[0] / taken[0])


def _fill(memory: Memory, facts: Sequence[tuple[str, str, str]], start_ms: int) -> None:
    """Assert facts a millisecond apart."""
    from triseek.memory import graph, palaces

    for begin in range(0, len(facts), BATCH):
        with memory.database.write() as connection:
            palace = palaces.id_of(connection, _PALACE)
            for at, fact in enumerate(facts[begin : begin + BATCH], start_ms + begin):
                graph.assert_fact(connection, palace, fact, at)


def _measured(
    memory: Memory, draw: np.random.Generator, size: int, filled: float, folder: Path
) -> Growth:
    chosen = draw.integers(0, size, SAMPLES).tolist()
    subjects = [_fact(at)[0] for at in chosen]
    facts = [(*_fact(at)[:2], f"newer-{at}") for at in chosen]
    moments = (_START_MS + draw.integers(0, size, SAMPLES)).tolist()
    asserted = times(lambda fact: memory.assert_fact(_PALACE, fact), facts)
    current = times(lambda subject: memory.facts(_PALACE, subject), subjects)
    as_of = times(
        lambda pair: memory.facts(_PALACE, pair[0], as_of_ms=pair[1]),
        list(zip(subjects, moments, strict=True)),
    )
    return {
        "triples": size, "asserted": asserted, "current": current, "as_of": as_of,
        "fill_cpu_s": filled,
        "database_bytes": sum(path.stat().st_size for path in folder.glob("memory.db*")),
    }  # fmt: skip


def _fact(at: int) -> tuple[str, str, str]:
    return f"service-{at // OF_A_SUBJECT}", f"predicate-{at % PREDICATES}", f"object-{at}"


def section(graph: Graph) -> Iterator[str]:
    """Yield the section about the graph."""
    yield "## The graph while it grows"
    yield (
        f"Subjects have {OF_A_SUBJECT} triples each, half of them closed. At each size "
        f"{SAMPLES} facts are asserted, each in a transaction of its own that replaces a fact of "
        "a random subject; what holds of a subject, and what held at a random time, is read as "
        f"often. Runnable processes at the end: {graph['load']}."
    )
    head = (
        "triples", "assert p50 ms", "assert CPU ms", "current p50 ms", "as-of p50 ms",
        "as-of CPU ms", "database MB",
    )  # fmt: skip
    rows = [
        (
            f"{size['triples']:,}",
            *map(ms, (size["asserted"]["p50_ms"], size["asserted"]["cpu_p50_ms"])),
            *map(ms, (size["current"]["p50_ms"], size["as_of"]["p50_ms"])),
            ms(size["as_of"]["cpu_p50_ms"]), f"{size['database_bytes'] / 1e6:,.0f}",
        )
        for size in graph["sizes"]
    ]  # fmt: skip
    yield table(head, rows)
    growth = ", ".join(
        f"{name} {100 * slope(graph, what):+.1f} %"
        for what, name in (("asserted", "assert"), ("current", "current"), ("as_of", "as-of"))
    )
    yield (
        f"Growth of the median CPU time by 100,000 triples, by least squares: {growth}. As-of "
        f"over a fact that changed {CHANGES:,} times: p50 {ms(graph['busiest']['p50_ms'])} ms."
    )
