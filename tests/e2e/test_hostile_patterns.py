"""Patterns made to take long, asked of a real server over a tree of some megabytes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.conftest import plant
from tests.e2e.serving import environ, triseek
from tests.e2e.test_refused_paths import Costs, asked
from tests.mcp.speaking import SERVE, greeted
from tests.search.test_hostile_patterns import HOSTILE, TEXT

if TYPE_CHECKING:
    from pathlib import Path

FILES = 200
ANSWERED_S = 26.0
"""The 20 s of a search, and what a look at the clock and the answer itself may take more."""
KEPT_BYTES = 256 << 20
QUERIES = {
    **HOSTILE,
    "a literal that is too long": {"query": "a" * 65_000},
    "letters, too many": {"query": r"\p{L}" * 5_000, "mode": "regex"},
}


@pytest.mark.slow
def test_every_pattern_is_answered_in_time_and_bounded_memory(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "repo"
    plant(root, {f"d{n % 7}/{n}.c": TEXT for n in range(FILES)})
    (root / ".git").mkdir()
    triseek(home, "build", str(root))
    with greeted((*SERVE, str(root)), variables=environ(home)) as server:
        asked(server, "first", "search_content", {"query": "frobnicate"})
        before = Costs(server.process.pid)
        for name, arguments in QUERIES.items():
            began = time.monotonic()
            answer = asked(server, name, "search_content", arguments)
            seconds = time.monotonic() - began
            print(f"{name}: {seconds:.1f} s, error {answer['isError']}")
            assert seconds < ANSWERED_S, name
        after = Costs(server.process.pid)
        print(f"memory {before.memory >> 20} MB before, {after.memory >> 20} MB after")
        assert after.memory < before.memory + KEPT_BYTES
        found = asked(server, "last", "search_content", {"query": "frobnicate", "limit": 1})
        assert found["structuredContent"]["results"]
        assert server.close() == 0
