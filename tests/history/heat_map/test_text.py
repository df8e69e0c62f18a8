"""The heat map on a terminal."""

from __future__ import annotations

import re
from datetime import date, timedelta

from triseek.history.heat_map import text
from triseek.history.heat_map.layout import layout

LAST = date(2026, 11, 27)
DAYS = {(LAST - timedelta(days=ago)).isoformat(): ago % 90 for ago in range(300)}
HEAT = layout(DAYS, LAST)


def test_each_row_has_the_levels_of_its_weekday() -> None:
    rows = list(text.lines(HEAT, width=80))[1:8]
    for weekday, row in enumerate(rows):
        levels = [week[weekday].level for week in HEAT.weeks if weekday < len(week)]
        assert [text.BLOCKS.index(sign) for sign in row[4:]] == levels
    assert [row[:3] for row in rows[::2]] == ["Mon", "Wed", "Fri", "Sun"]


def test_months_stand_above_their_weeks() -> None:
    for width, step in ((80, 1), (120, 2)):
        top = next(iter(text.lines(HEAT, width=width)))
        for column, name in HEAT.months:
            assert top[4 + column * step :].startswith(name)


def test_a_line_fits_the_terminal() -> None:
    for width in (80, 110, 200):
        assert max(map(len, text.lines(HEAT, width=width))) <= width


def test_plain_lines_are_ascii() -> None:
    plain = "\n".join(text.lines(HEAT, is_plain=True))
    assert plain.isascii()
    assert "\x1b" not in plain
    for sign in text.ASCII:
        assert sign in plain


def test_colours_leave_the_signs_as_they_are() -> None:
    colored = "\n".join(text.lines(HEAT, is_colored=True))
    assert "\x1b[38;5;" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == "\n".join(text.lines(HEAT))
