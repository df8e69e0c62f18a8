from __future__ import annotations

import pytest

from triseek.memory.profile.log_filter import level


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        ("", "warning"), ("off", "critical"), ("error", "error"), ("warn", "warning"),
        ("info", "info"), ("debug", "debug"), ("trace", "debug"), (" INFO ", "info"),
        ("trusty_memory=trace", "debug"), ("trusty_memory::store=debug,warn", "debug"),
        ("debug,triseek=error", "error"), ("hyper=trace", "warning"), ("info,hyper=off", "info"),
        ("triseek", "debug"), ("nonsense", "warning"), ("=,==,,=x,[a]=info", "warning"),
        ("triseek=loud", "warning"), ("é" * 10_000, "warning"),
    ],
)  # fmt: skip
def test_the_level_is_the_nearest_directives(directives: str, expected: str) -> None:
    assert level(directives) == expected
