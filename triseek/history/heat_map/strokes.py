"""Letters of lines, for pictures: enough for names and numbers, without a font's file.

A letter is drawn in a grid five wide and nine high: x from 0 to 4, y from 0 (top of capitals) over
6 (base line) to 8. Strokes are separated by `|`; a stroke is points `xy` that are joined by lines.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

GLYPHS = {
    "A": "06 20 46|14 34", "B": "00 06 36 45 44 33 03|00 30 41 42 33",
    "C": "41 30 10 01 05 16 36 45",
    "D": "00 06 26 44 42 20 00", "E": "40 00 06 46|03 33", "F": "40 00 06|03 33",
    "G": "41 30 10 01 05 16 36 45 43 23", "H": "00 06|40 46|03 43", "I": "10 30|20 26|16 36",
    "J": "40 45 36 16 05", "K": "00 06|40 03 46", "L": "00 06 46", "M": "06 00 23 40 46",
    "N": "06 00 46 40", "O": "10 30 41 45 36 16 05 01 10", "P": "06 00 30 41 42 33 03",
    "Q": "10 30 41 45 36 16 05 01 10|24 46", "R": "06 00 30 41 42 33 03|23 46",
    "S": "41 30 10 01 02 13 33 44 45 36 16 05", "T": "00 40|20 26", "U": "00 05 16 36 45 40",
    "V": "00 26 40", "W": "00 16 22 36 40", "X": "00 46|40 06", "Y": "00 23 40|23 26",
    "Z": "00 40 06 46",
    "a": "12 32 43 46|44 14 05 16 36 45", "b": "00 06|03 12 32 43 45 36 16 05",
    "c": "43 32 12 03 05 16 36 45", "d": "40 46|43 32 12 03 05 16 36 45",
    "e": "04 44 43 32 12 03 05 16 36", "f": "40 30 21 26|12 42",
    "g": "42 47 38 18|43 32 12 03 05 16 36 45", "h": "00 06|03 12 32 43 46", "i": "12 22 26|20 21",
    "j": "22 32 37 28 08|30 31", "k": "00 06|32 04 36", "l": "10 20 25 36",
    "m": "02 06|03 12 23 26|23 32 43 46", "n": "02 06|03 12 32 43 46",
    "o": "12 32 43 45 36 16 05 03 12", "p": "02 08|03 12 32 43 45 36 16 05",
    "q": "42 48|43 32 12 03 05 16 36 45", "r": "02 06|03 12 32 43", "s": "42 12 03 14 34 45 36 06",
    "t": "10 15 26 36 45|02 32", "u": "02 05 16 36 45|42 46", "v": "02 26 42",
    "w": "02 16 23 36 42", "x": "02 46|42 06", "y": "02 26|42 26 08", "z": "02 42 06 46",
    "0": "10 30 41 45 36 16 05 01 10|32 14", "1": "11 20 26|16 36", "2": "01 10 30 41 42 06 46",
    "3": "01 10 30 41 42 33 44 45 36 16 05|13 33", "4": "36 30 04 44",
    "5": "40 00 03 33 44 45 36 06",
    "6": "40 20 02 05 16 36 45 44 33 13 04", "7": "00 40 16",
    "8": "13 02 01 10 30 41 42 33 13 04 05 16 36 45 44 33", "9": "42 33 13 02 01 10 30 41 44 26 06",
    "-": "13 33", ".": "25 26", ",": "25 25 17", ":": "22 23|25 26", "/": "06 40", "_": "07 47",
    "+": "13 33|22 24", "(": "30 12 14 36", ")": "10 32 34 16",
    "@": "34 23 14 25 34 45 43 31 11 03 05 16 36",
    "#": "10 16|30 36|02 42|04 44", "~": "03 12 34 43", "=": "12 32|14 34", "'": "20 21",
    "&": "46 12 11 20 31 32 04 05 16 26 44", "[": "30 10 16 36", "]": "10 30 36 16", " ": "",
}  # fmt: skip
UNKNOWN = "00 40 46 06 00"
"""In place of a character that has no strokes: a box."""
ADVANCE = 6
"""Units from one letter to the next."""
WIDTH, HEIGHT = 5, 9


@lru_cache(maxsize=512)
def glyph(character: str, unit: float) -> NDArray[np.float64]:
    """Return how much of each pixel a letter covers: 0 to 1, rows by columns.

    Args:
        character: One character.
        unit: Pixels of one unit of the grid. The letter begins one unit from the left and the top.
    """
    rows, columns = round((HEIGHT + 1) * unit), round((WIDTH + 1) * unit)
    y, x = np.mgrid[0:rows, 0:columns] + 0.5
    distance = np.full((rows, columns), np.inf)
    for stroke in GLYPHS.get(character, UNKNOWN).split("|"):
        points = [((int(at[0]) + 1) * unit, (int(at[1]) + 1) * unit) for at in stroke.split()]
        for start, end in itertools.pairwise(points):
            np.minimum(distance, _distance(x, y, start, end), out=distance)
    thickness = 0.42 * unit
    covered: NDArray[np.float64] = np.clip(thickness + 0.5 - distance, 0, 1)
    return covered


def width(text: str, unit: float) -> int:
    """Return the pixels that a text is wide."""
    return round(len(text) * ADVANCE * unit)


def _distance(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    start: tuple[float, float],
    end: tuple[float, float],
) -> NDArray[np.float64]:
    """Return the distance of each pixel from a line between two points."""
    across, down = end[0] - start[0], end[1] - start[1]
    length = across * across + down * down
    along = ((x - start[0]) * across + (y - start[1]) * down) / length if length else x * 0
    along = np.clip(along, 0, 1)
    return np.hypot(x - start[0] - along * across, y - start[1] - along * down)
