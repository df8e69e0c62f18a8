"""Where lines begin, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels.jit import BYTES, I64, kernel

if TYPE_CHECKING:
    import numpy as np


@kernel(I64, BYTES, I64, I64)
def count_newlines(text: np.ndarray, begin: int, end: int) -> int:
    """Newlines in text[begin:end]. text: uint8."""
    part = text[begin:end]
    total = numba.int64(0)
    for i in range(part.size):
        total += part[i] == 10
    return total


@kernel(I64, BYTES, I64, I64)
def line_begin(text: np.ndarray, at: int, floor: int) -> int:
    """Index of the first byte of the line that holds `at`; `floor` is a line start. text: uint8."""
    i = at
    while i > floor and text[i - 1] != 10:
        i -= 1
    return i
