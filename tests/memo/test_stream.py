"""Whatever agents do, none is kept from what it has not, and enough is spared them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.memo.stream import Stream

if TYPE_CHECKING:
    from pathlib import Path

    from tests.memo.judge import Count

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


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_hundred_thousand_events(tmp_path: Path, seed: int) -> None:
    count = streamed(tmp_path, seed, MANY)
    print(f"seed {seed}: {count}")
    assert_worth_it(count)
