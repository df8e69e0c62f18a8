"""What the way through the daemon costs beyond the search itself.

Overhead of a case = the command through the daemon, start to end of output, less the same search
by the API in a warm process, less an interpreter that starts and does nothing. All three take
turns, so that a busy minute meets each of them. It holds the client's imports, the connection, the
daemon's proof of freshness (the API believes its index), rendering, and bytes through two pipes.

A budget of milliseconds can be held against it only where it is what is measured:

    small   output of 64 KiB at most (what a pipe holds), the search within 100 ms
    slow    small output, but the difference of two such long times is their noise
    large   more output, which takes as long to render and carry as it is; the API does neither
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench import command, figures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.engines.triseek_daemon import TriseekDaemon
    from bench.engines.triseek_inprocess import TriseekInprocess
    from bench.model import Case

SMALL_BYTES_MAX = 64 << 10
SLOW_SECONDS_MIN = 0.1
KINDS = ("small", "slow", "large")
_ROUNDS_MAX = 15
_ROUNDS_MIN = 3
_CASE_SECONDS_MAX = 4.0
_NOTHING = (sys.executable, "-c", "pass")


@dataclass(slots=True)
class _Taken:
    """Seconds of each turn."""

    command: list[float]
    served: list[float]
    """The daemon's own, of the command's."""
    inprocess: list[float]
    nothing: list[float]


def measure(
    cases: Sequence[Case], daemon: TriseekDaemon, inprocess: TriseekInprocess
) -> dict[str, Any]:
    """The overhead of every case, and of each kind; both engines' answers were compared before."""
    told = [_case(case, daemon, inprocess) for case in cases]
    kinds = {kind: [entry for entry in told if entry["kind"] == kind] for kind in KINDS}
    return {kind: _summed(entries) for kind, entries in kinds.items() if entries} | {"cases": told}


def _case(case: Case, daemon: TriseekDaemon, inprocess: TriseekInprocess) -> dict[str, Any]:
    output_bytes = len(daemon.ask(case, keep=True).output)
    taken = _turns(case, daemon, inprocess)
    return {
        "name": case.name,
        "kind": _kind(output_bytes, median(taken.inprocess)),
        "output_bytes": output_bytes,
        "overhead_ms": figures.ms(_beyond(taken, median)),
        "overhead_min_ms": figures.ms(_beyond(taken, min)),
        "command": figures.reduced(taken.command),
        "served": figures.reduced(taken.served),
        "inprocess": figures.reduced(taken.inprocess),
        "python -c pass": figures.reduced(taken.nothing),
    }


def _turns(case: Case, daemon: TriseekDaemon, inprocess: TriseekInprocess) -> _Taken:
    taken = _Taken([], [], [], [])
    for turn in range(_ROUNDS_MAX):
        if turn >= _ROUNDS_MIN and sum(taken.command) > _CASE_SECONDS_MAX:
            break
        reply, served = daemon.ask_served(case)
        taken.command += reply.seconds
        taken.served += served
        taken.nothing.append(command.run(_NOTHING, cwd=Path.cwd()).seconds)
        taken.inprocess += inprocess.ask(case).seconds
    return taken


def _beyond(taken: _Taken, of: Callable[[list[float]], float]) -> float:
    return of(taken.command) - of(taken.inprocess) - of(taken.nothing)


def _kind(output_bytes: int, searched_seconds: float) -> str:
    if output_bytes > SMALL_BYTES_MAX:
        return "large"
    return "slow" if searched_seconds > SLOW_SECONDS_MIN else "small"


def _summed(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Over the cases of a kind; `least` is made of minima, which a busy machine spoils less."""
    usual = [entry["overhead_ms"] for entry in entries]
    least = [entry["overhead_min_ms"] for entry in entries]
    return {
        "cases": len(entries),
        "median_ms": median(usual),
        "max_ms": max(usual),
        "worst": max(entries, key=lambda entry: entry["overhead_ms"])["name"],
        "least_median_ms": median(least),
        "least_max_ms": max(least),
    }
