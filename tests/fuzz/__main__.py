"""`make fuzz`: compare triseek with ripgrep on random searches of random trees.

python -m tests.fuzz --minutes 10
python -m tests.fuzz --seed 7 --count 200000 --processes 2000
python -m tests.fuzz --seed 7 --case 1234        one case, shrunk
python -m tests.fuzz --seed 7 --first 5000       go on where a run stopped
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.arena import BACKENDS, PROCESSES, Arena
from tests.fuzz.generate import make_case
from tests.fuzz.run import QUICK_BACKENDS, Fuzzer, Limits, kind_of, summary
from triseek.kernels import cache
from triseek.model.index import no_progress


def main() -> int:
    """Run, report, and return 1 if there was an undocumented difference."""
    chosen = _arguments()
    if not cache.is_ready():
        from triseek.kernels.jit import warm

        warm(no_progress)
    seed = chosen.seed if chosen.seed is not None else time.time_ns() % 1_000_000
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as work, Arena(Path(work)) as arena:
        fuzzer = Fuzzer(arena, seed, backends=chosen.backends)
        if chosen.case is not None:
            backends = chosen.backends if chosen.backends != tuple(QUICK_BACKENDS) else None
            fuzzer.one(chosen.case, make_case(seed, chosen.case), backends)
        else:
            seconds = None if chosen.minutes is None else chosen.minutes * 60
            count = chosen.count
            if count is None and seconds is None:
                count = 2000
            after = fuzzer.run(chosen.first, Limits(count, seconds), sys.stdout)
            print(f"to go on: make fuzz SEED={seed} FIRST={after}")
            if chosen.processes:
                print("whole processes", flush=True)
                slow = Fuzzer(arena, seed, backends=PROCESSES, tally=fuzzer.tally)
                slow.run(chosen.first, Limits(fuzzer.tally.total + chosen.processes), sys.stdout)
        # Messages say less than answers, so they come last.
        found = sorted(fuzzer.tally.undocumented, key=lambda each: each[1].aspects == ("stderr",))
        shrunken = []
        for number, each in found[: chosen.shrinks]:
            shrunken.append((number, fuzzer.shrink(each, chosen.shrink_seconds)))
            print(f"shrunk case {number}: {kind_of(shrunken[-1][1])}", flush=True)
        summary(fuzzer.tally, shrunken)
    return 1 if found else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--minutes", type=float)
    parser.add_argument(
        "--count", type=int, help="comparisons in this process and by a warm daemon"
    )
    parser.add_argument("--processes", type=int, default=0, help="comparisons as whole processes")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--case", type=int)
    parser.add_argument(
        "--backends", type=lambda text: tuple(text.split(",")), default=tuple(QUICK_BACKENDS)
    )
    parser.add_argument(
        "--shrinks", type=int, default=40, help="how many differences are made small"
    )
    parser.add_argument("--shrink-seconds", type=float, default=20)
    chosen = parser.parse_args()
    if unknown := set(chosen.backends) - set(BACKENDS):
        parser.error(f"no such backend: {', '.join(sorted(unknown))}")
    return chosen


if __name__ == "__main__":
    sys.exit(main())
