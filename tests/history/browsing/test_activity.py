"""Messages a day, in the local time zone."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from tests.history.rows import Rows
from triseek.errors import InvalidRequest
from triseek.history.browsing import activity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.store.sqlite import Database

LAST = date(2026, 11, 27)


@pytest.fixture(params=["UTC", "Asia/Kathmandu", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def ms(*when: int) -> int:
    return int(datetime(*when, tzinfo=UTC).timestamp() * 1000)


def test_days_begin_at_local_midnight(database: Database, zone: str) -> None:
    rows = Rows(database)
    session = rows.session()
    first, end = activity.span_of("2026-11-20")
    for at in (first - 1, first, end - 1, end):
        rows.said(session, "text", at)
    with database.read() as connection:
        days = activity.messages_by_day(connection, LAST)
    assert days == {"2026-11-19": 1, "2026-11-20": 2, "2026-11-21": 1}
    midnight = {"UTC": 0, "Asia/Kathmandu": -(5 * 60 + 45), "America/New_York": 5 * 60}[zone]
    assert first == ms(2026, 11, 20) + midnight * 60_000
    assert activity.day_of(first) == "2026-11-20"


def test_a_day_when_the_clocks_are_changed_has_25_hours(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    first, end = activity.span_of("2026-11-01")
    monkeypatch.undo()
    time.tzset()
    assert end - first == 25 * 3_600_000


def test_only_an_agents_or_a_projects_messages_count(database: Database) -> None:
    rows = Rows(database)
    at = ms(2026, 11, 20, 12)
    for agent, project, root in (("codex", "shop", "/w/shop"), ("claude-code", "wiki", "/w/wiki")):
        session = rows.session(agent=agent, project=project, root=root)
        rows.said(session, "text", at)
    with database.read() as connection:
        for filters, count in (
            ({}, 2), ({"agent": "codex"}, 1), ({"project": "wiki"}, 1), ({"project": "/w/wiki"}, 1),
            ({"agent": "codex", "project": "wiki"}, 0), ({"agent": "' OR 1 --"}, 0),
        ):  # fmt: skip
            days = activity.messages_by_day(connection, LAST, **filters)
            assert sum(days.values()) == count


def test_times_that_are_no_dates_are_left_out(database: Database) -> None:
    rows = Rows(database)
    session = rows.session()
    for at in (0, -5, 2**62, -(2**62), ms(2027, 1, 1)):
        rows.said(session, "text", at)
        assert activity.day_of(at) in ("", "2027-01-01", "2026-12-31")
    with database.read() as connection:
        assert activity.messages_by_day(connection, LAST) == {}


@pytest.mark.parametrize("day", ["", "2026-13-01", "today", "2026-11-2x", "9999-12-31"])
def test_what_is_no_day_gets_one_clear_line(day: str) -> None:
    with pytest.raises(InvalidRequest, match="day has to be a date"):
        activity.span_of(day)


def test_the_count_needs_no_text_of_a_message(database: Database) -> None:
    with database.read() as connection:
        plan = connection.execute(
            f"EXPLAIN QUERY PLAN {activity._ALL_BY_QUARTER}", {"first": 0, "end": 1}
        ).fetchall()
    assert "COVERING INDEX messages_by_time" in str(plan)
