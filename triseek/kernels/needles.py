"""Searches in text, by vectors of bytes: needles, newlines and line starts.

A needle is found by comparing two of its bytes at once. Where both match, the whole needle is
compared. With the rarest pair of bytes (`triseek.query.trigrams.literals.rarest_pair`) almost all
of these comparisons succeed, whatever the needle; `kernels.simd` has the figures.
"""

from __future__ import annotations

import numpy as np

from triseek.kernels import simd
from triseek.kernels.jit import BYTES, I64, kernel

_NEWLINE = np.uint8(10)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@kernel(I64, BYTES, I64, BYTES, I64, I64)
def _stands(text: np.ndarray, at: int, needles: np.ndarray, first: int, size: int) -> int:
    """Return 1 if text[at : at + size] is the needle, else 0."""
    for i in range(size):
        if text[at + i] != needles[first + i]:
            return 0
    return 1


@kernel(I64, BYTES, I64, I64, BYTES, I64, I64, I64, I64)
def find(
    text: np.ndarray,
    begin: int,
    end: int,
    needles: np.ndarray,
    first: int,
    size: int,
    left: int,
    right: int,
) -> int:
    """Return the index of the needle's first occurrence in text[begin:end], or `end` if none.

    text: uint8. The needle is needles[first : first + size] (uint8, size >= 1). `left` and
    `right` are the indices in it of the two bytes to look for; they are equal if it has only one.
    """
    x, y = needles[first + left], needles[first + right]
    at = begin
    last = end - size - (simd.WIDTH - 1)  # start of the last whole step
    keep = _ALL
    if last >= begin:
        while at < last + simd.WIDTH:
            if at > last:
                # The rest is less than a step: go back to `last`, and mask what was compared.
                keep = _ALL << np.uint64(at - last)
                at = last
            mask = simd.equal(text, at + left, x) & simd.equal(text, at + right, y) & keep
            while mask != 0:
                start = at + simd.lowest(mask)
                if _stands(text, start, needles, first, size) != 0:
                    return start
                mask &= mask - _ONE
            at += simd.WIDTH
        return end
    while at + size <= end:
        if text[at + left] == x and _stands(text, at, needles, first, size) != 0:
            return at
        at += 1
    return end


@kernel(I64, BYTES, I64, I64)
def count_newlines(text: np.ndarray, begin: int, end: int) -> int:
    """Return the number of newlines in text[begin:end]. text: uint8."""
    total = 0
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
