"""The heat map as lines for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.history.heat_map.layout import WEEKDAYS, WEEKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.history.heat_map.layout import HeatMap

BLOCKS = "·░▒▓█"
"""A sign for each level."""
ASCII = ".-+*#"
_COLORS = (245, 151, 79, 36, 30)
"""Of the 256 colours of terminals, for each level: legible on light and on dark ground."""
_MARGIN = 4
"""Columns of the names of weekdays."""


def lines(
    heat: HeatMap, *, width: int = 80, is_plain: bool = False, is_colored: bool = False
) -> Iterator[str]:
    """Yield the lines of a heat map with the names of months and weekdays, and a legend.

    Args:
        heat: What to draw.
        width: Columns of the terminal; a week takes two if they suffice.
        is_plain: Draw with ASCII only.
        is_colored: Add escape sequences for colours.
    """
    signs = ASCII if is_plain else BLOCKS
    step = 2 if width >= _MARGIN + 2 * WEEKS else 1
    yield _month_line(heat, step)
    for weekday, name in enumerate(WEEKDAYS):
        cells = [week[weekday].level for week in heat.weeks if weekday < len(week)]
        drawn = "".join(_sign(signs, level, step, is_colored=is_colored) for level in cells)
        yield f"{name if weekday % 2 == 0 else '':{_MARGIN}}{drawn}".rstrip()
    levels = enumerate(heat.ranges)
    legend = (f"{_sign(signs, level, 1, is_colored=is_colored)} {text}" for level, text in levels)
    yield ""
    yield f"{'':{_MARGIN}}{'   '.join(legend)}   messages a day"


def _month_line(heat: HeatMap, step: int) -> str:
    line = ""
    for label in heat.months:
        line = f"{line:{_MARGIN + step * label.column}}{label.name}"
    return line


def _sign(signs: str, level: int, step: int, *, is_colored: bool) -> str:
    # A dot is not doubled: a row of them would look like a line of text.
    sign = signs[level] + (signs[level] if level else " ") * (step - 1)
    return f"\x1b[38;5;{_COLORS[level]}m{sign}\x1b[0m" if is_colored else sign
