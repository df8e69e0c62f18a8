"""Which day is in which cell of the heat map, and how dark the cell is.

A column is a week from Monday on; the last column is the week of the last day. Levels are quartiles
of the days that have messages, so that one busy day does not make all others pale.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

WEEKS = 53
LEVELS = 4
"""Levels of days with messages; level 0 is a day without."""
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LABEL_COLUMNS = 4
"""Least columns from one month's name to the next."""


class Cell(NamedTuple):
    """A day."""

    day: str
    """`YYYY-MM-DD`."""
    messages: int
    level: int
    """From 0 to `LEVELS`."""


class MonthLabel(NamedTuple):
    """The name of a month above the first column that begins in it."""

    column: int
    name: str


class HeatMapDocument(TypedDict):
    """A heat map as JSON."""

    weeks: list[list[Cell]]
    months: list[MonthLabel]
    weekdays: list[str]
    ranges: list[str]
    total: int


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A year of days."""

    weeks: tuple[tuple[Cell, ...], ...]
    """`WEEKS` columns of 7 cells, the last with those up to the last day."""
    months: tuple[MonthLabel, ...]
    starts: tuple[int, ...]
    """The least count of level 1, of level 2 and so on; fewer if counts differ little."""
    total: int

    @property
    def first(self) -> str:
        """The first day."""
        return self.weeks[0][0].day

    @property
    def last(self) -> str:
        """The last day."""
        return self.weeks[-1][-1].day

    @property
    def ranges(self) -> list[str]:
        """The counts of level 0, of level 1 and so on, in words: `0`, `1-4`, `5 and more`."""
        if not self.starts:
            return ["0"]
        inner = [
            f"{low:,}" if low == end - 1 else f"{low:,}-{end - 1:,}"
            for low, end in zip(self.starts, self.starts[1:], strict=False)
        ]
        return ["0", *inner, f"{self.starts[-1]:,} and more"]

    def document(self) -> HeatMapDocument:
        """Return it as JSON."""
        return HeatMapDocument(
            weeks=[list(week) for week in self.weeks],
            months=list(self.months),
            weekdays=list(WEEKDAYS),
            ranges=self.ranges,
            total=self.total,
        )


def first_day(last: date) -> date:
    """Return the first day of the heat map that ends with a day."""
    return last - timedelta(days=last.weekday() + 7 * (WEEKS - 1))


def layout(days: Mapping[str, int], last: date) -> HeatMap:
    """Lay out the messages of each day; days outside the year are left out.

    Args:
        days: Counts by `YYYY-MM-DD`; days without messages may be missing.
        last: The last day, usually today.
    """
    first = first_day(last)
    dates = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    counts = [max(0, days.get(day.isoformat(), 0)) for day in dates]
    starts = _starts([count for count in counts if count])
    cells = [
        Cell(day.isoformat(), count, bisect.bisect_right(starts, count))
        for day, count in zip(dates, counts, strict=True)
    ]
    weeks = tuple(tuple(cells[at : at + 7]) for at in range(0, len(cells), 7))
    return HeatMap(weeks, _months(dates[::7]), starts, sum(counts))


def _starts(counts: list[int]) -> tuple[int, ...]:
    """Return the least count of each level."""
    if not counts:
        return ()
    ordered = sorted(counts)
    quartiles = [ordered[(len(ordered) - 1) * part // LEVELS] + 1 for part in range(1, LEVELS)]
    return tuple(sorted({1, *(start for start in quartiles if start <= ordered[-1])}))


def _months(mondays: list[date]) -> tuple[MonthLabel, ...]:
    """Return the names of months, without those that the next one would run into."""
    changes = [
        column
        for column, monday in enumerate(mondays)
        if column == 0 or monday.month != mondays[column - 1].month
    ]
    ends = [*changes[1:], len(mondays)]
    return tuple(
        MonthLabel(column, MONTHS[mondays[column].month - 1])
        for column, end in zip(changes, ends, strict=True)
        if end - column >= min(_LABEL_COLUMNS, len(mondays) - column)
    )
