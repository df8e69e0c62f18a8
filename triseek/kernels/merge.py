"""Several segments' posting lists into one segment's, block by block renumbered.

Every input numbers its blocks for itself. Its table `remap` says which number a block has in the
result, or that it is dropped; the numbers that stay are rising, so no list is ever sorted: lists
are decoded, renumbered, and merged as two rising runs that lie side by side.
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

if TYPE_CHECKING:
    import numpy as np

DROPPED = (1 << 32) - 1
"""What `remap` says of a block that the result does not hold."""


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
    """Write the new numbers of the list data[begin:end] to out[place:]; how many, or -1.

    -1: the list is damaged, or has not `frequency` numbers; no more than those are written.
    """
    value = numba.int64(0)
    at = begin
    seen = 0
    kept = place
    while at < end:
        byte = data[at]
        at += 1
        step = numba.int64(byte & 127)
        shift = 7
        while byte >= 128:
            if at >= end or shift > 28:
                return -1
            byte = data[at]
            at += 1
            step |= numba.int64(byte & 127) << shift
            shift += 7
        value += step
        if value >= remap.size or (step == 0 and seen > 0) or seen >= frequency:
            return -1
        seen += 1
        number = remap[value]
        if number != DROPPED:
            out[kept] = number
            kept += 1
    return kept - place if seen == frequency else -1


@kernel(I64, U32S_OUT, I64, I64, I64, U32S_OUT)
def _merge_runs(numbers: np.ndarray, begin: int, m: int, n: int, scratch: np.ndarray) -> int:
    """Merge the rising runs of m and n numbers that lie side by side from `begin` on, in place.

    scratch: uint32, room for m. What is written never overtakes what is still to be read of the
    second run, whose rest is where it belongs once the first is used up.
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

    data: uint8, offsets: uint64, frequency: uint32, as the input's segment has them. slots:
    uint32, the merged list that each of its lists is part of; the stretch begins with number
    `first`. remap: uint32[blocks]. room: int64, where in `numbers` each list of the stretch has
    its place, as long as the frequencies of its parts. counts: int64, how many numbers each has so
    far. numbers, scratch: uint32; scratch holds the longest of the lists.

    Inputs with fewer blocks come first: a list is then moved about once, not once per input.
    Returns the number of lists, or -1 - k when list k is damaged.
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
    """Write the lists of a stretch as varints of steps, one behind the other; bytes in all.

    numbers, room, counts: as `gather` left them. out: uint8, room for five bytes a number. ends:
    int64[lists], where each list ends in `out`.
    """
    at = 0
    for slot in range(counts.size):
        previous = numba.int64(0)
        for i in range(room[slot], room[slot] + counts[slot]):
            value = numba.int64(numbers[i])
            step = value - previous
            previous = value
            while step >= 128:
                out[at] = (step & 127) | 128
                at += 1
                step >>= 7
            out[at] = step
            at += 1
        ends[slot] = at
    return at
