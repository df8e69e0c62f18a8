"""Merging the posting lists of several segments into one segment's, with renumbered blocks.

Each input has its own block numbers. Its table `remap` holds each block's number in the result, or
`DROPPED`. The remaining numbers are ascending, so no list is ever sorted: lists are decoded,
renumbered, and merged as two adjacent ascending runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels.jit import (
    BYTES,
    BYTES_OUT,
    I64,
    I64S,
    I64S_OUT,
    U32S,
    U32S_OUT,
    U64S,
    kernel,
)
from triseek.kernels.postings import read_number, write_step

if TYPE_CHECKING:
    import numpy as np

DROPPED = (1 << 32) - 1
"""The value in `remap` of a block that the result leaves out."""


@kernel(I64, BYTES, I64, I64, I64, U32S, I64, U32S_OUT)
def _renumber(
    data: np.ndarray,
    begin: int,
    end: int,
    frequency: int,
    remap: np.ndarray,
    place: int,
    out: np.ndarray,
) -> int:
    """Write the new numbers of the list data[begin:end] to out[place:]; return how many, or -1.

    -1 means that the list is damaged or does not have `frequency` numbers. At most `frequency`
    numbers are written.
    """
    value = numba.int64(0)
    at = begin
    seen = 0
    kept = place
    while at < end:
        value, at = read_number(data, at, end, value, remap.size, seen == 0)
        if value < 0 or seen >= frequency:
            return -1
        seen += 1
        number = remap[value]
        if number != DROPPED:
            out[kept] = number
            kept += 1
    return kept - place if seen == frequency else -1


@kernel(I64, U32S_OUT, I64, I64, I64, U32S_OUT)
def _merge_runs(numbers: np.ndarray, begin: int, m: int, n: int, scratch: np.ndarray) -> int:
    """Merge two adjacent ascending runs of m and n numbers in place; return 0.

    The first run starts at `begin`. scratch: uint32, room for m. Writing never overtakes reading of
    the second run. When the first run is used up, the rest of the second is in place already.
    """
    if m == 0 or n == 0 or numbers[begin + m - 1] < numbers[begin + m]:
        return 0
    for i in range(m):
        scratch[i] = numbers[begin + i]
    i = 0
    j = begin + m
    end = j + n
    at = begin
    while i < m:
        if j < end and numbers[j] < scratch[i]:
            numbers[at] = numbers[j]
            j += 1
        else:
            numbers[at] = scratch[i]
            i += 1
        at += 1
    return 0


@kernel(
    I64, BYTES, U64S, U32S, I64, I64, U32S, I64, U32S, I64S, I64S_OUT, U32S_OUT, U32S_OUT
)  # fmt: skip
def gather(
    data: np.ndarray,
    offsets: np.ndarray,
    frequency: np.ndarray,
    begin: int,
    end: int,
    slots: np.ndarray,
    first: int,
    remap: np.ndarray,
    room: np.ndarray,
    counts: np.ndarray,
    numbers: np.ndarray,
    scratch: np.ndarray,
) -> int:
    """Add one input's lists begin..end-1 to a stretch of merged lists.

    data: uint8, offsets: uint64, frequency: uint32, the columns of the input's segment. slots:
    uint32, the merged list of each of its lists; the stretch begins with merged list `first`.
    remap: uint32[blocks]. room: int64, the start in `numbers` of each list of the stretch; a list
    has room for the sum of its parts' frequencies. counts: int64, the current length of each list.
    numbers, scratch: uint32; scratch has room for the longest of the lists.

    Inputs with fewer blocks must come first: a list is then moved about once, not once per input.
    Returns the number of lists, or -1 - k if list k is damaged.
    """
    for k in range(begin, end):
        slot = numba.int64(slots[k]) - first
        place, held = room[slot], counts[slot]
        start, until = numba.int64(offsets[k]), numba.int64(offsets[k + 1])
        if start < 0 or until > data.size or place + held + frequency[k] > room[slot + 1]:
            return -1 - k
        added = _renumber(
            data, start, until, numba.int64(frequency[k]), remap, place + held, numbers
        )
        if added < 0:
            return -1 - k
        _merge_runs(numbers, place, held, added, scratch)
        counts[slot] = held + added
    return end - begin


@kernel(I64, U32S, I64S, I64S, BYTES_OUT, I64S_OUT)
def encode(
    numbers: np.ndarray, room: np.ndarray, counts: np.ndarray, out: np.ndarray, ends: np.ndarray
) -> int:
    """Write the lists of a stretch as varints of steps, one after the other; return the bytes.

    numbers, room, counts: as `gather` left them. out: uint8, room for five bytes per number. ends:
    int64[lists], out, the end of each list in `out`.
    """
    at = 0
    for slot in range(counts.size):
        previous = numba.int64(0)
        for i in range(room[slot], room[slot] + counts[slot]):
            value = numba.int64(numbers[i])
            step = value - previous
            previous = value
            at = write_step(out, at, step)
        ends[slot] = at
    return at
