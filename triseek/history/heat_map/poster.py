"""What `triseek history stats` prints, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.history.heat_map import strokes
from triseek.history.heat_map.layout import WEEKDAYS, WEEKS
from triseek.history.heat_map.picture import Picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.history.heat_map.layout import HeatMap

GROUND, INK, SOFT = (255, 255, 255), (34, 33, 31), (93, 90, 84)
LEVEL_COLORS = ((236, 233, 227), (178, 223, 216), (99, 189, 177), (28, 138, 127), (9, 82, 76))
_CELL, _STEP = 18, 22
_MARGIN, _LABELS = 32, 56
_ROW = 32
"""Pixels from one line of a list to the next."""
_TITLE, _UNIT, _SMALL = 2.8, 2.0, 1.8
WIDTH = 2 * _MARGIN + _LABELS + WEEKS * _STEP
_NAME_MAX = 24
_BAR_MAX = 160
ROWS_MAX = 12


class Bar(NamedTuple):
    """A line of a list: a name, and how many."""

    name: str
    amount: int


def draw(heat: HeatMap, agents: Sequence[Bar], projects: Sequence[Bar]) -> bytes:
    """Return a PNG of the heat map and two lists.

    Args:
        heat: Messages a day.
        agents: Messages of each agent.
        projects: Conversations of each project; beyond `ROWS_MAX` they are left out.
    """
    agents, projects = agents[:ROWS_MAX], projects[:ROWS_MAX]
    top = _MARGIN + 60
    legend = top + 28 + 7 * _STEP + 14
    lists = legend + 64
    rows = max(len(agents), len(projects))
    height = lists + (26 + _ROW * rows if rows else 0) + _MARGIN
    picture = Picture(WIDTH, height, GROUND)
    title = f"{heat.total:,} messages, {heat.first} to {heat.last}"
    picture.text(_MARGIN, _MARGIN, title, INK, _TITLE)
    _cells(picture, heat, top)
    _legend(picture, heat, legend)
    half = (WIDTH - 2 * _MARGIN) // 2
    if agents:
        _list(picture, _MARGIN, lists, "All messages by agent", agents)
    if projects:
        _list(picture, _MARGIN + half, lists, "All conversations by project", projects)
    return picture.png()


def _cells(picture: Picture, heat: HeatMap, top: int) -> None:
    left = _MARGIN + _LABELS
    for label in heat.months:
        picture.text(left + label.column * _STEP, top, label.name, SOFT, _SMALL)
    top += 28
    for weekday in range(0, 7, 2):
        picture.text(_MARGIN, top + weekday * _STEP + 3, WEEKDAYS[weekday], SOFT, _SMALL)
    for column, week in enumerate(heat.weeks):
        for weekday, cell in enumerate(week):
            x, y = left + column * _STEP, top + weekday * _STEP
            picture.rectangle(x, y, _CELL, _CELL, LEVEL_COLORS[cell.level])


def _legend(picture: Picture, heat: HeatMap, y: int) -> None:
    x = _MARGIN + _LABELS
    for level, text in enumerate(heat.ranges):
        picture.rectangle(x, y, _CELL, _CELL, LEVEL_COLORS[level])
        picture.text(x + _STEP + 6, y + 3, text, SOFT, _SMALL)
        x += _STEP + 6 + strokes.width(text, _SMALL) + 24
    picture.text(x, y + 3, "messages a day", SOFT, _SMALL)


def _list(picture: Picture, x: int, y: int, title: str, bars: Sequence[Bar]) -> None:
    picture.text(x, y, title, INK, _UNIT)
    most = max(1, *(bar.amount for bar in bars))
    names = strokes.width("m" * (_NAME_MAX + 1), _SMALL)
    for number, bar in enumerate(bars):
        top = y + 34 + number * _ROW
        name = bar.name if len(bar.name) <= _NAME_MAX else f"{bar.name[: _NAME_MAX - 3]}..."
        picture.text(x, top, name, SOFT, _SMALL)
        length = max(2, _BAR_MAX * bar.amount // most) if bar.amount else 0
        picture.rectangle(x + names, top - 3, length, _CELL, LEVEL_COLORS[2])
        picture.text(x + names + length + 10, top, f"{bar.amount:,}", SOFT, _SMALL)
