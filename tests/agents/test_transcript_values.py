"""Times and arguments come in many shapes, and none of them is trusted."""

from __future__ import annotations

import math

import pytest

from triseek.agents.transcript_values import arguments, compact, time_ms


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        ("2026-07-01T10:00:00.123Z", 1782900000123),
        ("2026-07-01T12:00:00.123+02:00", 1782900000123),
        ("2026-07-01T10:00:00", 1782900000000),
        ("2026-07-01T10:00:00.123456789Z", 1782900000123),
        (1782900000, 1782900000000),
        (1782900000.5, 1782900000500),
        (1782900000123, 1782900000123),
        ("yesterday", 0),
        ("", 0),
        ("0001-01-01T00:00:00Z", 0),
        (True, 0),
        (None, 0),
        ([1], 0),
        (-5, 0),
        (10**400, 0),
        (math.nan, 0),
        (math.inf, 0),
    ],
)
def test_a_time_is_milliseconds_or_unknown(value, ms):
    assert time_ms(value) == ms


def test_long_arguments_that_are_kept_elsewhere_are_left_out():
    values = {"file_path": "/a", "content": "é" * 300, "note": "n" * 300}

    assert arguments(values, ("content", "file_path")) == (
        '{"file_path":"/a","note":"' + "n" * 300 + '"}'
    )
    assert arguments({"content": "é"}, ("content",)) == '{"content":"é"}'


def test_what_is_nested_too_deeply_has_no_text():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert compact(deep) == ""
