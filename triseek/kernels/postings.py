"""Posting lists: strictly ascending block numbers, encoded as varints of the steps between them.

The first step is from zero. Lists are validated as they are read: a number that is not below the
number of blocks, or a varint that runs past its list, gives -1, and the caller raises
`IndexCorrupt`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from triseek.kernels import simd
from triseek.kernels.jit import (
    BYTES,
    BYTES_OUT,
    I64,
    I64S_OUT,
    U32S,
    U32S_OUT,
    U64S,
    U64S_OUT,
    inlined,
    kernel,
)

if TYPE_CHECKING:
    import numpy as np

_ZERO = numba.uint8(0)


@inlined
def read_number(
    data: np.ndarray, at: int, end: int, value: int, blocks: int, first: bool
) -> tuple[int, int]:
    """Return the number after `value` in a list, and the index after its step at data[at].

    The number is -1 if the list is damaged: the step runs past `end` or has more than five bytes,
    the number is not below `blocks`, or it is not higher than `value` and not the `first` one.
    """
    byte = data[at]
    at += 1
    step = numba.int64(byte & 127)
    shift = 7
    while byte >= 128:
        if at >= end or shift > 28:
            return numba.int64(-1), at
        byte = data[at]
        at += 1
        step |= numba.int64(byte & 127) << shift
        shift += 7
    value += step
    if value >= blocks or (step == 0 and not first):
        return numba.int64(-1), at
    return value, at


@inlined
def write_step(out: np.ndarray, at: int, step: int) -> int:
    """Write a varint to out[at:]; return the index after it."""
    while step >= 128:
        out[at] = (step & 127) | 128
        at += 1
        step >>= 7
    out[at] = step
    return at + 1


@kernel(I64, BYTES, I64, I64, I64, I64, U32S_OUT)
def decode(data: np.ndarray, begin: int, end: int, blocks: int, below: int, out: np.ndarray) -> int:
    """Write the list data[begin:end] to `out` and return its length, or -1 if it is damaged.

    data: uint8. blocks: the number of blocks; every number must be lower. below: stop at the first
    number that is not lower than this. out: uint32, room for the part of the list that is read (at
    most its document frequency; a longer list is damaged).
    """
    count = 0
    value = numba.int64(0)
    at = begin
    while at < end:
        value, at = read_number(data, at, end, value, blocks, count == 0)
        if value < 0:
            return -1
        if value >= below:
            break
        if count >= out.size:
            return -1
        out[count] = value
        count += 1
    return count


@kernel(I64, BYTES, I64, I64, I64, U32S_OUT, I64)
def intersect_encoded(
    data: np.ndarray, begin: int, end: int, blocks: int, kept: np.ndarray, size: int
) -> int:
    """Intersect kept[:size] with the list data[begin:end] in place; return the new size, or -1.

    data: uint8. kept: uint32, strictly ascending. A long list and a short `kept` have few numbers
    in common: 64 one-byte steps that all lead to numbers below the next one in `kept` are skipped
    by one sum.
    """
    value = numba.int64(0)
    at = begin
    i = 0
    out = 0
    first = True
    slow = begin + 1  # the first step may be zero
    while at < end and i < size:
        if at >= slow and at + simd.WIDTH <= end:
            ahead = value + simd.total(data, at)
            if (
                ahead < kept[i]
                and simd.not_ascii(data, at) == 0
                and simd.equal(data, at, _ZERO) == 0
            ):
                value = ahead
                at += simd.WIDTH
                continue
            # Otherwise decode byte by byte, which also distinguishes damage from a long step.
            slow = at + simd.WIDTH
        value, at = read_number(data, at, end, value, blocks, first)
        if value < 0:
            return -1
        first = False
        while i < size and kept[i] < value:
            i += 1
        if i < size and kept[i] == value:
            kept[out] = value
            out += 1
            i += 1
    return out


@kernel(I64, U32S, I64, U32S, I64, U32S_OUT)
def intersect(left: np.ndarray, m: int, right: np.ndarray, n: int, out: np.ndarray) -> int:
    """Write the numbers in both left[:m] and right[:n] to `out`, which may be `left`.

    Returns how many there are.
    """
    i = j = count = 0
    while i < m and j < n:
        if left[i] < right[j]:
            i += 1
        elif left[i] > right[j]:
            j += 1
        else:
            out[count] = left[i]
            count += 1
            i += 1
            j += 1
    return count


@kernel(I64, U32S, U32S, U32S, U64S, I64, U32S_OUT, U64S_OUT)
def measure_join(
    slots: np.ndarray,
    firsts: np.ndarray,
    lasts: np.ndarray,
    offsets: np.ndarray,
    base: int,
    previous: np.ndarray,
    sizes: np.ndarray,
) -> int:
    """Add the sizes of one batch's lists to the sizes of the joined lists.

    slots: uint32, the joined list of each of the batch's lists. firsts, lasts: uint32, offsets:
    uint64, as `invert.encode_lists` fills them; the batch's block 0 is block `base`. previous:
    uint32, the last block of each joined list so far plus one (0: none yet). sizes: uint64, the
    bytes of each joined list. Batches must come in order. Returns the number of lists added.
    """
    for k in range(slots.size):
        slot = slots[k]
        step = numba.int64(firsts[k]) + base
        if previous[slot] != 0:
            step -= numba.int64(previous[slot]) - 1
        length = 1
        while step >= 128:
            step >>= 7
            length += 1
        sizes[slot] += numba.uint64(length) + (offsets[k + 1] - offsets[k])
        previous[slot] = numba.int64(lasts[k]) + base + 1
    return slots.size


@kernel(I64, U32S, U32S, U32S, U64S, BYTES, I64, I64, I64, U32S_OUT, U64S_OUT, I64, BYTES_OUT)
def join(
    slots: np.ndarray,
    firsts: np.ndarray,
    lasts: np.ndarray,
    offsets: np.ndarray,
    data: np.ndarray,
    base: int,
    begin: int,
    end: int,
    previous: np.ndarray,
    position: np.ndarray,
    origin: int,
    out: np.ndarray,
) -> int:
    """Append one batch's lists begin..end-1 to the joined lists.

    Arguments as for `measure_join`, and: data: uint8, the batch's bytes. position: uint64, the
    offset in the postings of each joined list's next byte. out: uint8, the stretch of the postings
    that begins at `origin`. Returns the number of lists copied.
    """
    for k in range(begin, end):
        slot = slots[k]
        step = numba.int64(firsts[k]) + base
        if previous[slot] != 0:
            step -= numba.int64(previous[slot]) - 1
        at = numba.int64(position[slot]) - origin
        at = write_step(out, at, step)
        for i in range(numba.int64(offsets[k]), numba.int64(offsets[k + 1])):
            out[at] = data[i]
            at += 1
        previous[slot] = numba.int64(lasts[k]) + base + 1
        position[slot] = at + origin
    return end - begin


@kernel(I64, BYTES, U64S, U32S, I64, I64S_OUT)
def check(
    data: np.ndarray, offsets: np.ndarray, frequency: np.ndarray, blocks: int, where: np.ndarray
) -> int:
    """Validate all lists; return 0 if all are sound, else 1, with where[0] the first damaged list.

    data: uint8. offsets: uint64[n + 1]. frequency: uint32[n]. where: int64[1].
    """
    for k in range(frequency.size):
        value = numba.int64(0)
        at = numba.int64(offsets[k])
        end = numba.int64(offsets[k + 1])
        count = 0
        good = at <= end and end <= data.size
        while good and at < end:
            value, at = read_number(data, at, end, value, blocks, count == 0)
            good = value >= 0
            count += 1
        if not good or count != frequency[k]:
            where[0] = k
            return 1
    return 0
