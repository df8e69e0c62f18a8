"""Times of many calls: on the wall and on the processor, of ways that take turns."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypedDict, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_Item = TypeVar("_Item")


class Times(TypedDict):
    """Milliseconds of calls."""

    calls: int
    p50_ms: float
    p95_ms: float
    max_ms: float
    cpu_p50_ms: float
    """Of the thread, or of the whole process that answers."""


class Timed(NamedTuple, Generic[_Item]):
    """A way of doing something, and the clock of who does it."""

    call: Callable[[_Item], object]
    cpu_ns: Callable[[], int] = time.thread_time_ns


def times(call: Callable[[_Item], object], items: Sequence[_Item]) -> Times:
    """Call a function with each item, one after another, and return what that took."""
    return interleaved({"": Timed(call)}, items)[""]


def interleaved(ways: Mapping[str, Timed[_Item]], items: Sequence[_Item]) -> dict[str, Times]:
    """Call each way with each item in turn: what else the machine does is the same for all."""
    taken: dict[str, list[tuple[int, int]]] = {name: [] for name in ways}
    for item in items:
        for name, way in ways.items():
            cpu, wall = way.cpu_ns(), time.perf_counter_ns()
            way.call(item)
            taken[name].append((time.perf_counter_ns() - wall, way.cpu_ns() - cpu))
    return {name: _reduced(pairs) for name, pairs in taken.items()}


def process_cpu_ns(process: int) -> int:
    """Return the nanoseconds that all threads of a process have run."""
    total = 0
    for path in Path(f"/proc/{process}/task").glob("*/schedstat"):
        try:
            total += int(path.read_text(encoding="ascii").split()[0])
        except OSError:  # the thread has ended
            continue
    return total


def resident(process: int | str = "self") -> int:
    """Return the resident bytes of a process."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def _reduced(pairs: Sequence[tuple[int, int]]) -> Times:
    wall, cpu = np.array(pairs).T / 1e6
    p50, p95, most = np.percentile(wall, [50, 95, 100])
    return {
        "calls": len(pairs), "p50_ms": float(p50), "p95_ms": float(p95), "max_ms": float(most),
        "cpu_p50_ms": float(np.median(cpu)),
    }  # fmt: skip
