"""Run an automaton over lines.

After a byte the state is `table[offsets[byte] + state]` (see `Dfa`). States 0 and 1 are final
verdicts (the line matches; the line has a byte beyond ASCII, so another engine must decide). State
2 waits for the end of a decided line.

A step costs the latency of one load, five cycles, in which the machine could do four such loads.
So four stretches of lines (lanes), a few KiB apart, are processed together: on 40 MB of Linux's
drivers, four lanes were 2.5 to 3 times as fast as one. Indices are unsigned: signed ones would be
checked for being negative at every byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from triseek.kernels.jit import (
    BYTES,
    DFA,
    I64,
    LINE_HITS_OUT,
    U32S,
    U32S_OUT,
    U64,
    U64S_OUT,
    inlined,
    kernel,
)
from triseek.kernels.libc import memchr_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.kernels.formats import Dfa, LineHits

    Bytes = np.ndarray
    Column = np.ndarray

# Casts for numba, which must know that an integer is unsigned; for mypy they are plain integers.
i64 = cast("Callable[[int], int]", np.int64)
u32 = cast("Callable[[int], int]", np.uint32)
u64 = cast("Callable[[int], int]", np.uint64)

MATCHED = 1
"""Verdict on a line: it matches."""
UNCERTAIN = 2
"""Verdict on a line: it holds bytes beyond ASCII and nothing before them matches."""

LANE_MIN = u64(256)
"""The fewest bytes in a lane; with less, four lanes are not worth setting up."""
LANE_MAX = u64(8192)
"""The most bytes in a lane; four lanes, with their hits, fit in the second-level cache."""

_MATCH = u64(0)
_VERDICTS = u64(2)  # states below are verdicts
_SKIP = u64(2)
_ZERO = u64(0)
_ONE = u64(1)
_LANES = u64(4)
_NEWLINE = u64(10)


@kernel(U64, BYTES, U64, U64)
def _line_after(text: Bytes, at: int, end: int) -> int:
    """Return the start of the line after the one that contains text[at], or `end`."""
    newline = u64(memchr_index(text, _NEWLINE, i64(at), i64(end)))
    return min(newline + _ONE, end)


@kernel(U64, BYTES, U64, U64, U64, U64, LINE_HITS_OUT, I64)
def _write_line(
    text: Bytes,
    floor: int,
    at: int,
    end: int,
    state: int,
    out: LineHits,
    count: int,
) -> int:
    """Write the line that contains text[at - 1], which begins at `floor` or after a newline.

    Returns the start of the next line.
    """
    begin = at - _ONE
    while begin > floor and text[begin - _ONE] != _NEWLINE:
        begin -= _ONE
    after = _line_after(text, at - _ONE, end)
    out.begin[count], out.end[count] = begin, after
    out.verdict[count] = MATCHED if state == _MATCH else UNCERTAIN
    return after


@kernel(I64, BYTES, U64, U64, I64, U64S_OUT)
def _plan(text: Bytes, at: int, end: int, room: int, bounds: Column) -> int:
    """Choose four lanes of about the same length, or one if lines are too long; return how many.

    bounds: uint64[5], out: the start of each lane, which is a line start, and the end of the last.
    If `room`, the rows left in the output, is small, lanes are short, because lines that do not fit
    are processed again.
    """
    bounds[0] = at
    size = min(LANE_MAX, (end - at) // _LANES, u64(room) * LANE_MIN)
    if size < LANE_MIN:
        bounds[1] = end
        return 1
    even = True
    for lane in range(1, 5):
        bounds[lane] = _line_after(text, at + u64(lane) * size - _ONE, end)
        even = even and bounds[lane] - bounds[lane - 1] > size // u64(2)
        even = even and bounds[lane] - bounds[lane - 1] < size + size // u64(2)
    if even:
        return 4
    bounds[1] = bounds[4]
    return 1


@inlined
def _decided(
    text: Bytes, at: int, state: int, start: int, hits: Column, count: int, origin: int
) -> tuple[int, int]:
    """Write a hit if `state`, after the byte before `at`, is a verdict.

    Returns the next state of the lane, and its number of hits.
    """
    if state >= _VERDICTS:
        return state, count
    hits[count] = u32(((at - origin) << _ONE) | state)
    return (start if text[at - _ONE] == _NEWLINE else _SKIP), count + _ONE


@kernel(I64, BYTES, U64S_OUT, U64, DFA, U64S_OUT, U64S_OUT, U32S_OUT)
def _walk_lanes(
    text: Bytes,
    bounds: Column,
    length: int,
    dfa: Dfa,
    states: Column,
    counts: Column,
    hits: Column,
) -> int:
    """Run the automaton over four lanes, `length` bytes each; return 0.

    bounds: the starts of the lanes. states, counts: uint64[4], out: the final state of each lane
    and its number of hits. hits: uint32[4 * length or more], out: `length` slots for each lane, at
    most one hit per line: the end of the byte that decided, relative to `bounds[0]`, times two,
    plus one if the line is uncertain.
    """
    offsets, table, start = dfa.offsets, dfa.table, u64(dfa.start)
    a, b, c, d = bounds[0], bounds[1], bounds[2], bounds[3]
    s = t = u = v = start
    n_a, n_b, n_c, n_d = _ZERO, length, length + length, length + length + length
    at = _ZERO
    while at < length:
        s = u64(table[u64(offsets[text[a + at]]) + s])
        t = u64(table[u64(offsets[text[b + at]]) + t])
        u = u64(table[u64(offsets[text[c + at]]) + u])
        v = u64(table[u64(offsets[text[d + at]]) + v])
        at += _ONE
        if min(s, t, u, v) < _VERDICTS:
            s, n_a = _decided(text, a + at, s, start, hits, n_a, a)
            t, n_b = _decided(text, b + at, t, start, hits, n_b, a)
            u, n_c = _decided(text, c + at, u, start, hits, n_c, a)
            v, n_d = _decided(text, d + at, v, start, hits, n_d, a)
    states[0], states[1], states[2], states[3] = s, t, u, v
    counts[0], counts[1] = n_a, n_b - length
    counts[2], counts[3] = n_c - length - length, n_d - length - length - length
    return 0


@kernel(I64, BYTES, U64, U64, U64, U32S, U64, U64, LINE_HITS_OUT, I64)
def _write_hits(
    text: Bytes,
    origin: int,
    floor: int,
    end: int,
    hits: Column,
    first: int,
    number: int,
    out: LineHits,
    count: int,
) -> int:
    """Write the lines of a lane's hits after the first `count` rows; return the new count."""
    floor = u64(floor)
    for index in range(first, first + number):
        if count == out.begin.size:
            break
        hit = u64(hits[u64(index)])
        at = origin + (hit >> _ONE)
        floor = _write_line(text, floor, at, end, hit & _ONE, out, count)
        count += 1
    return count


