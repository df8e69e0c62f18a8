"""Find a literal in bytes, by its rarest byte.

`memchr` on the byte of the needle that is rarest in source code, then compare: 8 to 14 GB/s where
a naive loop makes 0.5 (engine.md §3). Which byte is rarest is the caller's knowledge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.kernels.jit import BYTES, I64, kernel
from triseek.kernels.libc import memchr_index

if TYPE_CHECKING:
    import numpy as np


@kernel(I64, BYTES, I64, I64, BYTES, I64, I64, I64)
def find(
    text: np.ndarray, begin: int, end: int, needles: np.ndarray, first: int, size: int, rare: int
) -> int:
    """Index of the needle's first occurrence in text[begin:end], or `end` when there is none.

    text: uint8. The needle is needles[first : first + size] (uint8, size >= 1), and `rare` the
    index in it of its rarest byte.
    """
    byte = needles[first + rare]
    at = begin + rare
    last = end - size + rare + 1
    while True:
        at = memchr_index(text, byte, at, last)
        if at >= last:
            return end
        start = at - rare
        same = True
        for i in range(size):
            if text[start + i] != needles[first + i]:
                same = False
                break
        if same:
            return start
        at += 1
