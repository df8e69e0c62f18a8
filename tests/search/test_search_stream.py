"""Whatever agents do, none is told that it has an answer that it has not, and many are told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.search.search_stream import SearchStream

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.contexts import Daemon
    from tests.search.search_stream import SearchCount

ORDINARY = 1_500
MANY = 100_000
SEEDS = [int(seed) for seed in os.environ.get("TRISEEK_SEEDS", "0").split()]


def streamed(folder: Path, seed: int, events: int, daemon: Daemon) -> SearchCount:
    stream = SearchStream(folder, seed, daemon)
    try:
        stream.run(events)
    finally:
        stream.close()
    print(f"seed {seed}: {stream.judge.count.events} events, {stream.searched}")
    return stream.searched


def test_some_hundred_events(tmp_path: Path, daemon: Daemon) -> None:
    count = streamed(tmp_path, 0, ORDINARY, daemon)

    assert count.reused > 0.2 * count.repeated, count


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_hundred_thousand_events(tmp_path: Path, seed: int, daemon: Daemon) -> None:
    count = streamed(tmp_path, seed, MANY, daemon)

    assert count.reused > 0.2 * count.repeated, count
