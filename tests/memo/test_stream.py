"""Whatever agents do, none is kept from what it has not, and enough is spared them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.memo.stream import Stream

if TYPE_CHECKING:
    from tests.memo.judge import Count

ROOT = Path(__file__).resolve().parents[2]
ORDINARY = 1_500
MANY = 100_000
SEEDS = [int(seed) for seed in os.environ.get("TRISEEK_SEEDS", "0 1 2 3").split()]


def streamed(folder: Path, seed: int, events: int) -> Count:
    stream = Stream(folder, seed)
    try:
        stream.run(events)
    finally:
        stream.close()
    return stream.judge.count


def assert_worth_it(count: Count) -> None:
    """A memo that never denies is no memo; of agents that tell what is in view, a third is."""
    assert count.denied > 0.3 * count.provable, count
    assert count.fresh > 0.1 * count.truly_fresh, count


def test_some_hundred_events(tmp_path: Path) -> None:
    count = streamed(tmp_path, 0, ORDINARY)
    print(count)
    assert_worth_it(count)


def test_a_stream_can_be_had_again(tmp_path: Path) -> None:
    """A fault that is found can be looked at: the order of Python's sets changes nothing."""
    script = (
        "import sys; from pathlib import Path; from tests.memo.test_stream import streamed; "
        "print(streamed(Path(sys.argv[1]), 5, 800))"
    )
    counts = []
    for hash_seed in ("1", "2"):
        folder = tmp_path / hash_seed
        folder.mkdir()
        command = [sys.executable, "-c", script, str(folder)]
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        counts.append(subprocess.run(command, env=env, cwd=ROOT, check=True, stdout=-1).stdout)
    assert counts[0] == counts[1] != b""


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_hundred_thousand_events(tmp_path: Path, seed: int) -> None:
    count = streamed(tmp_path, seed, MANY)
    print(f"seed {seed}: {count}")
    assert_worth_it(count)
