"""times: dates of requests in the local time zone."""

from __future__ import annotations

import time

import pytest

from triseek.errors import InvalidQuery
from triseek.history import times

DAY = 86_400_000
MIDNIGHT_BERLIN = 1_760_997_600_000
"""2025-10-21 00:00 in Berlin, UTC+02:00."""


@pytest.fixture(autouse=True)
def berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025-10-21", MIDNIGHT_BERLIN),
        ("2025-10-20T22:00:00Z", MIDNIGHT_BERLIN),
        ("2025-10-21 00:00", MIDNIGHT_BERLIN),
        ("Oct 21, 2025", MIDNIGHT_BERLIN),
        ("21 October 2025 00:00", MIDNIGHT_BERLIN),
        ("Mon, 20 Oct 2025 22:00:00 GMT", MIDNIGHT_BERLIN),
        (MIDNIGHT_BERLIN, MIDNIGHT_BERLIN),
        (str(MIDNIGHT_BERLIN), MIDNIGHT_BERLIN),
        (" ", None),
        (0, 0),
    ],
    ids=repr,
)
def test_a_time_in_any_spelling(value, expected):
    assert times.moment(value, "start") == expected


@pytest.mark.parametrize(
    "value",
    ["soon", "2025-13-01", "2025-10-21T25:00", float("nan"), float("inf"), 1e17, "9" * 17,
     "Foo 5 2025", "Feb 31 2025", "123", "0001-01-01T00:00", "x" * 10_000],
)  # fmt: skip
def test_what_is_no_time_is_named(value):
    with pytest.raises(InvalidQuery, match=r"^start: "):
        times.moment(value, "start")


def test_a_date_as_an_end_is_its_last_millisecond_also_when_clocks_change():
    assert times.moment("2025-10-21", "end", is_end=True) == MIDNIGHT_BERLIN + DAY - 1
    longest = times.moment("2025-10-26", "end", is_end=True) - times.moment("2025-10-26", "start")
    assert longest == DAY + 3_600_000 - 1


def test_dates_are_shown_in_the_local_zone():
    assert times.shown(MIDNIGHT_BERLIN) == "2025-10-21 00:00"
    assert times.shown(0) == "unknown"
    assert times.shown(10**18) == "unknown"
    assert times.day_and_time(MIDNIGHT_BERLIN) == ("2025-10-21", "00:00")
    assert times.zone() in ("UTC+01:00", "UTC+02:00")
