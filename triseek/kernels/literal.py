"""Find a literal in bytes, by two of its bytes at once.

Where both stand at their places the rest is compared. With the rarest pair that is almost never
in vain, whatever the needle (`triseek.query.literals.rarest_pair`); `kernels.simd` has the figures.
"""

from __future__ import annotations

import numpy as np

from triseek.kernels import simd
from triseek.kernels.jit import BYTES, I64, kernel

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@kernel(I64, BYTES, I64, BYTES, I64, I64)
def _stands(text: np.ndarray, at: int, needles: np.ndarray, first: int, size: int) -> int:
    """Whether text[at : at + size] is the needle."""
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
    """Index of the needle's first occurrence in text[begin:end], or `end` when there is none.

    text: uint8. The needle is needles[first : first + size] (uint8, size >= 1); `left` and
    `right` are the indices in it of the two bytes to look for, the same one if it has no other.
    """
    x, y = needles[first + left], needles[first + right]
    at = begin
    last = end - size - (simd.WIDTH - 1)  # where the last whole step begins
    keep = _ALL
    if last >= begin:
        while at < last + simd.WIDTH:
            if at > last:
                # The rest is no whole step: go back to where one fits, and skip what was seen.
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
