"""Days in cells: weeks in columns, months above them, levels by quartiles."""

from __future__ import annotations

import itertools
from datetime import date, timedelta

import pytest

from triseek.history.heat_map.layout import WEEKS, first_day, layout

FRIDAY = date(2026, 11, 27)


@pytest.mark.parametrize("ago", [*range(8), 31, 330, 365, 1000])
def test_every_day_of_the_year_has_one_cell(ago: int) -> None:
    last = FRIDAY - timedelta(days=ago)
    heat = layout({}, last)
    days = [date.fromisoformat(cell.day) for week in heat.weeks for cell in week]
    assert days == [first_day(last) + timedelta(days=number) for number in range(len(days))]
    assert days[-1] == last
    assert len(heat.weeks) == WEEKS
    assert all(date.fromisoformat(week[0].day).weekday() == 0 for week in heat.weeks)
    assert all(len(week) == 7 for week in heat.weeks[:-1])
    assert 365 <= len(days) <= 371


def test_a_month_is_named_above_the_first_week_that_begins_in_it() -> None:
    heat = layout({}, FRIDAY)
    for column, name in heat.months:
        monday = date.fromisoformat(heat.weeks[column][0].day)
        assert monday.strftime("%b") == name
        assert column == 0 or (monday - timedelta(days=7)).month != monday.month
    columns = [column for column, _ in heat.months]
    assert all(later - earlier >= 4 for earlier, later in itertools.pairwise(columns))


def test_levels_are_quartiles_of_the_days_with_messages() -> None:
    days = {(FRIDAY - timedelta(days=ago)).isoformat(): ago for ago in range(101)}
    heat = layout(days, FRIDAY)
    level = {cell.messages: cell.level for week in heat.weeks for cell in week}
    assert (level[0], level[1], level[100]) == (0, 1, 4)
    assert [sum(level[count] == each for count in range(1, 101)) for each in (1, 2, 3, 4)] == [
        25
    ] * 4
    assert heat.ranges == ["0", "1-25", "26-50", "51-75", "76 and more"]
    assert heat.total == 5050


def test_one_busy_day_makes_the_others_no_paler() -> None:
    days = {(FRIDAY - timedelta(days=ago)).isoformat(): 1 + ago % 8 for ago in range(40)}
    assert days["2026-11-20"] == 8
    before = layout(days, FRIDAY).starts
    assert layout({**days, "2026-11-20": 100_000}, FRIDAY).starts == before


def test_days_that_are_alike_have_the_same_level() -> None:
    days = {(FRIDAY - timedelta(days=ago)).isoformat(): 5 for ago in range(9)}
    heat = layout(days, FRIDAY)
    assert heat.ranges == ["0", "1 and more"]


def test_what_is_outside_of_the_year_or_no_day_is_left_out() -> None:
    days = {"2099-01-01": 9, "1970-01-01": 9, "nonsense": 9, "": 9, FRIDAY.isoformat(): 1}
    assert layout(days, FRIDAY).total == 1
    assert layout({}, FRIDAY).ranges == ["0"]
