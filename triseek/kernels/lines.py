"""Counting newlines and finding line starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels import simd
from triseek.kernels.jit import BYTES, I64, kernel

if TYPE_CHECKING:
    import numpy as np

_NEWLINE = numba.uint8(10)


@kernel(I64, BYTES, I64, I64)
def count_newlines(text: np.ndarray, begin: int, end: int) -> int:
    """Return the number of newlines in text[begin:end]. text: uint8."""
    total = numba.int64(0)
    at = begin
    while at + simd.WIDTH <= end:
        total += simd.ones(simd.equal(text, at, _NEWLINE))
        at += simd.WIDTH
    for i in range(at, end):
        total += text[i] == _NEWLINE
    return total


@kernel(I64, BYTES, I64, I64)
def line_begin(text: np.ndarray, at: int, floor: int) -> int:
    """Return the start of the line that contains `at`; `floor` is a line start. text: uint8."""
    i = at
    while i - simd.WIDTH >= floor:
        mask = simd.equal(text, i - simd.WIDTH, _NEWLINE)
        if mask != 0:
            return i - simd.WIDTH + simd.highest(mask) + 1
        i -= simd.WIDTH
    while i > floor and text[i - 1] != _NEWLINE:
        i -= 1
    return i