@kernel(I64, BYTES, U64, U64, U64, U64, DFA, LINE_HITS_OUT, I64)
def _walk_on(
    text: Bytes,
    floor: int,
    begin: int,
    end: int,
    state: int,
    dfa: Dfa,
    out: LineHits,
    count: int,
) -> int:
    """Run the automaton over the rest of one lane and write its lines; return the new count."""
    offsets, table = dfa.offsets, dfa.table
    at = u64(begin)
    floor = u64(floor)
    now = u64(state)
    while at < end and count < out.begin.size:
        now = u64(table[u64(offsets[text[at]]) + now])
        at += _ONE
        if now < _VERDICTS:
            at = _write_line(text, floor, at, end, now, out, count)
            floor = at
            count += 1
            now = u64(dfa.start)
    if (
        count < out.begin.size
        and at > floor
        and text[at - _ONE] != _NEWLINE
        and dfa.eol_accept[now]
    ):
        _write_line(text, floor, at, end, _MATCH, out, count)
        count += 1
    return count


@kernel(
    I64, BYTES, I64, I64, DFA, LINE_HITS_OUT, U64S_OUT,
    allocates=True,
)  # fmt: skip
def match_lines(
    text: Bytes,
    begin: int,
    end: int,
    dfa: Dfa,
    out: LineHits,
    cursor: Column,
) -> int:
    """Write the lines of text[begin:end] that match or may match, and return how many.

    text: uint8; `begin` is a line start. cursor: uint64[1], out: `end`, or the start of the next
    call if `out` is full.
    """
    room = out.begin.size
    stop = u64(end)
    at = u64(begin)
    first = u64(dfa.start)
    count = 0
    if first == _MATCH:  # every line matches, and is decided by its first byte
        count = _walk_on(text, at, at, stop, first, dfa, out, count)
        at = stop
    bounds = np.empty(5, np.uint64)
    states = np.empty(4, np.uint64)
    counts = np.empty(4, np.uint64)
    hits = np.empty(_LANES * min(LANE_MAX, (stop - at) // _LANES), np.uint32)
    while at < stop and count < room:
        lanes = _plan(text, at, stop, room - count, bounds)
        length = _ZERO
        states[0] = first
        counts[0] = _ZERO
        if lanes == _LANES:
            length = u64(hits.size) // _LANES
            for lane in range(4):
                length = min(length, bounds[lane + 1] - bounds[lane])
            _walk_lanes(text, bounds, length, dfa, states, counts, hits)
        for lane in range(lanes):
            count = _write_hits(
                text, at, bounds[lane], bounds[lane + 1], hits, u64(lane) * length, counts[lane],
                out, count,
            )  # fmt: skip
            count = _walk_on(
                text, bounds[lane], bounds[lane] + length, bounds[lane + 1], states[lane],
                dfa, out, count,
            )  # fmt: skip
        at = bounds[lanes]
    cursor[0] = stop if count < room else out.end[count - 1]
    return count


@kernel(I64, BYTES, I64, I64, DFA)
def line_matches(
    text: Bytes,
    begin: int,
    end: int,
    dfa: Dfa,
) -> int:
    """Return 1 if the line text[begin:end] matches, 0 if not, 2 if that is uncertain.

    text: uint8; the range is one line, with or without its newline.
    """
    stop = u64(end)
    if end > begin and text[stop - _ONE] == _NEWLINE:
        stop -= _ONE
    at = u64(begin)
    state = u64(dfa.start)
    while at < stop and state >= _VERDICTS:
        state = u64(dfa.table[u64(dfa.offsets[text[at]]) + state])
        at += _ONE
    if state < _VERDICTS:
        return MATCHED if state == _MATCH else UNCERTAIN
    return i64(dfa.eol_accept[state])
