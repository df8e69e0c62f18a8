"""The picture, read back by another program's reader of PNG."""

from __future__ import annotations

import io
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from triseek.history.heat_map import poster, strokes
from triseek.history.heat_map.layout import layout
from triseek.history.heat_map.picture import Picture
from triseek.history.heat_map.poster import LEVEL_COLORS, Bar

LAST = date(2026, 11, 27)


def read(png: bytes) -> Any:
    """The pixels, 0 to 255, rows by columns by colours."""
    from matplotlib import image

    return np.rint(image.imread(io.BytesIO(png), format="png")[..., :3] * 255).astype(int)


def area(pixels: Any, color: tuple[int, int, int]) -> int:
    return int((pixels == color).all(axis=2).sum())


def test_cells_have_the_colours_of_their_levels() -> None:
    days = {(LAST - timedelta(days=ago)).isoformat(): ago % 90 for ago in range(300)}
    heat = layout(days, LAST)
    pixels = read(poster.draw(heat, [], []))
    levels = [cell.level for week in heat.weeks for cell in week]
    for level, color in enumerate(LEVEL_COLORS):
        cells = levels.count(level) + 1  # and one in the legend
        assert area(pixels, color) == cells * 18 * 18


def test_a_bar_is_as_long_as_its_part() -> None:
    heat = layout({}, LAST)
    bars = []
    for amount in (100, 50):
        pixels = read(poster.draw(heat, [Bar("a", 100), Bar("b", amount)], []))
        bars.append(area(pixels, LEVEL_COLORS[2]) - 160 * 18)
    assert bars == [160 * 18, 80 * 18]


@pytest.mark.parametrize(
    "name",
    ["", "x" * 100_000, "<script>", "日本語 \u202e", "a\nb\tc\x1b[31m", "\ud800"],
    ids=["empty", "long", "markup", "wide", "control", "surrogate"],
)
def test_any_name_can_be_written(name: str) -> None:
    heat = layout({}, LAST)
    pixels = read(poster.draw(heat, [Bar(name, 0)], [Bar(name, 1)] * 40))
    assert pixels.shape[1] == poster.WIDTH


def test_texts_end_at_the_edge() -> None:
    picture = Picture(60, 30, (255, 255, 255))
    for x, y in ((-50, 5), (50, 5), (5, -50), (5, 25), (500, 500)):
        picture.text(x, y, "Wide text", (0, 0, 0))
    picture.rectangle(-5, -5, 20, 20, (9, 9, 9))
    picture.rectangle(-50, -50, 20, 20, (8, 8, 8))
    pixels = read(picture.png())
    assert area(pixels, (9, 9, 9)) == 15 * 15
    assert area(pixels, (8, 8, 8)) == 0


def test_letters_differ_and_keep_to_their_grid() -> None:
    drawn = {name: strokes.glyph(name, 2.0) for name in strokes.GLYPHS}
    shapes = {covered.tobytes() for covered in drawn.values()}
    assert len(shapes) == len(drawn)
    for name, covered in drawn.items():
        assert covered.shape == (20, 12)
        assert (covered.max() > 0.8) == (name != " ")
